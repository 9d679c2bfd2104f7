"""A look at every opcode of a pickle before anything of it is executed: what would it take to load it?

Loading a pickle allocates what the file says: a memo entry with the number 2**32 makes a table of as many, a length
makes a string of as much, and a tuple that holds one tuple twenty times, which holds another twenty times, has a hash
that takes for ever. The walk refuses numbers, lengths and tuples that a file of its size has no use for.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, routine

SOUND, CUT_OFF, LARGE_MEMO, UNUSUAL, LARGE_TUPLE, LONG_NUMBER, EMPTY_STACK = range(7)
"""What came of the walk."""
MOST_PARTS = 1000
"""Parts of a tuple, tuples within it counted with theirs."""
MOST_DIGITS = 64
"""Bytes of a whole number."""


def look(content: np.ndarray) -> tuple[int, int]:
    """Return what is wrong with a pickle, `SOUND` = nothing, and at which byte.

    A look ends, soundly, at the first opcode that asks for something by name: that is refused when it is loaded.

    Parameters
    ----------
    content : uint8[bytes]

    Examples
    --------
    >>> import pickle
    >>> look(np.frombuffer(pickle.dumps([1, "two", (3, 4)]), np.uint8))[0] == SOUND
    True
    >>> look(np.frombuffer(bytes.fromhex("80045d72000000102e"), np.uint8)) == (LARGE_MEMO, 3)
    True
    """
    found = _walked(content)
    return int(found[0]), int(found[1])


def holds_half_a_character(content: np.ndarray) -> bool:
    """Return whether a text of a sound pickle cannot be written in UTF-8: it holds half a character, a lone surrogate.

    Parameters
    ----------
    content : uint8[bytes]

    Examples
    --------
    >>> import pickle
    >>> whole, half, number = (pickle.dumps(it) for it in (chr(0xE9), chr(0xD800), 0xA0A0ED))
    >>> [holds_half_a_character(np.frombuffer(it, np.uint8)) for it in (whole, half, number)]
    [False, True, False]
    """
    return bool(_walked(content)[2])


def _walked(content: np.ndarray) -> np.ndarray:
    """Return what came of the walk, where it ended, and whether a text on the way holds half a character: int64[3]."""
    rooms = (np.zeros(content.size + 2, np.int16), np.zeros(content.size + 2, np.int16))
    marks, found = np.zeros(content.size + 2, np.int64), np.zeros(3, np.int64)
    walk(content, rooms[0], rooms[1], marks, found)
    return found


@kernel
def number_at(content: np.ndarray, at: int, length: int) -> int:
    """Return a little-endian number; -1 = the file ends within it, or it is above 2**62."""
    if at + length > content.size:
        return -1
    total = 0
    for k in range(length - 1, -1, -1):
        if total >= 1 << 54:
            return -1
        total = (total << 8) | int(content[at + k])
    return total


@kernel
def fixed_length(code: int) -> int:
    """Return the bytes of the argument of an opcode that pushes one plain value; -1 = it is no such opcode."""
    if code in (0x4E, 0x88, 0x89, 0x5D, 0x7D, 0x29, 0x8F):  # None, True, False, [], {}, (), set()
        return 0
    if code == 0x4B:  # BININT1
        return 1
    if code == 0x4D:  # BININT2
        return 2
    if code == 0x4A:  # BININT
        return 4
    return 8 if code == 0x47 else -1  # BINFLOAT


@kernel
def length_bytes(code: int) -> int:
    """Return how many bytes hold the length of what an opcode pushes; 0 = it is no such opcode."""
    if code in (0x8A, 0x8C, 0x55, 0x43):  # LONG1, SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
        return 1
    if code in (0x8B, 0x58, 0x54, 0x42):  # LONG4, BINUNICODE, BINSTRING, BINBYTES
        return 4
    return 8 if code in (0x8D, 0x8E) else 0  # BINUNICODE8, BINBYTES8


@kernel
def is_half(content: np.ndarray, at: int, length: int) -> bool:
    """Return whether half a character is among the bytes of a text, as three bytes that begin with 0xED."""
    halves = 0
    for k in range(at, at + length - 1):
        halves += content[k] == 0xED and content[k + 1] >= 0xA0
    return halves > 0


@kernel
def asks_by_name(code: int) -> bool:
    """Return whether an opcode asks for something that is not in the file: loading the pickle ends there."""
    return code in (0x63, 0x93, 0x69, 0x50, 0x51, 0x82, 0x83, 0x84)  # GLOBAL, STACK_GLOBAL, INST, PERSID, EXT


@routine
def walk(content: np.ndarray, stack: np.ndarray, memo: np.ndarray, marks: np.ndarray, found: np.ndarray) -> None:
    """Walk through the opcodes; the stack holds of each value of how many parts it is."""
    at, top, held, noted, opcodes = 2, 0, 0, 0, 0
    while at < content.size:
        code, here = int(content[at]), at
        at, opcodes = at + 1, opcodes + 1
        found[1] = here
        if code == 0x2E or asks_by_name(code):  # STOP
            found[0] = SOUND
            return
        plain, length_size = fixed_length(code), length_bytes(code)
        if plain >= 0 or length_size > 0:
            if length_size > 0:
                plain = number_at(content, at, length_size)
                at += length_size
            if plain < 0 or at + plain > content.size:
                found[0] = CUT_OFF
                return
            if code in (0x8A, 0x8B) and plain > MOST_DIGITS:
                found[0] = LONG_NUMBER
                return
            if code in (0x58, 0x8C, 0x8D) and is_half(content, at, plain):  # BINUNICODE, SHORT_ and BINUNICODE8
                found[2] = 1
            at += plain
            stack[top] = 1
            top += 1
        elif code == 0x28:  # MARK
            marks[held] = top
            held += 1
        elif code in (0x94, 0x71, 0x72):  # MEMOIZE, BINPUT, LONG_BINPUT
            length = (0, 1, 4)[(code == 0x71) + 2 * (code == 0x72)]
            place = number_at(content, at, length) if length else noted
            at += length
            if top == 0:
                found[0] = EMPTY_STACK
                return
            if place < 0 or place > opcodes:
                found[0] = LARGE_MEMO
                return
            memo[place] = stack[top - 1]
            noted += 1
        elif code in (0x68, 0x6A):  # BINGET, LONG_BINGET
            length = 1 if code == 0x68 else 4
            place = number_at(content, at, length)
            at += length
            if place < 0 or place > opcodes:
                found[0] = LARGE_MEMO
                return
            stack[top] = max(memo[place], 1)
            top += 1
        elif code in (0x85, 0x86, 0x87, 0x74, 0x65, 0x75, 0x30, 0x31, 0x32, 0x61, 0x73, 0x64, 0x6C, 0x90, 0x91):
            top, held = restacked(code, stack, marks, top, held)
            if top < 0:
                found[0] = -top
                return
        elif code == 0x95:  # FRAME
            at += 8
        elif code == 0x80:  # PROTO
            at += 1
        else:
            found[0] = UNUSUAL
            return
    found[0], found[1] = CUT_OFF, content.size


@kernel
def restacked(code: int, stack: np.ndarray, marks: np.ndarray, top: int, held: int) -> tuple[int, int]:
    """Return the heights of the stack and of its marks after an opcode that takes values off; below zero = refused."""
    if code == 0x32:  # DUP
        if top == 0:
            return -EMPTY_STACK, held
        stack[top] = stack[top - 1]
        return top + 1, held
    to_mark = code in (0x74, 0x65, 0x75, 0x31, 0x64, 0x6C, 0x90, 0x91)
    if to_mark and held == 0:
        return -EMPTY_STACK, held
    if to_mark:
        held -= 1
        taken = top - marks[held]
    elif code in (0x85, 0x86, 0x87):
        taken = code - 0x84
    else:
        taken = 2 if code == 0x73 else 1  # SETITEM, or APPEND and POP
    if taken < 0 or taken > top:
        return -EMPTY_STACK, held
    parts = 1
    if code in (0x74, 0x85, 0x86, 0x87):  # TUPLE, TUPLE1, TUPLE2, TUPLE3
        for k in range(top - taken, top):
            parts += stack[k]
            if parts > MOST_PARTS:
                return -LARGE_TUPLE, held
    top -= taken
    if code in (0x74, 0x85, 0x86, 0x87, 0x64, 0x6C, 0x91):
        stack[top] = parts
        top += 1
    return top, held
