"""The margins that claims are judged by, registered with a date before anything was run on the seeds that judge.

A margin is never changed: another one makes another claim, with an id of its own. A test holds this table's digest.
"""

from __future__ import annotations

from typing import NamedTuple


class Margin(NamedTuple):
    """A number that decides whether something counts as equal, as worse, as bounded."""

    value: float
    since: str
    """The date of its registration."""
    says: str


MARGINS: dict[str, Margin] = {
    "H1.5 halves": Margin(0.05, "2026-11-22", "low half over high half of grants within 1 give or take this"),
    "H1.6 ends": Margin(0.02, "2026-11-22", "share of low grants within one half give or take this"),
    "H2.8 same": Margin(0.01, "2026-11-22", "any leader within this share of the first"),
    "H3.1 first priority": Margin(0.10, "2026-11-22", "by what share the highest priority may wait longer"),
    "H3.5 p99": Margin(1.5, "2026-11-22", "a bounded 99th percentile grows less in a run four times as long"),
    "H3.5 maximum": Margin(2.0, "2026-11-22", "a bounded maximum grows less in a run four times as long"),
    "H3.5 unbounded": Margin(2.0, "2026-11-22", "an unbounded wait grows more in a run four times as long"),
    "H3.9b clock": Margin(1.10, "2026-11-22", "what counts as a higher clock: ten per cent, not one gate level in 515"),
    "H3.10 negligible": Margin(0.01, "2026-11-22", "share of dispatches that may be lost"),
    "H3.12 slower": Margin(0.01, "2026-11-22", "by what share the same queue may take longer"),
    "H4.3 local": Margin(0.01, "2026-11-22", "what the share of local hits may lose and count as not lower"),
    "H4.7 nothing": Margin(0.05, "2026-11-22", "cycles of a miss that count as nothing"),
    "H5.11b grows": Margin(1.1, "2026-11-22", "how many times as long clients of the real service wait, likewise"),
    "H5.11 grows": Margin(1.1, "2026-11-22", "how many times as long eight clients wait, if it is a bottleneck"),
    "H6.1 slices": Margin(
        0.05, "2026-11-22", "makespan of slices with large pages over that with small ones, 1 +- this"
    ),
    "H6.2 additive": Margin(0.01, "2026-11-22", "share of the makespan that two mechanisms may gain beyond the sum"),
    "H6.2 quarter": Margin(
        0.25, "2026-11-27", "what two mechanisms may gain beyond the sum, as a share of the smaller gain alone"
    ),
}


def margin(name: str) -> float:
    """Return a registered margin.

    >>> margin("H1.6 ends")
    0.02
    """
    return MARGINS[name].value
