"""What a synthesiser makes of circuits, as cases of counted claims; the figures come with the package."""

from __future__ import annotations

from typing import Any

from workbench.circuits import circuit_of
from workbench.circuits.synthesis import Counts, shipped, synthesised
from workbench.studies.statistics import Finding, fact

FLIP_FLOP_DELAY = 3.0
"""What a register takes of a cycle, in FO4 (clock to output and set-up): a modelling assumption."""


def counts(policy: Any, size: Any) -> Counts:
    """Return the figures of a policy's circuit, synthesised: those that come with the package, whichever synthesiser is
    installed, so that a verdict is one and the same everywhere and at once; a shared probe of 128 blocks takes minutes.

    Raises
    ------
    WorkbenchError
        They do not come with the package, and no synthesiser is installed.
    """
    circuit = circuit_of(policy, size)
    return shipped(circuit, None) or synthesised(circuit)


def area(*circuits: tuple[Any, Any]) -> float:
    """Return the area of several circuits in NAND gates of two inputs, given a policy and a size each.

    >>> from workbench.policies.probes import GroupedRun
    >>> area((GroupedRun(groups=4), 16), (GroupedRun(groups=8), 16))
    120.5
    """
    return sum(counts(policy, size).relative_area for policy, size in circuits)


def cycle(policy: Any, size: Any) -> float:
    """Return the shortest cycle of a circuit between registers, in FO4."""
    return counts(policy, size).relative_delay + FLIP_FLOP_DELAY


def smaller(case: str, one: float, other: float, note: str) -> Finding:
    """Return the case that one area is smaller than another; the estimate is the share that is saved."""
    finding = fact(case, "smaller as synthesised", one < other, estimate=1 - one / other, note=note)
    return finding._replace(measure="area saved", unit="share of the other's")
