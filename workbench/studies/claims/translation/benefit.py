"""H4.1 to H4.3: fewer accesses to the shared TLB, lower latency, more hits near the core (spec 4, section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.studies.claims.cases import ALL, better, differs_by, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, compared, finite
from workbench.studies.claims.registered import margin
from workbench.studies.claims.translation.experiment import factorial
from workbench.studies.statistics import Finding, fact

LOST = margin("H4.3 local")
"""What the share of local hits may lose and still counts as not lower."""


def _gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    for about, runs, without, having in factorial(evidence):
        for measure in measures:
            yield better(runs, without, having, measure, about)


def _near_hits(evidence: Evidence) -> Iterator[Finding]:
    yield from _gains(evidence, "near_hit_rate")
    statement = f"the share of local hits falls by less than {LOST:g}"
    for about, runs, without, having in factorial(evidence):
        yield differs_by(runs, without, having, "private_hit_rate", (-LOST, ALL), statement, about)


def _break_even(evidence: Evidence) -> Iterator[Finding]:
    """Yield how long the way to a peer may be, over a shared access, before the directory costs what it saves.

    By the algebra of spec 4, section 4, of the shares that were measured: d = x (s - R - f s), and so
    R / s = 1 - f - d / (x s). Queues, which are in the measured latency, are in no term of it.
    """
    for about, runs, without, having in factorial(evidence):
        directory: Any = having.setup.policies["locate"]
        shared, look_up = having.setup.machine.shared_cycles, directory.look_up_cycles
        measures = ("remote_per_kilo", "private_hit_rate", "stale_rate")
        peers, hits, stale = (finite(runs, having, name) for name in measures)
        seeds = [seed for seed in runs.seeds if seed in peers.keys() & hits.keys() & stale.keys() and peers[seed] > 0]
        if not seeds:
            case = fact(
                f"{about}, break-even", "some way to a peer pays", False, n=0, note="no miss finds a holder named"
            )
            yield of(runs, case, "R over s at which it neither gains nor loses", "")
            continue
        named = np.array([peers[seed] / 1000 / (1 - hits[seed]) for seed in seeds])
        ratios = 1 - np.array([stale[seed] for seed in seeds]) - look_up / (named * shared)
        gained = compared(runs, without, having, "latency_mean_cycles").interval
        note = (
            f"with a shared access of {shared} cycles and a look-up of {look_up}, where {np.median(named):.3g} of the "
            f"misses find a holder named; measured: {gained} cycles gained an access"
        )
        ratio = float(np.median(ratios))
        case = fact(
            f"{about}, break-even", "some way to a peer pays", ratio > 0, estimate=ratio, n=len(seeds), note=note
        )
        yield of(runs, case, "R over s at which it neither gains nor loses", "")


BENEFIT = [
    Claim(
        "H4.1",
        "fewer accesses to the shared TLB where pages are shared",
        "¶34, ¶64 and ¶90",
        lambda e: list(_gains(e, "shared_per_kilo")),
        costs=lambda e: list(_gains(e, "noc_messages_per_kilo", "walks_per_kilo")),
    ),
    Claim(
        "H4.2",
        "lower mean and 99th percentile of the latency where pages are shared",
        "¶34 and ¶64",
        lambda e: list(_gains(e, "latency_mean_cycles", "latency_p99_cycles")),
        costs=lambda e: [*_gains(e, "private_latency_mean_cycles"), *_break_even(e)],
    ),
    Claim("H4.3", "more hits in private TLBs, and no fewer local ones", "¶90", lambda e: list(_near_hits(e))),
]
