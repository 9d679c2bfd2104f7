"""Where in shared memory does a workgroup go? (spec 1)

`AS_FOUND` is placement as it is in six open code bases: one policy each, with the levers that reproduce it exactly. A
sweep says them by name: `vary: [first_fit, byte_counter, unsorted_free_list, worst_fit, best_fit, {ring_buffer:
{when_empty: keep}}]`. What each source was read for, and what is left out of it, stands in `DEVIATIONS.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.policies.placement.allocator import Allocator
from workbench.policies.placement.fit import BestFit, ByteCounter, FirstFit, WorstFit
from workbench.policies.placement.free_list import RingBuffer, UnsortedFreeList
from workbench.policies.placement.question import Placement
from workbench.policies.policy import exported

globals().update(exported(__name__))

AS_FOUND: Mapping[str, Placement] = {
    "MGPUSim": FirstFit(),
    "gem5 LDS, GPGPU-Sim": ByteCounter(),
    "gem5 VGPR": UnsortedFreeList(),
    "MIAOW": WorstFit(tie="low"),
    "Ventus": BestFit(tie="low"),
    "Vortex": RingBuffer(at_end="fits", when_empty="keep"),
}
"""The label of each code base and its policy; Vortex as in its simulator."""
