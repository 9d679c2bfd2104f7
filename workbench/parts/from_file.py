"""Parts that live in a user's own file: `my_fit.py:MyFit`, `my_measures.py:slack`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from workbench.errors import InputError, at, unknown_name
from workbench.identity import once_a_moment
from workbench.parts.beside import files_of, module_of


def is_in_file(name: object) -> bool:
    """Return True if a name in a sweep means something in a file.

    >>> is_in_file("my_fit.py:MyFit"), is_in_file("best_fit"), is_in_file(3)
    (True, False, False)
    """
    return isinstance(name, str) and ".py:" in name


def file_and_name(name: str) -> tuple[str, str]:
    """Return the file and the name in it.

    >>> file_and_name("mine/my_fit.py:MyFit")
    ('mine/my_fit.py', 'MyFit')
    """
    file, _, inside = name.rpartition(":")
    return file, inside


def from_file(name: str, folder: Path, where: str, noun: str, is_part: Callable[[Any], bool]) -> Any:
    """Return the part that `FILE.py:NAME` names, looked for in a folder and then where the command runs.

    The file may import modules that lie beside it. When one of these files holds something else than when it was
    executed, all of them are executed again.

    Parameters
    ----------
    noun : str
        What messages call it, such as `policy`.
    is_part : callable
        Whether a value that the file holds may be named there.

    Raises
    ------
    InputError
        There is no such file or name, or the file does not run.
    """
    file, inside = file_and_name(name)
    module = module_in_file(file, folder, where, noun)
    found = {name: value for name, value in vars(module).items() if is_part(value)}
    if inside not in found:
        listed = [name for name, value in found.items() if getattr(value, "__module__", None) == module.__name__]
        raise unknown_name(where, f"{noun} in {file}", inside, listed)
    return found[inside]


def files_named(name: str, folder: Path, where: str, noun: str) -> list[Path]:
    """Return the file that `FILE.py:NAME` names and every file that it imports from beside it; errors as above."""
    path = _path(file_and_name(name)[0], folder, where, noun)
    _module(path, where)
    return files_of(path)


def module_in_file(file: str, folder: Path, where: str, noun: str) -> ModuleType:
    """Return the module of a user's file, executed where it was not or has changed since; errors as above."""
    return _module(_path(file, folder, where, noun), where)


def _path(file: str, folder: Path, where: str, noun: str) -> Path:
    path = next((p for p in (folder / file, Path(file)) if p.is_file()), None)
    if path is None:
        kind = noun.removesuffix(" class")
        raise InputError(at(where, f"the {kind} file {file} does not exist (looked in {folder or '.'})."))
    return path.resolve()


def _module(path: Path, where: str) -> ModuleType:
    try:
        return once_a_moment(f"policy file {path}", lambda: module_of(path))
    except (Exception, SystemExit) as problem:
        raise InputError(at(where, f"{path.name} does not run: {type(problem).__name__}: {problem}")) from None
