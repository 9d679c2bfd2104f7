"""What sharing saves: one probe for several resources in turn, against a probe for each (spec 3, H3.12).

Counted on generated gate lists by the rules of `hardware.py`. The document counts the chain alone, 8,128 AND gates
instead of 11,272; the masks are gates too. Those of every shift, as it has them, cost more than sharing saves; those of
the first crossings give the same reports and cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.gates.netlist import AND, OR
from workbench.policies.probes.shared.masks import Masks
from workbench.policies.probes.shared.netlist import LOAD, MASKS, shared_netlist


class SharedCost(NamedTuple):
    """Gates of the search in the encoding `free1`; decoding is left out on both sides."""

    periods: int
    """Periods of a round: how much later a report may be than that of a probe of its own."""
    chain_gates: int
    """AND gates of the shared chain."""
    mask_gates: int
    """AND and OR gates that keep bits within their resource."""
    reduction_gates: int
    """OR gates, those that join the parts of a resource included."""
    load_gates: int
    """AND and OR gates that bring the period's states in."""
    separate_chain_gates: int
    """AND gates of a probe for each resource."""
    separate_reduction_gates: int
    """OR gates of a probe for each resource."""

    @property
    def saved(self) -> float:
        """Return the share of AND gates that sharing saves, masks left out, as the document counts."""
        return 1 - self.chain_gates / self.separate_chain_gates

    @property
    def saved_with_masks(self) -> float:
        """Return the same with the masks counted."""
        return 1 - (self.chain_gates + self.mask_gates) / self.separate_chain_gates

    @property
    def saved_in_all(self) -> float:
        """Return the share of all gates that sharing saves, those of loading and reductions counted as well."""
        shared = self.chain_gates + self.mask_gates + self.reduction_gates + self.load_gates
        return 1 - shared / (self.separate_chain_gates + self.separate_reduction_gates)


def shared_cost(period: Sequence[int], blocks: Sequence[int], width: int, masks: Masks = "every_shift") -> SharedCost:
    """Count a shared probe and the probes that it replaces.

    Parameters
    ----------
    period, blocks : sequences of int
        The period of each resource, from 0, and its blocks.
    width : int
        Blocks that the shared probe looks at.
    masks : {"every_shift", "first_crossing", "none"}
        As the lever of `SharedRun`.

    References
    ----------
    spec 3, section 4 (hardware-cost proxies), V17.

    Examples
    --------
    >>> found = shared_cost([0, 1, 1], [128, 64, 48], 128)
    >>> found.chain_gates, found.separate_chain_gates, round(100 * found.saved, 1)
    (8128, 11272, 27.9)
    >>> found.mask_gates, shared_cost([0, 1, 1], [128, 64, 48], 128, "first_crossing").mask_gates
    (4096, 64)
    """
    circuit = shared_netlist(period, blocks, width, masks).circuit
    separate = [shared_netlist([0], [size], size, "none").circuit for size in blocks]
    return SharedCost(
        max(period) + 1,
        sum(circuit.count(AND)),
        sum(circuit.count(AND, OR, part=MASKS)),
        sum(circuit.count(OR)),
        sum(circuit.count(AND, OR, part=LOAD)),
        sum(sum(one.count(AND)) for one in separate),
        sum(sum(one.count(OR)) for one in separate),
    )
