"""Policies that live in a user's own file: `my_fit.py:MyFit`."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from workbench.errors import InputError, at, unknown_name
from workbench.identity import once_a_moment
from workbench.policies.beside import files_of, module_of
from workbench.policies.policy import Policy


def is_in_file(name: str) -> bool:
    """Whether a policy's name in a sweep means a class in a file.

    >>> is_in_file("my_fit.py:MyFit"), is_in_file("best_fit")
    (True, False)
    """
    return ".py:" in name


def policy_in_file(name: str, folder: Path, where: str) -> type[Policy]:
    """The class that `FILE.py:CLASS` names; a relative path is looked for in a folder, then where the command runs.

    The file may import modules that lie beside it. When one of these files holds something else than when it was
    executed, all of them are executed again.

    Raises
    ------
    InputError
        There is no such file or class, the file does not run, or the class is not a policy.
    """
    file, _, cls = name.partition(":")
    module = _module(_path(file, folder, where), where)
    found = {n: v for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Policy) and v.question}
    if cls not in found:
        own = {n for n, v in found.items() if v.__module__ == module.__name__}
        raise unknown_name(where, f"policy class in {file}", cls, own)
    return found[cls]


def policy_files(name: str, folder: Path, where: str) -> list[Path]:
    """Return the file that `FILE.py:CLASS` names and every file that it imports from beside it; errors as above."""
    path = _path(name.partition(":")[0], folder, where)
    _module(path, where)
    return files_of(path)


def _path(file: str, folder: Path, where: str) -> Path:
    path = next((p for p in (folder / file, Path(file)) if p.is_file()), None)
    if path is None:
        raise InputError(at(where, f"the policy file {file} does not exist (looked in {folder or '.'})."))
    return path.resolve()


def _module(path: Path, where: str) -> ModuleType:
    try:
        return once_a_moment(f"policy file {path}", lambda: module_of(path))
    except (Exception, SystemExit) as problem:
        raise InputError(at(where, f"{path.name} does not run: {type(problem).__name__}: {problem}")) from None
