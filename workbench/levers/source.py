"""What a user's class is made of, as one text: part of every run id, so that an edited policy is another policy."""

from __future__ import annotations

import inspect
from types import CodeType, FunctionType
from typing import Any


def source_of(cls: type) -> str:
    """The functions of a class and every function of the user's own that they call, each by its text; and its settings.

    Where no text is kept (an interactive session without history) the compiled form stands for it.
    """
    found: dict[str, FunctionType] = {}
    settings: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not _ours(base.__module__):
            for name, value in vars(base).items():
                _collect(value, found)
                if not name.startswith("_") and isinstance(value, (str, int, float, bool, tuple)):
                    settings[name] = repr(value)
    named = "".join(f"{name} = {value}\n" for name, value in sorted(settings.items()))
    return named + "\n".join(f"# {name}\n{_text(function)}" for name, function in sorted(found.items()))


def _ours(module: str | None) -> bool:
    return (module or "").split(".")[0] in ("workbench", "builtins")


def _collect(value: Any, found: dict[str, FunctionType]) -> None:
    function = inspect.unwrap(getattr(value, "py_func", getattr(value, "__func__", value)))
    if not isinstance(function, FunctionType) or _ours(function.__module__) or function.__qualname__ in found:
        return
    if (function.__module__ or "").split(".")[0] in ("numba", "numpy"):
        return
    found[function.__qualname__] = function
    for name in function.__code__.co_names:
        _collect(function.__globals__.get(name), found)


def _text(function: FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return _compiled(function.__code__)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_name, code.co_code.hex(), constants, code.co_names, code.co_varnames))
