"""H1.1 to H1.9: what the source document asserts of placement nearest to a boundary (spec 1, section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.experiments.run_set import RunSet
from workbench.policies.placement.circuit import cost
from workbench.studies.claims.claim import Claim, Parts
from workbench.studies.claims.evidence import Evidence, compared, finite, point
from workbench.studies.statistics import Finding, equivalent, equivalent_mean, every, fact, majority, superior

REGIMES = ["large_uniform", "medium_uniform", "bimodal", "power_of_two", "small_uniform"]
"""The five regimes of the pilot (spec 1, section 6)."""

ALTERNATE = "nearest_boundary(tie=alternate)"
DRAIN: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": 128},
    "workload": {"vary": REGIMES},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", {"nearest_boundary": {"tie": "alternate"}}]}},
}
ORDER: dict[str, Any] = {
    **{key: DRAIN[key] for key in ("engine", "machine", "workload")},
    "policy": {"placement": "nearest_boundary"},
    "options": {"same_cycle_order": {"vary": ["release_first", "allocate_first"]}},
}


def _drain(evidence: Evidence) -> RunSet:
    return evidence.runs("placement_drain", DRAIN)


def _against_first_fit(*measures: str, most: bool = False) -> Parts:
    """In every regime, every measure is better than under first fit in the mean (and on most seeds)."""

    def parts(evidence: Evidence) -> list[Finding]:
        runs = _drain(evidence)
        return [_every_measure(runs, regime, measures, most) for regime in REGIMES]

    return parts


def _every_measure(runs: RunSet, regime: str, measures: Sequence[str], most: bool) -> Finding:
    first = point(runs, workload=regime, placement="first_fit")
    other = point(runs, workload=regime, placement="nearest_boundary")
    found: list[Finding] = []
    for measure in measures:
        comparison = compared(runs, first, other, measure)
        found.append(superior(measure, "better in the mean", comparison))
        found.extend([majority(measure, "better on most seeds", comparison)] if most else [])
    return every(regime, f"{', '.join(measures)}; shown is the weakest", found)


def _wear(evidence: Evidence) -> list[Finding]:
    runs = _drain(evidence)
    balanced = [_every_measure(runs, r, ("wear_cv", "wear_gini", "wear_max_over_min"), False) for r in REGIMES]
    halves = [_within(runs, r, "nearest_boundary", "wear_low_over_high", (0.95, 1.05)) for r in REGIMES]
    both = "wear_cv, wear_gini, wear_max_over_min (without seeds that never grant some segment), wear_low_over_high"
    return [every(regime, both, [b, h]) for regime, b, h in zip(REGIMES, balanced, halves)]


def _within(runs: RunSet, regime: str, placement: str, measure: str, band: tuple[float, float]) -> Finding:
    values = finite(runs, point(runs, workload=regime, placement=placement), measure)
    return equivalent(f"{regime}, {placement}", measure, equivalent_mean(list(values.values()), band))


def _ends(evidence: Evidence) -> Iterator[Finding]:
    runs = _drain(evidence)
    for placement in ("nearest_boundary", ALTERNATE):
        for regime in REGIMES:
            yield _within(runs, regime, placement, "low_end_share", (0.48, 0.52))


def _release_first(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("placement_order", ORDER)
    for regime in REGIMES:
        ablated = point(runs, workload=regime, same_cycle_order="allocate_first")
        default = point(runs, workload=regime, same_cycle_order="release_first")
        yield superior(regime, "first attempts succeed more often", compared(runs, ablated, default, "first_try_rate"))


def _stages(evidence: Evidence) -> Iterator[Finding]:
    for segments in (16, 128, 1024, 4096):
        binary, linear = cost(segments, leading_one="binary"), cost(segments, leading_one="linear")
        note = (
            f"{binary.search_stages} stages by halving and look-up, up to {linear.search_stages} steps one by one; "
            f"gates {binary.search_gates} against {linear.search_gates}, "
            f"logic depth {binary.search_depth} against {linear.search_depth}"
        )
        fewer = binary.search_stages < linear.search_stages
        yield fact(f"N = {segments}", "fewer stages", fewer, estimate=binary.search_stages, note=note)


CLAIMS = [
    Claim(
        "H1.1",
        "the same queue drains faster than under first fit",
        "paragraphs 138-139",
        _against_first_fit("drain_cycles", most=True),
    ),
    Claim("H1.2", "the queue is shorter on average over time", "figure 12", _against_first_fit("wait_mean_cycles")),
    Claim("H1.3", "less memory lies free while requests wait", "figure 13", _against_first_fit("mean_free_segments")),
    Claim(
        "H1.4",
        "less fragmentation: longer runs, fewer of them, fewer blocked requests",
        "paragraphs 62 and 139",
        _against_first_fit("mean_external_fragmentation", "mean_free_runs", "blocked_though_enough_rate"),
    ),
    Claim("H1.5", "wear is balanced, and even between the halves", "paragraph 62", _wear),
    Claim("H1.6", "both ends are served alike, whichever way ties go", "paragraph 62", lambda e: list(_ends(e))),
    Claim("H1.7", "releases first make more first attempts succeed", "paragraph 80", lambda e: list(_release_first(e))),
    Claim("H1.8", "the binary search needs fewer stages than a scan", "paragraphs 133-134", lambda e: list(_stages(e))),
    Claim("H1.9", "free space gathers in the middle", "paragraph 62", _against_first_fit("longest_run_off_middle")),
]
