"""What every run of the engine `translation` conserves (spec 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from tests.engines.translation_cases import DEFAULT, GivenAccesses, Row
from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation, TranslationOptions
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import read_policy
from workbench.records.translation import EVICT, FILL, INVALIDATE, OVER_TIME, PUSH, SERVED_BY, served_counts

TIGHT = {"private_entries": 4, "shared_entries": 8, "walkers": 1, "walk_queue": 1, "private_mshrs": 1}
TIGHT |= {"private_ports": 1, "link_cycles": 2, "level_cycles": 20, "network": "ring"}


def world(rows: list[Row], cores: int, machine: dict[str, Any], **options: Any) -> Setup:
    engine = Translation()
    policies = {slot: read_policy(engine.question_of(slot), name) for slot, name in DEFAULT.items()}
    read = TranslationOptions.read(options)
    return Setup("translation", TranslationMachine(cores=cores, **machine), GivenAccesses(rows), policies, read)


def swept(cores: int, pages: int, gap: int = 5) -> list[Row]:
    """All cores sweep one array twice and ask for the same page in the same cycle."""
    return [(gap * k, core, k % pages) for k in range(2 * pages) for core in range(cores)]


def skewed(cores: int) -> list[Row]:
    """Core 0 asks four times as often as each other one; every third access is to a common page."""
    turns = [core for core in range(cores) for _ in range(1 + 3 * (core == 0))]
    pages = [7 if k % 3 == 0 else 100 * turns[k % len(turns)] + k % 11 for k in range(12 * cores)]
    return [(2 * k, turns[k % len(turns)], page) for k, page in enumerate(pages)]


def unmapped(cores: int) -> list[Row]:
    """The first core unmaps the page that all cores use, again and again."""
    rows: list[Row] = [(40 * k + core, core, k % 3) for k in range(12) for core in range(cores)]
    return sorted([*rows, *((40 * k + 11, 0, k % 3, True) for k in range(0, 12, 2))])


SMALL = {"private_entries": 4, "shared_entries": 16, "level_cycles": 20}
GROUPS = {"middle_entries": 4, "middle_ports": 1, "shared_groups": "0 2 4 6 7, 1, 3 5"}
WORLDS = {
    "one core": world([(3 * k, 0, k % 9) for k in range(40)], 1, SMALL),
    "three cores sweep": world(swept(3, 6), 3, SMALL),
    "eight cores sweep, tight": world(swept(8, 6), 8, TIGHT),
    "eight cores, skewed": world(skewed(8), 8, SMALL),
    "three cores, skewed, tight": world(skewed(3), 3, TIGHT),
    "three cores, unmapped": world(unmapped(3), 3, SMALL),
    "eight cores without a shared TLB": world(skewed(8), 8, {**TIGHT, "shared_entries": 0}),
    "eight cores of which groups share": world(skewed(8), 8, {**TIGHT, **GROUPS}),
    "eight cores of which groups share, unmapped": world(unmapped(8), 8, {**TIGHT, **GROUPS}),
    "eight cores of two warps": world(swept(8, 6), 8, TIGHT, cores_issue={"warps": {"count": 2}}),
}


def asked(run: Run) -> list[int]:
    """Return the accesses of each core."""
    rows = [row for row in run.setup.workload.rows if not row[3:]]
    return [sum(core == row[1] for row in rows) for core in range(run.record.cores)]


def served(run: Run, by: str) -> int:
    return served_counts(run.record)[by]


def over_time(run: Run, *names: str) -> list[int]:
    """Return what is counted over time, all windows together."""
    totals = dict(zip(OVER_TIME, run.record.over_time.sum(axis=0).tolist(), strict=False))
    return [totals.get(name, 0) for name in names]


def has_middle(run: Run) -> bool:
    return run.record.middle_accesses is not None


def logged(run: Run, *kinds: int) -> int:
    return int(np.isin(run.record.log[:, 1], kinds).sum())


def held_at_the_end(run: Run) -> int:
    """Return the entries that private TLBs hold after a run."""
    return int(sum(int(word).bit_count() for word in run.play.state.held))


LAWS = [
    Law(
        "translations of each core",
        "spec 4, R5-R11",
        got=lambda run: run.record.served.sum(axis=1),
        due=asked,
    ),
    Law(
        "latencies counted",
        "spec 4, R11",
        got=lambda run: int(run.record.latency_counts.sum()),
        due=lambda run: sum(asked(run)),
    ),
    Law(
        "cycles of all latencies",
        "spec 4, T3",
        got=lambda run: int(run.record.latency_counts @ run.record.latency_cycles),
        due=lambda run: int(run.record.latency_sums.sum()),
    ),
    Law(
        "accesses over time, by who served them",
        "spec 4, R5-R11",
        got=lambda run: over_time(run, *SERVED_BY),
        due=lambda run: [*served_counts(run.record).values()],
    ),
    Law(
        "waits over time for links and walkers",
        "spec 4, T6, T11",
        got=lambda run: over_time(run, "noc_queue_cycles", "walk_queue_cycles"),
        due=lambda run: [run.record.noc_queue_cycles, run.record.walk_queue_cycles],
    ),
    Law(
        "requests to peers that are answered with a translation",
        "spec 4, R8, R11",
        got=lambda run: run.record.remote_requests - run.record.stale,
        due=lambda run: served(run, "peer"),
        allowed={"locate=clustered": "section 7: cores of a cluster share a TLB, and no core asks another"},
    ),
    Law(
        "requests to walkers",
        "spec 4, R10, T5",
        got=lambda run: run.record.walks + run.record.walks_joined,
        due=lambda run: served(run, "walk"),
    ),
    Law(
        "requests to the shared TLB",
        "spec 4, R9, R10",
        got=lambda run: run.record.shared_accesses,
        due=lambda run: served(run, "shared") + served(run, "walk") if run.record.shared_entries else 0,
    ),
    Law(
        "requests to middle TLBs",
        "translation-rules, M1, M3",
        got=lambda run: run.record.middle_accesses or 0,
        due=lambda run: sum(served(run, by) for by in ("middle", "shared", "walk")) if has_middle(run) else 0,
    ),
    Law(
        "entries that come into private TLBs leave them or stay",
        "spec 4, R18, R27, E15",
        got=lambda run: run.record.fills,
        due=lambda run: run.record.evictions + run.record.shot_down + held_at_the_end(run),
    ),
    Law(
        "entries in the log",
        "spec 4, R21, R28",
        got=lambda run: [logged(run, FILL, PUSH), logged(run, PUSH), logged(run, EVICT), logged(run, INVALIDATE)],
        due=lambda run: [run.record.fills, run.record.pushes, run.record.evictions, run.record.shot_down],
    ),
    Law(
        "unmappings",
        "spec 4, E15",
        got=lambda run: run.record.shootdowns,
        due=lambda run: sum(len(row) == 4 for row in run.setup.workload.rows),
    ),
]
ALONE = "R23: there is one shared TLB, whose entries nobody shares"
REFUSED = {
    "shared_eviction=protect_low_degree": ALONE,
    "shared_eviction=sharing_aware_eviction": ALONE,
    "eviction=sharing_aware_eviction.fallback=loop": "E3: the literal loop never ends, and a watchdog stops it",
}
SUITE = Suite(Translation(), WORLDS, LAWS, refused=REFUSED)
