"""A walk through the opcodes of a pickle, before anything of it is executed, that refuses what is expensive to load.

Loading a pickle allocates what the file says. A memo entry with the number 2**32 makes a table of as many, and a length
makes a string of as much. A tuple that holds one tuple twenty times, which holds another twenty times, has a hash that
takes for ever. The walk refuses numbers, lengths and tuples that a file of its size has no use for.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import inlined, kernel, routine

SOUND, CUT_OFF, LARGE_MEMO, UNUSUAL, LARGE_TUPLE, LONG_NUMBER, EMPTY_STACK, NO_PROTOCOL = range(8)
"""What came of the walk."""
PROTOCOLS = (2, 5)
"""The oldest and the newest protocol; a pickle of an older one does not begin with its number."""
MOST_PARTS = 1000
"""Parts of a tuple, tuples within it counted with theirs."""
MOST_DIGITS = 64
"""Bytes of a whole number."""
ENDS, PLAIN, BYTES, NUMBER, TEXT, MARK, PUT, GET, DROPS, DOUBLES, MAKES, JOINS, PROTO, FRAMES, UNKNOWN = range(15)
"""The effect of an opcode: it ends the walk; it pushes a plain value, or bytes, a number or a text whose length comes
first; it marks a place. It writes to the memo or reads from it. It takes values off the stack for nothing, for a second
of the same, for one value, or for a tuple of them. It names a protocol, or says how many bytes belong together."""
TO_MARK = -1
"""Takes off all values down to the last mark."""
_OPCODES = (
    # STOP; what asks by name for something that is not in the file: GLOBAL, STACK_GLOBAL, INST, PERSID, EXT
    (ENDS, 0, (0x2E, 0x63, 0x93, 0x69, 0x50, 0x51, 0x82, 0x83, 0x84)),
    (PLAIN, 0, (0x4E, 0x88, 0x89, 0x5D, 0x7D, 0x29, 0x8F)),  # None, True, False, [], {}, (), set()
    (PLAIN, 1, (0x4B,)),  # BININT1
    (PLAIN, 2, (0x4D,)),  # BININT2
    (PLAIN, 4, (0x4A,)),  # BININT
    (PLAIN, 8, (0x47,)),  # BINFLOAT
    (BYTES, 1, (0x55, 0x43)),  # SHORT_BINSTRING, SHORT_BINBYTES
    (BYTES, 4, (0x54, 0x42)),  # BINSTRING, BINBYTES
    (BYTES, 8, (0x8E,)),  # BINBYTES8
    (NUMBER, 1, (0x8A,)),  # LONG1
    (NUMBER, 4, (0x8B,)),  # LONG4
    (TEXT, 1, (0x8C,)),  # SHORT_BINUNICODE
    (TEXT, 4, (0x58,)),  # BINUNICODE
    (TEXT, 8, (0x8D,)),  # BINUNICODE8
    (MARK, 0, (0x28,)),
    (PUT, 0, (0x94,)),  # MEMOIZE
    (PUT, 1, (0x71,)),  # BINPUT
    (PUT, 4, (0x72,)),  # LONG_BINPUT
    (GET, 1, (0x68,)),  # BINGET
    (GET, 4, (0x6A,)),  # LONG_BINGET
    (DROPS, 1, (0x61, 0x30)),  # APPEND, POP
    (DROPS, 2, (0x73,)),  # SETITEM
    (DROPS, TO_MARK, (0x65, 0x75, 0x31, 0x90)),  # APPENDS, SETITEMS, POP_MARK, ADDITEMS
    (DOUBLES, 1, (0x32,)),  # DUP
    (MAKES, TO_MARK, (0x64, 0x6C, 0x91)),  # DICT, LIST, FROZENSET
    (JOINS, 1, (0x85,)),  # TUPLE1
    (JOINS, 2, (0x86,)),  # TUPLE2
    (JOINS, 3, (0x87,)),  # TUPLE3
    (JOINS, TO_MARK, (0x74,)),  # TUPLE
    (PROTO, 1, (0x80,)),
    (FRAMES, 8, (0x95,)),
)
KINDS, WIDTHS = np.full(256, UNKNOWN), np.zeros(256, np.int64)
"""Of each opcode what it does; how many bytes its argument or the length of it has, or how many values it takes off."""
for _kind, _width, _codes in _OPCODES:
    KINDS[list(_codes)], WIDTHS[list(_codes)] = _kind, _width


def look(content: np.ndarray) -> tuple[int, int]:
    """Return the fault of a pickle of protocol 2 or later, `SOUND` = none, and its byte.

    The walk ends, soundly, at the first opcode that asks for something by name: that is refused when it is loaded.

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
    """Return the result of the walk, where it ended, and whether a text on the way holds half a character: int64[3]."""
    # int16: no value has more than `MOST_PARTS` parts. Each opcode adds one value at most, so
    # the content's length is enough.
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
        total = int((total << 8) | np.int64(content[at + k]))
    return total


