"""The source document's circuit as readable reference: masks, window tests, leading-one searches, comparator, cost.

Slow and literal where `workbench.structures.bitmaps` is fast; both give the same on every state (spec 1, R15).
"""

from workbench.policies.placement.circuit.cost import CircuitCost, cost
from workbench.policies.placement.circuit.masks import release_mask, size_mask, window_masks
from workbench.policies.placement.circuit.trace import CircuitTrace, trace

__all__ = ["CircuitCost", "CircuitTrace", "cost", "release_mask", "size_mask", "trace", "window_masks"]
