"""H1.1 to H1.9: what the source document asserts of placement nearest to a boundary (spec 1, section 6).

They are judged over the specification's design of 54 workloads (section 6, common design): nine laws of sizes, three of
run times, two of arrivals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.claims.cases import better, counts, margin, of
from workbench.claims.claim import Claim, Evidence, Parts
from workbench.experiments.results import Results
from workbench.policies.placement.circuit import cost
from workbench.policies.placement.question import Placement
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, equivalent, fact, median_within
from workbench.statistics.comparisons import values_of

SIZES: list[Any] = [
    *({"uniform": [1, most]} for most in (16, 32, 64)),
    *({"bimodal": {"small_share": 0.7, "small": [1, 4], "large": [most // 2, most]}} for most in (16, 32, 64)),
    *({"powers_of_two": [1, most]} for most in (16, 32, 64)),
]
DURATIONS: list[Any] = [
    {"uniform": [1, 100]},
    {"exponential": 50},
    {"correlated": {"law": {"uniform": [1, 100]}, "rank_correlation": 0.8}},
]
ARRIVALS: list[Any] = ["all_at_once", {"poisson_load": {"load": 0.9}}]
CELLS = [
    f"{law} to {most}, {duration} run times, {arrival}"
    for law, most in ((law, most) for law in ("uniform", "bimodal", "powers of two") for most in (16, 32, 64))
    for duration in ("uniform", "exponential", "correlated")
    for arrival in ("queued", "load 0.9")
]
"""The names of the workloads, in the order of the design."""
DESIGN = "54 workloads: 9 laws of sizes x 3 of run times x 2 of arrivals (spec 1, section 6)"
LEVERS: dict[str, Any] = {"count": 300}
"""Of every workload; tests make them smaller."""
FIRST, NEAREST, ALTERNATE = range(3)
"""The places of the policies in a cell."""
PLACEMENTS = ["first_fit", "nearest_boundary", {"nearest_boundary": {"tie": "alternate"}}]


def _experiment(**more: Any) -> dict[str, Any]:
    varied = {"size": {"vary": SIZES}, "duration": {"vary": DURATIONS}, "arrival": {"vary": ARRIVALS}}
    workload = {"synthetic": "random_workgroups", **LEVERS, **varied}
    return {"engine": "shared_memory", "machine": {"segments": 128}, "workload": workload, **more}


Cells = list[tuple[str, list[PlannedPoint]]]


def _cells(runs: Results, each: int) -> Cells:
    """Return the points of every workload, in the order in which it was varied."""
    points = runs.points
    return [(name, points[k * each : (k + 1) * each]) for k, name in enumerate(CELLS)]


def _drain(evidence: Evidence) -> tuple[Results, Cells]:
    runs = evidence.runs("placement_design", _experiment(policy={"placement": {"vary": PLACEMENTS}}))
    return runs, _cells(runs, len(PLACEMENTS))


def _against_first_fit(*measures: str) -> Parts:
    """Return a case for every measure in every workload: it is better than under first fit."""

    def parts(evidence: Evidence) -> list[Finding]:
        runs, cells = _drain(evidence)
        return [better(runs, p[FIRST], p[NEAREST], measure, cell) for cell, p in cells for measure in measures]

    return parts


def _wear(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of wear: a segment that is never granted makes max over min infinite: the worst, compared by
    ranks."""
    yield from _against_first_fit("wear_cv", "wear_gini", "wear_max_over_min")(evidence)
    runs, cells = _drain(evidence)
    for cell, p in cells:
        yield _within(runs, p[NEAREST], "wear_low_over_high", 1.0, margin("H1.5 halves"), cell)


def _within(runs: Results, p: PlannedPoint, measure: str, centre: float, most: float, about: str) -> Finding:
    """Return the case that the median of a share, or of a ratio of halves, is within a band around its center."""
    band = centre - most, centre + most
    result = median_within([*values_of(runs, p, measure).values()], band)
    finding = equivalent(f"{about}, {measure}", f"from {band[0]:g} to {band[1]:g}", result)
    return of(runs, finding, measure)


