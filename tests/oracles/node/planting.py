"""Plant a fault into the twin: import it anew with one line of one file changed, for as long as a block lasts."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

HERE = Path(__file__).parent
TESTS = HERE.parent
PACKAGE, PREFIX = "tests.oracles.node", "tests.oracles.test_node"


class _Edited(importlib.machinery.SourceFileLoader):
    """Compiles a file as it would read with the fault."""

    edit: tuple[Path, str, str]

    def get_code(self, fullname: str) -> CodeType:
        path, source = Path(self.path), Path(self.path).read_text()
        if path == self.edit[0]:
            assert source.count(self.edit[1]) == 1, f"{path.name} has {source.count(self.edit[1])} of: {self.edit[1]}"
            source = source.replace(*self.edit[1:])
        return compile(source, str(path), "exec")


class _Finder:
    """Finds the twin and its tests, to be imported with the fault."""

    def __init__(self, edit: tuple[Path, str, str]) -> None:
        self._edit = edit

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        if not name.startswith((PACKAGE, PREFIX)):
            return None
        last = name.removeprefix("tests.oracles.").replace(".", "/")
        file = TESTS / last / "__init__.py" if name == PACKAGE else TESTS / f"{last}.py"
        loader = _Edited(name, str(file))
        loader.edit = self._edit
        return importlib.util.spec_from_file_location(name, file, loader=loader)


def _ours() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith((PACKAGE, PREFIX))}


@contextlib.contextmanager
def planted(file: str, right: str, wrong: str) -> Iterator[None]:
    """Import the twin and its tests with a text of one file replaced; afterwards they are as they were."""
    finder, before = _Finder((HERE / file, right, wrong)), _ours()
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]
        for name in _ours():
            del sys.modules[name]
        sys.modules.update(before)


def call(test: str, *arguments: Any) -> None:
    """Call a test, as "test_node_vectors.test_v1", from a fresh import."""
    module, name = test.split(".")
    getattr(importlib.import_module(f"tests.oracles.{module}"), name)(*arguments)
