"""Policies that live in a user's own file: `my_fit.py:MyFit`."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from workbench.errors import InputError, at, unknown_name
from workbench.policies.policy import Policy


def is_in_file(name: str) -> bool:
    """Whether a policy's name in a sweep means a class in a file.

    >>> is_in_file("my_fit.py:MyFit"), is_in_file("best_fit")
    (True, False)
    """
    return ".py:" in name


def policy_in_file(name: str, folder: Path, where: str) -> type[Policy]:
    """The class that `FILE.py:CLASS` names; a relative path is looked for in a folder, then where the command runs.

    Raises
    ------
    InputError
        There is no such file or class, the file does not run, or the class is not a policy.
    """
    file, _, cls = name.partition(":")
    path = next((p for p in (folder / file, Path(file)) if p.is_file()), None)
    if path is None:
        raise InputError(at(where, f"the policy file {file} does not exist (looked in {folder or '.'})."))
    module = _module(path.resolve(), where)
    found = {n: v for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Policy) and v.question}
    if cls not in found:
        own = {n for n, v in found.items() if v.__module__ == module.__name__}
        raise unknown_name(where, f"policy class in {file}", cls, own)
    return found[cls]


class _AsWritten(SourceFileLoader):
    """Reads the source every time: bytecode would lie in a user's folder, and outlive an edit of the same second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _module(path: Path, where: str) -> ModuleType:
    name = f"policy_file_{path.stem}_{hashlib.blake2b(str(path).encode(), digest_size=6).hexdigest()}"
    known = sys.modules.get(name)
    if known is not None and known.__dict__.get("_stamp") == path.stat().st_mtime_ns:
        return known
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsWritten(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[name]
        raise InputError(at(where, f"{path.name} does not run: {type(problem).__name__}: {problem}")) from None
    module.__dict__["_stamp"] = path.stat().st_mtime_ns
    _travel_by_value(module)
    return module


def _travel_by_value(module: ModuleType) -> None:
    """Let workers receive the class itself: they cannot import a file that is on no path."""
    try:
        import cloudpickle
    except ImportError:
        return
    cloudpickle.register_pickle_by_value(module)
