"""The imports of a Python file: files of its folder, and modules that are nowhere to be found."""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Imports(NamedTuple):
    """What a file imports, by where it is."""

    beside: list[Path]
    """Files in the folder of the first, those that they import in turn included."""
    elsewhere: list[str]
    """Modules that are neither in its folder nor part of Python or of an installed package."""


def imports_of(file: Path) -> Imports:
    """Find the modules that a file imports, anywhere in its text, and what these import in turn.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     policy = Path(folder, "my_fit.py")
    ...     _ = policy.write_text("import numpy\\nimport my_helper")
    ...     _ = Path(folder, "my_helper.py").write_text("import math")
    ...     [path.name for path in imports_of(policy).beside], imports_of(policy).elsewhere
    (['my_helper.py'], [])
    """
    files, names = _walked(file.resolve())
    elsewhere = {name.split(".")[0] for name in names}
    beside = [path for path in files if path != file.resolve()]
    missing = {name for name in elsewhere if not _installed(name)} - {path.stem for path in beside}
    return Imports(sorted(beside), sorted(missing))


def with_imported(file: Path) -> list[Path]:
    """Return a file and the files of its folder that it imports, also within functions, and what these import."""
    return _walked(file.resolve())[0]


def _walked(file: Path) -> tuple[list[Path], set[str]]:
    """Return a file with those of its folder that it imports, and the names that no file there has."""
    known, pending, elsewhere = {file: None}, [file], set[str]()
    while pending:
        for name in _names(pending.pop(), file.parent):
            if not (paths := _beside(file.parent, name)):
                elsewhere.add(name)
            new = [path for path in paths if path not in known]
            known.update(dict.fromkeys(new))
            pending.extend(new)
    return [*known], elsewhere


def _names(file: Path, root: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, relative ones made absolute, with what may be submodules of them."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, file, root)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names if _beside(root, f"{module}.{alias.name}"))


def _absolute(node: ast.ImportFrom, file: Path, root: Path) -> str:
    if not node.level:
        return node.module or ""
    package = file.parent.relative_to(root).parts
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _beside(root: Path, name: str) -> list[Path]:
    """Return the files that importing a dotted name runs, packages on the way included; none where it is not there."""
    parts = [part for part in name.split(".") if part]
    result = []
    for end in range(1, len(parts) + 1):
        path = root.joinpath(*parts[:end])
        file = next((one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None)
        if file is not None:
            result.append(file)
        elif not path.is_dir():
            break
    return result


def _installed(name: str) -> bool:
    """Return whether a module is part of Python or of an installed package; what cannot be found at all is none's."""
    if name in ("", "workbench", *sys.stdlib_module_names, *_packages()):
        return True
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and "site-packages" in str(spec.origin)


@functools.cache
def _packages() -> frozenset[str]:
    """Return the top modules of every installed package."""
    return frozenset(importlib.metadata.packages_distributions())
