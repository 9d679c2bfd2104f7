"""XLA's `kernel_details`: how a kernel was launched, as one line of `key:value` pairs.

On NVIDIA it has registers, static and dynamic shared memory, grid in thread blocks and block; on AMD `group_mem`, the
LDS of a workgroup, and the grid in workgroups too. Older versions of XLA wrote NVIDIA's line for AMD's cards, where
registers and shared memory are then whatever stood in memory (`regs:2191500840`): such values are left out and counted.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import InputError, shown

MOST_REGISTERS = 512
"""Of a thread: 255 on NVIDIA, 512 with accumulation registers on AMD."""
_MOST_DIGITS = 18


class KernelDetails(NamedTuple):
    """How a kernel was launched; None is not told."""

    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    shared_bytes: int | None
    registers: int | None
    implausible: bool
    """Whether registers and shared memory were told and cannot be true."""

    @property
    def workgroups(self) -> int | None:
        """Return the workgroups of the grid."""
        return self.grid and self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int | None:
        """Return the threads of a workgroup."""
        return self.block and self.block[0] * self.block[1] * self.block[2]


def kernel_details(line: str, where: str) -> KernelDetails:
    """Return what a line tells.

    Raises
    ------
    InputError
        A value is no whole number, or grid or block are no three of them.

    Examples
    --------
    >>> kernel_details("regs:32 static_shared:1024 dynamic_shared:512 grid:16,2,1 block:128,1,1 occ_pct:50", "t")[:4]
    ((16, 2, 1), (128, 1, 1), 1536, 32)
    >>> kernel_details(" grid:6240,1,1 block:256,1,1 private_mem:0 group_mem:2112 occ_pct:0", "t").shared_bytes
    2112
    """
    reply = dict(part.partition(":")[::2] for part in line.split())
    registers = _whole(reply, "regs", where)
    shared = _shared(reply, where)
    implausible = registers is not None and registers > MOST_REGISTERS
    return KernelDetails(
        grid=_triple(reply, "grid", where),
        block=_triple(reply, "block", where),
        shared_bytes=None if implausible else shared,
        registers=None if implausible else registers,
        implausible=implausible,
    )


def _shared(told: dict[str, str], where: str) -> int | None:
    """Return the shared memory of a workgroup: AMD's, NVIDIA's static and dynamic together, or as XLA of 2021 did."""
    for whole in ("group_mem", "shared"):
        if whole in told:
            return _whole(told, whole, where)
    static, dynamic = _whole(told, "static_shared", where), _whole(told, "dynamic_shared", where)
    return None if static is None or dynamic is None else static + dynamic


def _whole(told: dict[str, str], key: str, where: str) -> int | None:
    return _number(told[key], key, where) if key in told else None


def _triple(told: dict[str, str], key: str, where: str) -> tuple[int, int, int] | None:
    if key not in told:
        return None
    parts = told[key].split(",")
    if len(parts) != 3:
        raise InputError(f"{where}: {key} of kernel_details must be three whole numbers. Got {shown(told[key])}.")
    x, y, z = (_number(part, key, where) for part in parts)
    return x, y, z


def _number(text: str, key: str, where: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise InputError(f"{where}: {key} of kernel_details must be a whole number. Got {shown(text)}.")
    return int(text)