def _ends(evidence: Evidence) -> Iterator[Finding]:
    runs, cells = _drain(evidence)
    for cell, p in cells:
        for place, ties in ((NEAREST, "ties low"), (ALTERNATE, "ties in turn")):
            yield _within(runs, p[place], "low_end_share", 0.5, margin("H1.6 ends"), f"{cell}, {ties}")


def _release_first(evidence: Evidence) -> Iterator[Finding]:
    order = {"same_cycle_order": {"vary": ["release_first", "allocate_first"]}}
    runs = evidence.runs("placement_order", _experiment(policy={"placement": "nearest_boundary"}, options=order))
    for cell, (default, ablated) in _cells(runs, 2):
        yield better(runs, ablated, default, "first_try_rate", cell)


def _stages(evidence: Evidence) -> Iterator[Finding]:
    for segments in (16, 128, 1024, 4096):
        binary, linear = cost(segments, leading_one="binary"), cost(segments, leading_one="linear")
        note = (
            f"{binary.search_stages} stages by halving and look-up, up to {linear.search_stages} steps one by one; "
            f"gates {binary.search_gates} against {linear.search_gates}, "
            f"logic depth {binary.search_depth} against {linear.search_depth}"
        )
        fewer = binary.search_stages < linear.search_stages
        finding = fact(f"N = {segments}", "fewer stages", fewer, estimate=binary.search_stages, note=note)
        yield finding._replace(measure="search stages", unit="stages")


def _quicker(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the whole circuit with either search in it, as a synthesizer makes it."""
    for segments in (16, 64, 128):
        binary, linear = (
            counts(Placement.read({"nearest_boundary": {"leading_one": form}}), segments)
            for form in ("binary", "linear")
        )
        note = (
            f"{binary.relative_delay:.4g} FO4 by halving, {linear.relative_delay:.4g} one by one; an area of "
            f"{binary.relative_area:.5g} against {linear.relative_area:.5g}"
        )
        saved = 1 - binary.relative_delay / linear.relative_delay
        finding = fact(f"N = {segments}", "a grant sooner", saved > 0, estimate=saved, note=note)
        yield finding._replace(measure="delay saved", unit="share")


CLAIMS = [
    Claim(
        "H1.1",
        "the same queue drains faster than under first fit",
        "paragraphs 138-139",
        _against_first_fit("drain_cycles"),
        design=DESIGN,
    ),
    Claim(
        "H1.2",
        "the queue is shorter on average over time",
        "figure 12",
        _against_first_fit("mean_queue"),
        design=DESIGN,
    ),
    Claim(
        "H1.3",
        "less memory lies free while requests wait",
        "figure 13",
        _against_first_fit("mean_free_segments"),
        design=DESIGN,
    ),
    Claim(
        "H1.4",
        "less fragmentation: longer runs, fewer of them, fewer blocked requests",
        "paragraphs 62 and 139",
        _against_first_fit("mean_external_fragmentation", "mean_free_runs", "blocked_though_enough_rate"),
        design=DESIGN,
    ),
    Claim("H1.5", "wear is balanced, and even between the halves", "paragraph 62", _wear, design=DESIGN),
    Claim("H1.6", "both ends are served alike, whichever way ties go", "paragraph 62", _ends, design=DESIGN),
    Claim("H1.7", "releases first make more first attempts succeed", "paragraph 80", _release_first, design=DESIGN),
    Claim(
        "H1.8",
        "the binary search needs fewer stages than a scan",
        "paragraphs 133-134",
        _stages,
        kind="counted",
        design="4 numbers of segments",
    ),
    Claim(
        "H1.8b",
        "as synthesised, the circuit with the binary search answers sooner than with a scan",
        "paragraphs 133-134",
        _quicker,
        kind="counted",
        design="3 numbers of segments, the document's 128 among them",
        mark="-128",
    ),
    Claim(
        "H1.9",
        "free space gathers in the middle",
        "paragraph 62",
        _against_first_fit("longest_run_off_middle"),
        design=DESIGN,
    ),
]