@kernel
def is_half(content: np.ndarray, at: int, length: int) -> bool:
    """Return whether half a character is among the bytes of a text, as three bytes that begin with 0xED."""
    halves = 0
    for k in range(at, at + length - 1):
        halves += content[k] == 0xED and content[k + 1] >= 0xA0
    return halves > 0


@routine
def walk(content: np.ndarray, stack: np.ndarray, memo: np.ndarray, marks: np.ndarray, found: np.ndarray) -> None:
    """Walk through the opcodes; the stack holds of each value of how many parts it is."""
    # The loader executes the first two bytes too, whatever they are.
    if content.size < 2 or KINDS[content[0]] != PROTO or not PROTOCOLS[0] <= content[1] <= PROTOCOLS[1]:
        found[0] = NO_PROTOCOL
        return
    at, top, held, noted, opcodes = 2, 0, 0, 0, 0
    while at < content.size:
        code, here = content[at], at
        kind, width = KINDS[code], WIDTHS[code]
        at, opcodes = at + 1, opcodes + 1
        found[1] = here
        if kind == ENDS:
            found[0] = SOUND
            return
        if kind <= TEXT:
            plain = width
            if kind != PLAIN:
                plain = number_at(content, at, width)
                at += width
            if plain < 0 or at + plain > content.size:
                found[0] = CUT_OFF
                return
            if kind == NUMBER and plain > MOST_DIGITS:
                found[0] = LONG_NUMBER
                return
            if kind == TEXT and is_half(content, at, plain):
                found[2] = 1
            at += plain
            stack[top] = 1
            top += 1
        elif kind == MARK:
            marks[held] = top
            held += 1
        elif kind <= GET:
            place = noted
            if width > 0:
                place = number_at(content, at, width)
                at += width
            if kind == PUT and top == 0:
                found[0] = EMPTY_STACK
                return
            # Each opcode writes one entry at most, so a sound pickle has no higher number.
            if place < 0 or place > opcodes:
                found[0] = LARGE_MEMO
                return
            if kind == PUT:
                memo[place] = stack[top - 1]
                noted += 1
            else:
                # An entry that was never written holds 0. Loading fails there; the walk goes on with a value of one
                # part.
                stack[top] = memo[place] if memo[place] > 1 else 1
                top += 1
        elif kind <= JOINS:
            top, held = restacked(code, stack, marks, top, held)
            if top < 0:
                found[0] = -top
                return
        elif kind == PROTO:
            at += width
        elif kind == FRAMES:
            # The loader may allocate the length of a frame before it reads it.
            framed = number_at(content, at, width)
            at += width
            if framed < 0 or at + framed > content.size:
                found[0] = CUT_OFF
                return
        else:
            found[0] = UNUSUAL
            return
    found[0], found[1] = CUT_OFF, content.size


@inlined
def restacked(code: int, stack: np.ndarray, marks: np.ndarray, top: int, held: int) -> tuple[int, int]:
    """Return the heights of the stack and of its marks after an opcode that takes values off; below zero = refused."""
    kind, taken = KINDS[code], WIDTHS[code]
    if taken == TO_MARK and held == 0:
        return -EMPTY_STACK, held
    if taken == TO_MARK:
        held -= 1
        taken = top - marks[held]
    if taken < 0 or taken > top:
        return -EMPTY_STACK, held
    if kind == DOUBLES:
        stack[top] = stack[top - 1]
        return top + 1, held
    parts = 1
    if kind == JOINS:
        for k in range(top - taken, top):
            parts += stack[k]
            if parts > MOST_PARTS:
                return -LARGE_TUPLE, held
    top -= taken
    if kind != DROPS:
        stack[top] = parts
        top += 1
    return top, held
