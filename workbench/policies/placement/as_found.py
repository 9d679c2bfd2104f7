"""Placement as it is in six open code bases: one policy each, with the levers that reproduce it exactly.

A sweep says them by name: `vary: [first_fit, byte_counter, unsorted_free_list, worst_fit, best_fit, {ring_buffer:
{when_empty: keep}}]`. What each source was read for, and what is left out of it, stands in `DEVIATIONS.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.policies.placement.best_fit import BestFit
from workbench.policies.placement.byte_counter import ByteCounter
from workbench.policies.placement.first_fit import FirstFit
from workbench.policies.placement.question import Placement
from workbench.policies.placement.ring_buffer import RingBuffer
from workbench.policies.placement.unsorted_free_list import UnsortedFreeList
from workbench.policies.placement.worst_fit import WorstFit

AS_FOUND: Mapping[str, Placement] = {
    "MGPUSim": FirstFit(),
    "gem5 LDS, GPGPU-Sim": ByteCounter(),
    "gem5 VGPR": UnsortedFreeList(),
    "MIAOW": WorstFit(tie="low"),
    "Ventus": BestFit(tie="low"),
    "Vortex": RingBuffer(at_end="fits", when_empty="keep"),
}
"""The label of each code base and its policy; Vortex as in its simulator."""
