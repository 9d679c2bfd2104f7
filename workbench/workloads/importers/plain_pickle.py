"""Pickles of plain values, read without running what they name, also while part of them is still to come.

A pickle can ask for any class or function and have it called. This one is read by an unpickler that gives out none: a
file that asks for one is refused before anything of it is called, and what it takes is bounded by its size. What is
left are dictionaries, lists and numbers.
"""

from __future__ import annotations

import io
import pickle
from typing import Any, NoReturn

import numpy as np

from workbench.errors import InputError, shown
from workbench.structures import pickle_scan

_AHEAD = 1 << 18
"""Bytes of a file that are read at a time."""
_WRONG = {
    pickle_scan.CUT_OFF: "it is cut off",
    pickle_scan.LARGE_MEMO: "it numbers values higher than it has any",
    pickle_scan.UNUSUAL: "it holds an opcode that plain values do not need",
    pickle_scan.LARGE_TUPLE: f"it holds a tuple of more than {pickle_scan.MOST_PARTS:,} parts",
    pickle_scan.LONG_NUMBER: f"it holds a number of more than {pickle_scan.MOST_DIGITS} bytes",
    pickle_scan.EMPTY_STACK: "it takes what is not there",
    pickle_scan.NO_PROTOCOL: "it does not begin with a protocol from 2 to 5",
}


class _PlainUnpickler(pickle.Unpickler):
    """Gives out no class and no function, and follows no persistent id."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _Asks(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _Asks("a persistent object")


class _Asks(Exception):
    """What a pickle asked for."""


class _WithStandIn(_PlainUnpickler):
    """Gives out one object of this process, once, where a list stood in the file."""

    def __init__(self, file: io.BufferedReader, stand_in: Any) -> None:
        super().__init__(file)
        self._left = [stand_in]

    def persistent_load(self, pid: Any) -> Any:
        return self._left.pop()  # a second time is an IndexError: the file asks for something itself


_STANDS_IN = b"NQ"
"""Opcodes that push nothing, and then what `persistent_load` says of it."""


_FRAME, _FRAMED = 0x95, 4
"""The opcode that says how many bytes belong together, and the first protocol that has it."""


class _OneReplaced(io.RawIOBase):
    """The bytes of a pickle with the opcode at one place replaced, without a copy of them; its frame is made longer."""

    def __init__(self, content: bytes, at: int) -> None:
        view, frame = memoryview(content), _frame_of(content, at)
        before = [view[:at]]
        if frame is not None:
            start, length = frame
            longer = bytes([_FRAME]) + (length + len(_STANDS_IN) - 1).to_bytes(8, "little")
            before = [view[:start], memoryview(longer), view[start + len(longer) : at]]
        self._ahead = [*before, memoryview(_STANDS_IN), view[at + 1 :]]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._ahead and not self._ahead[0]:
            del self._ahead[0]
        if not self._ahead:
            return 0
        piece = self._ahead[0][: len(buffer)]
        buffer[: len(piece)] = piece
        self._ahead[0] = self._ahead[0][len(piece) :]
        return len(piece)


def _frame_of(content: bytes, at: int) -> tuple[int, int] | None:
    """Return the start of the frame around a place, and its length; None = the protocol has no frames.

    Raises
    ------
    ValueError
        The place is in none of the frames that follow one another from the beginning.
    """
    if content[1] < _FRAMED:
        return None
    start = 2
    while content[start] == _FRAME:
        length = int.from_bytes(content[start + 1 : start + 9], "little")
        if at < start + 9 + length:
            return start, length
        start += 9 + length
    raise ValueError


def values_with(content: bytes, at: int, stand_in: Any) -> Any:
    """Return the plain values of a pickle, an object of this process in the place of the list that begins at a byte.

    What the file puts into that list goes to the object's `extend`, piece by piece: whole it is never in memory.

    Raises
    ------
    Exception
        Whatever goes wrong, also that no list begins there; `plain_values` has the sentence for it.

    Examples
    --------
    >>> content, pieces = pickle.dumps({"a": [1, 2], "b": 3}), []
    >>> values_with(content, content.index(b"]"), pieces), pieces
    ({'a': [1, 2], 'b': 3}, [1, 2])
    """
    if pickle_scan.look(np.frombuffer(content, np.uint8))[0] != pickle_scan.SOUND:
        raise ValueError
    return _WithStandIn(io.BufferedReader(_OneReplaced(content, at), _AHEAD), stand_in).load()


def holds_half(content: bytes) -> bool:
    """Return whether a text of a sound pickle holds half a character; numbers may look the same, and are none."""
    return b"\xed" in content and pickle_scan.holds_half_a_character(np.frombuffer(content, np.uint8))


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
    wrong, at = pickle_scan.look(np.frombuffer(content, np.uint8))
    if wrong != pickle_scan.SOUND:
        raise InputError(f"{where}: is no whole pickle (byte {at:,}: {_WRONG[wrong]}).")
    try:
        values = _PlainUnpickler(io.BytesIO(content)).load()
    except _Asks as name:
        raise InputError(
            f"{where}: asks for {shown(str(name))}, and a memory snapshot needs no class; it was refused and nothing "
            "in it was executed."
        ) from None
    except MemoryError:
        raise
    except Exception as problem:  # what the unpickler raises at damaged bytes is not documented
        raise InputError(f"{where}: is no whole pickle ({type(problem).__name__}).") from None
    if holds_half(content):
        raise InputError(f"{where}: holds a text with half a character (a lone surrogate); the file is damaged.")
    return values
