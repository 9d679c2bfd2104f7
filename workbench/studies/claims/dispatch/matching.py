"""H3.1 to H3.3: matching every channel against one report, and the marks that keep equal channels even (Em. 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.studies.claims.cases import better, no_worse, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import MODULES, QUEUED, experiment, groups
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, fact

MARGIN = margin("H3.1 first priority")
"""By how much more the highest priority may wait for H3.1 to hold."""
WORKLOADS = {
    "priorities mixed in channels": "head_of_line",
    "a channel a priority": {"regime": "head_of_line", "priority": {"uniform": [1, 4]}, "priority_by": "channel"},
}
"""One group in five needs most of a module; in the first, these are the urgent ones."""
CHANNELS = [2, 4, 8, 16]
ALIKE = groups(channels={"vary": CHANNELS}, waves=4, vgpr_blocks=8, sgpr_blocks=2, shared_segments=0, priority=1)
"""Every group fits where any does: all channels compete all the time."""
IN_TURN = (4, 16)
ARRIVALS: dict[str, Any] = {"queued": QUEUED, "load 0.9": {"poisson_load": 0.9}}
FAIR = {"vary": ["plain_random", "served_marks"]}


def _head_of_line(evidence: Evidence) -> Iterator[Finding]:
    for name, workload in WORKLOADS.items():
        blocking = experiment(workload, selection={"vary": ["strict_blocking", "served_marks"]})
        runs = evidence.runs(f"dispatch_head_of_line_{name.split()[0]}", blocking)
        first, other = point(runs, selection="strict_blocking"), point(runs, selection="served_marks")
        yield better(runs, first, other, "groups_per_kilocycle", name)
        yield better(runs, first, other, "wait_mean_cycles[4]", name)
        yield no_worse(runs, first, other, "wait_mean_cycles[1]", MARGIN, name)


def _reports(evidence: Evidence) -> Iterator[Finding]:
    """Yield cases head by head: every waiting head of every round needs a report of every module (¶40, ¶43)."""
    runs = evidence.runs("dispatch_reports", experiment(groups(1000, channels={"vary": [2, 4, 16, 64]})))
    for p in runs.points:
        channels = int(p.coordinates["workload.channels"])
        once = finite(runs, p, "probe_operations_per_dispatch")
        each = finite(runs, p, "probe_operations_each_head_per_dispatch")
        saved = 1 - sum(once.values()) / sum(each.values())
        note = f"{saved:.1%} of the reports saved: {MODULES} a round, head by head up to {MODULES * channels}"
        fewer = all(once[seed] < each[seed] for seed in once)
        finding = fact(
            f"{channels} channels", "fewer reports on every seed", fewer, estimate=saved, n=len(once), note=note
        )
        yield of(runs, finding, "reports saved", "share of those head by head")


def _saves_time(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases head by head: probes serve one head after the other, so a round takes as many cycles as there are
    channels."""
    for channels in IN_TURN:
        for load, arrival in ARRIVALS.items():
            each = {"round_cycles": {"vary": [1, channels]}}
            name = f"dispatch_reports_in_turn_{channels}_{load.split()[0]}"
            runs = evidence.runs(name, experiment(groups(1000, channels=channels, arrival=arrival), each))
            once, in_turn = runs.points
            for measure in ("makespan_cycles", "wait_mean_cycles"):
                yield better(runs, in_turn, once, measure, f"{channels} channels, {load}")


def _marks(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_marks_alike", experiment(ALIKE, selection=FAIR))
    for count in CHANNELS:
        first, other = (point(runs, channels=count, selection=name) for name in FAIR["vary"])
        yield better(runs, first, other, "service_variance", f"{count} channels that all fit")
        gaps, bound = finite(runs, other, "service_gap_max"), 2 * count - 1
        most = max(gaps.values())
        note = f"the largest gap of {len(gaps)} seeds is {most:g}, the bound {bound}"
        within = most <= bound
        finding = fact(f"{count} channels, gap", "at most 2c - 1", within, estimate=most, n=len(gaps), note=note)
        yield of(runs, finding, "service_gap_max")
    mixed = evidence.runs("dispatch_marks_mixed", experiment(groups(arrival=QUEUED, priority=1), selection=FAIR))
    first, other = (point(mixed, selection=name) for name in FAIR["vary"])
    yield better(mixed, first, other, "service_variance", "4 channels of mixed groups")


MATCHING = [
    Claim("H3.1", "matching all channels removes head-of-line blocking", "¶40", lambda e: list(_head_of_line(e))),
    Claim(
        "H3.2",
        "one report a module serves all channels",
        "¶40 and ¶43",
        lambda e: list(_reports(e)),
        kind="by_construction",
        design="2 to 64 channels",
    ),
    Claim(
        "H3.2b",
        "one report for all channels saves time: the same groups end sooner and wait less than with a report a head",
        "¶40 and ¶43",
        lambda e: list(_saves_time(e)),
        design="4 and 16 channels x everything queued and load 0.9, 2 measures",
    ),
    Claim("H3.3", "marks balance channels of equal priority", "¶59", lambda e: list(_marks(e))),
]
