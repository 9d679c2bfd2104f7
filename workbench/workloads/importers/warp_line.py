"""One line of an Accel-Sim / NVBit trace: an instruction of a warp, and the addresses of its active lanes.

After the numbers that say whose it is: PC, active mask, how many destinations and which, opcode, how many sources and
which, width in bytes; of a memory instruction then how its addresses are written, and these. Mode 0 gives every active
lane's address, mode 1 the first and the stride between active lanes, mode 2 the first and the difference of each
further one to the one before.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import InputError, shown

LANES = 32
MODES = (0, 1, 2)


class Layout(NamedTuple):
    """What the lines of a trace have besides the instruction."""

    before: int
    """Fields before the PC: where the warp is, and the line of its source code."""
    after: int
    """Fields behind all others: 1 where immediates are recorded."""


class Instruction(NamedTuple):
    """One instruction of a warp."""

    opcode: str
    """With its modifiers: LDG.E.SYS."""
    mode: int
    """How its addresses are written; -1 = it is no memory instruction."""
    addresses: list[int]
    """One for each active lane, in the order of lanes; empty where it is no memory instruction."""


def instruction(fields: list[str], layout: Layout) -> Instruction:
    """Parse the instruction of a line.

    >>> line = "0008 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f00 8"
    >>> instruction(line.split(), Layout(0, 0)).addresses == [0x7F00, 0x7F08, 0x7F10, 0x7F18]
    True
    >>> instruction("0008 ffffffff 1 R1 MOV 0 0".split(), Layout(0, 0)).mode
    -1
    >>> instruction("0008 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f00".split(), Layout(0, 0))
    Traceback (most recent call last):
    workbench.errors.InputError: must have 11 fields. It has 10.

    Raises
    ------
    InputError
        The line is cut off or is no instruction: what was expected and what stands there.
    """
    try:
        return _read(fields, layout)
    except InputError:
        raise
    except (ValueError, IndexError):
        raise InputError(_fault(fields, layout)) from None


def _read(fields: list[str], layout: Layout) -> Instruction:
    at = layout.before + 1
    mask = int(fields[at], 16)
    at += 2 + int(fields[at + 1])
    opcode = fields[at]
    at += 2 + int(fields[at + 1])
    width = int(fields[at])
    if mask >> LANES or not opcode[0].isalpha() or width < 0:
        raise ValueError
    if not width:
        _check_count(fields, at + 1 + layout.after)
        return Instruction(opcode, -1, [])
    mode = int(fields[at + 1])
    lanes = mask.bit_count()
    taken = {0: lanes, 1: 2, 2: max(lanes, 1)}[mode] if mode in MODES else -1
    if taken < 0:
        raise ValueError
    _check_count(fields, at + 2 + taken + layout.after)
    return Instruction(opcode, mode, _addresses(mode, lanes, fields[at + 2 : at + 2 + taken]))


def _addresses(mode: int, lanes: int, written: list[str]) -> list[int]:
    if mode == 0:
        return [int(address, 16) for address in written]
    address = int(written[0], 16)
    if mode == 1:
        stride = int(written[1])
        return [address + lane * stride for lane in range(lanes)]
    addresses = [address] * min(lanes, 1)
    for difference in written[1:]:
        address += int(difference)
        addresses.append(address)
    return addresses


def _check_count(fields: list[str], expected: int) -> None:
    if len(fields) != expected:
        raise InputError(f"must have {expected} fields. It has {len(fields)}.")


def _fault(fields: list[str], layout: Layout) -> str:
    """Return which field of a line is not as it must be, read slowly."""
    at = layout.before + 1
    steps: list[tuple[str, int]] = [("the PC in hex", 16), ("an active mask of 32 lanes in hex", 16)]
    for place, (what, base) in enumerate(steps, layout.before):
        if not _is_number(fields, place, base):
            return _expected(fields, place, what)
    if int(fields[at], 16) >> LANES:
        return _expected(fields, at, "an active mask of 32 lanes in hex")
    for what in ("how many destinations", "how many sources"):
        at += 1
        if not _is_number(fields, at):
            return _expected(fields, at, f"{what}, a whole number")
        at += int(fields[at])
        if what == "how many destinations":
            at += 1
            if at >= len(fields) or not fields[at][0].isalpha():
                return _expected(fields, at, "an opcode")
    at += 1
    if not _is_number(fields, at):
        return _expected(fields, at, "the width in bytes")
    if not _is_number(fields, at + 1) or int(fields[at + 1]) not in MODES:
        return _expected(fields, at + 1, "an address encoding 0, 1 or 2")
    rest = shown(" ".join(fields[at + 2 :]))
    return f"expected addresses in hex and whole differences from field {at + 3} on. Got {rest}."


def _is_number(fields: list[str], place: int, base: int = 10) -> bool:
    try:
        return int(fields[place], base) >= 0
    except (ValueError, IndexError):
        return False


def _expected(fields: list[str], place: int, what: str) -> str:
    got = shown(fields[place]) if place < len(fields) else "the end of the line"
    return f"expected {what} in field {place + 1}. Got {got}."
