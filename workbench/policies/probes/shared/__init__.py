"""The shared probe as readable reference: packing, masks, chain, reductions, look-up, cost (spec 3, R51-R59).

Slow and literal where `SharedRun` is fast; both give the same on every state. A word of the probe is a row of booleans,
bit 0 first; bit 0 is the first block of the first resource. Written as a number a word has bit 0 at its right end, so
the direction `right` moves bits toward bit 0.
"""

from workbench.policies.probes.shared.circuit import SharedTrace, trace
from workbench.policies.probes.shared.masks import fields, mask_word, pack, shift_mask
from workbench.policies.probes.shared.netlist import SharedCost, shared_cost

__all__ = ["SharedCost", "SharedTrace", "fields", "mask_word", "pack", "shared_cost", "shift_mask", "trace"]
