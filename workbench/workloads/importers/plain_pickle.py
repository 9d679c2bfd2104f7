"""Plain values out of a pickle, whoever wrote it: nothing of it is called, and what it takes is bounded by its size."""

from __future__ import annotations

import io
import pickle
import re
from typing import Any, NoReturn

import numpy as np

from workbench.errors import InputError, shown
from workbench.structures import pickle_walk

_PERHAPS_HALF = re.compile(rb"\xed[\xa0-\xbf]|\\u[dD][89a-fA-F]")
"""How half a character is written in a pickle; numbers may hold the same bytes."""
_HALF = re.compile("[\ud800-\udfff]")
_WRONG = {
    pickle_walk.CUT_OFF: "it is cut off",
    pickle_walk.LARGE_MEMO: "it numbers values higher than it has any",
    pickle_walk.UNUSUAL: "it holds an opcode that plain values do not need",
    pickle_walk.LARGE_TUPLE: f"it holds a tuple of more than {pickle_walk.MOST_PARTS:,} parts",
    pickle_walk.LONG_NUMBER: f"it holds a number of more than {pickle_walk.MOST_DIGITS} bytes",
    pickle_walk.EMPTY_STACK: "it takes what is not there",
}


class _PlainUnpickler(pickle.Unpickler):
    """Gives out no class and no function, and follows no persistent id."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _Asks(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _Asks("a persistent object")


class _Asks(Exception):
    """What a pickle asked for."""


def plain_values(content: bytes, where: str) -> Any:
    """Return the plain values of a pickle.

    Raises
    ------
    InputError
        It asks for anything that is not plain, and then nothing of it was called; it would take memory out of all
        proportion to its size; or it is cut off or damaged.

    Examples
    --------
    >>> plain_values(pickle.dumps({"size": 512}), "it")
    {'size': 512}
    >>> plain_values(bytes.fromhex("80045d72000000102e"), "nine.pickle")
    Traceback (most recent call last):
    workbench.errors.InputError: nine.pickle: is no whole pickle (byte 3: it numbers values higher than it has any).
    """
    wrong, at = pickle_walk.look(np.frombuffer(content, np.uint8))
    if wrong != pickle_walk.SOUND:
        raise InputError(f"{where}: is no whole pickle (byte {at:,}: {_WRONG[wrong]}).")
    try:
        values = _PlainUnpickler(io.BytesIO(content)).load()
    except _Asks as asked:
        raise InputError(
            f"{where}: asks for {shown(str(asked))}, and a memory snapshot needs no class; it was refused and nothing "
            "in it was executed."
        ) from None
    except MemoryError:
        raise
    except Exception as problem:  # what the unpickler raises at damaged bytes is not documented
        raise InputError(f"{where}: is no whole pickle ({type(problem).__name__}).") from None
    if _PERHAPS_HALF.search(content) and _holds_half_a_character(values):
        raise InputError(f"{where}: holds a text with half a character (a lone surrogate); the file is damaged.")
    return values


def _holds_half_a_character(values: Any) -> bool:
    """Return whether a text in plain values cannot be written in UTF-8."""
    ahead, seen = [values], set[int]()
    while ahead:
        value = ahead.pop()
        if isinstance(value, str) and not value.isascii() and _HALF.search(value):
            return True
        if isinstance(value, (dict, list, tuple)) and id(value) not in seen:
            seen.add(id(value))
            ahead.extend([*value, *value.values()] if isinstance(value, dict) else value)
    return False
