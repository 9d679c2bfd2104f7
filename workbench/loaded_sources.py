"""What the user's modules held when this process imported them, so that a later edit on disk is seen.

A kernel lives on: a module that was edited and not reloaded computes with what it was. Modules are noted from the
moment at which the workbench is imported; those that were there already are noted as they are then.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

_NOT_THE_USERS = (os.path.dirname(os.path.abspath(__file__)) + os.sep, os.path.dirname(os.__file__) + os.sep)
_INSTALLED = f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"

_sources: dict[str, tuple[str, bytes]] = {}
"""By the name of a user's module: its file, and what this held when it was executed."""


def watch(within: Callable[[str], AbstractContextManager[Any]]) -> None:
    """Note from now on what each of the user's modules holds as it is imported, and what there is already.

    Parameters
    ----------
    within : callable
        Gives a context that each of them is imported within, by its name.
    """
    if SourceFileLoader.exec_module is not _original:
        return
    for name, module in list(sys.modules.items()):
        if name != "__main__" and isinstance(file := getattr(module, "__file__", None), str):
            _note(name, file)

    def exec_module(self: SourceFileLoader, module: ModuleType) -> None:
        if not _note(module.__name__, self.path):
            return _original(self, module)
        with within(module.__name__):
            return _original(self, module)

    # named as a part of Python's own import, which leaves its frames out of the traceback of a module that raises
    exec_module.__code__ = exec_module.__code__.replace(co_filename=_original.__code__.co_filename)
    functools.update_wrapper(exec_module, _original)
    SourceFileLoader.exec_module = exec_module  # type: ignore[method-assign,assignment]


_original = SourceFileLoader.exec_module


def _note(name: str, file: str) -> bool:
    """Note what a module's file holds, if it is the user's."""
    if not file.endswith(".py") or file.startswith(_NOT_THE_USERS) or any(part in file for part in _INSTALLED):
        return False
    with suppress(OSError), open(file, "rb") as source:
        _sources[name] = os.path.abspath(file), source.read()
    return True


def edited(name: str) -> str:
    """Return the file of a module that says something else now than when it was executed; empty where none does.

    Comments and blanks say nothing. Of a module that is not known, or whose file has gone, nothing is said.
    """
    file, before = _sources.get(name, ("", b""))
    if not file:
        return ""
    try:
        with open(file, "rb") as source:
            now = source.read()
    except OSError:
        return ""  # it has gone: there is nothing else that the user could mean
    return "" if now == before or _meaning(now) == _meaning(before) else file


def _meaning(source: bytes) -> str:
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError):
        return repr(source)
