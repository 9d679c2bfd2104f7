"""Byte counter: no placement at all; the rule of gem5's LDS and of GPGPU-Sim."""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.placement.question import REFUSED, Layout, Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import count_free, next_free


class ByteCounter(Placement):
    """Grant whenever enough segments are free in total, wherever they lie; there are no addresses, so no ties.

    gem5 and GPGPU-Sim compare the amount in use plus the request with the capacity. Nothing can fragment: an upper
    bound for every contiguous placement. The answer is the lowest free segment, which only says "fits".

    References
    ----------
    gem5, `src/gpu-compute/lds_state.hh`, `canReserve` and `reserveSpace`; GPGPU-Sim,
    `src/gpgpu-sim/gpu-sim.cc`, `occupy_shader_resource_1block`.

    Examples
    --------
    >>> ByteCounter().place("0101010101010101", 8), ByteCounter().place("0101010101010101", 9)
    (1, None)
    """

    layout: ClassVar[Layout] = "scattered"
    addressed: ClassVar[bool] = False

    @staticmethod
    def answer(see: PlacementView) -> int:
        return next_free(see.free, 0) if count_free(see.free) >= see.length else REFUSED
