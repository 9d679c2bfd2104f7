"""Device allocators of a survey: how long kernels take that allocate, and how much of a heap is given out.

Each design is compared with `workbench.policies.malloc.AS_FOUND`. Up to three levers a design are fitted, equal for
all sizes and numbers of threads: the launch, and what its words and sections take. The fitted points have 1, 4, 16 to
4,096 threads. Judged are the other points up to 2,048 threads, all from 8,192 threads on, the gain of one
allocation a warp over 32, and the bytes given out. The error of a curve is the mean over its points; the median over
all curves is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import spearmanr

from workbench.policies.malloc import AS_FOUND, HashedBins
from workbench.policies.policy import Policy
from workbench.validation.data_set import Curve, DataSet, Result, Source, Verdict, percent_error
from workbench.validation.malloc_runs import WARP, Levers, allocation_ms, card_of, share_given
from workbench.validation.malloc_survey import DESIGNS, GAIN_THREADS, SIZES, THREADS, extract

if TYPE_CHECKING:
    import pandas as pd

FITTED = tuple(4**k for k in range(7))
BETWEEN = tuple(n for n in THREADS if n <= 2048 and n not in FITTED)
BEYOND = tuple(n for n in THREADS if n >= 8192)
BAR_BETWEEN, BAR_BEYOND, BAR_RANKS = 10.0, 30.0, 0.9
BAR_GAIN, BAR_FULL, NO_GAIN = 25.0, 5.0, (0.8, 1.25)
FULL_GRANULES = 1 << 14
"""Granules of the heap that is filled; the share hardly depends on it."""
_REPEATS, _GRID = 2, 9
"""Passes over the fitted levers, and values of each that are tried first."""


DRAWN = ("CUDA", "XMalloc", "ScatterAlloc", "Halloc", "RegEff-C", "Ouroboros-C-S")
"""Designs that are drawn at the first size."""


class Fitted(NamedTuple):
    """A lever that is fitted by trying values, each in runs of all fitted points."""

    slot: str
    """`lock` or `heap`."""
    name: str
    least: int
    most: int


_HOLD = Fitted("lock", "hold_cycles", 1, 1000)
_SWAP = Fitted("lock", "swap_cycles", 1, 5000)
_SECTION = Fitted("heap", "section_cycles", 50, 20_000)
_CHUNK = Fitted("heap", "chunk_cycles", 50, 50_000)
_TRIED: Mapping[str, Sequence[Fitted]] = {
    "CUDA": (Fitted("heap", "bins", 1, 256), Fitted("heap", "bin_cycles", 50, 50_000)),
    "XMalloc": (_SWAP, Fitted("heap", "superblock_cycles", 50, 1_000_000)),
    "ScatterAlloc": (_SWAP, Fitted("heap", "mutex_cycles", 50, 50_000)),
    "Halloc": (_HOLD,),
    "RegEff-A": (_HOLD,),
    "RegEff-AW": (_HOLD,),
    **{f"RegEff-{kind}": (_SECTION,) for kind in ("C", "CF", "CM", "CFM")},
    **{f"Ouroboros-P-{kind}": (_HOLD,) for kind in ("S", "VA", "VL")},
    **{f"Ouroboros-C-{kind}": (_HOLD, _CHUNK) for kind in ("S", "VA", "VL")},
}
"""What is fitted of each design besides the launch. Of CUDA's the time of a request outside of its lock is fitted
instead of the launch, which cannot be told from it."""
LARGE = "Halloc"
"""The design whose large requests go to CUDA's `malloc`, with the levers that were fitted for that."""


# Fit -----------------------------------------------------------------------------------------------------------------


def fit(facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the levers of each design of the first card, fitted at 1, 4, ..., 4,096 threads."""
    rows = facts[(facts["card"] == facts["card"].iloc[0]) & (facts["measure"] == "scaling")]
    levers: dict[str, dict[str, Any]] = {}
    for design in (name for name in DESIGNS if (rows["design"] == name).any()):
        levers[design] = fit_design(design, rows[rows["design"] == design], levers.get("CUDA", {}))
    return levers


def fit_design(design: str, rows: pd.DataFrame, cuda: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted levers of one design; `cuda` = those of CUDA's `malloc`, for large requests.

    The mean absolute logarithm of predicted over measured is made least, so that single outliers do not decide.
    """
    rows = rows[rows["threads"].isin(FITTED)]
    points, measured = list(zip(rows["bytes"], rows["threads"], strict=True)), rows["value"].to_numpy(float)
    machine = card_of(str(rows["card"].iloc[0]))
    chosen = {each: round((each.least * each.most) ** 0.5) for each in _TRIED[design]}

    def rest() -> np.ndarray:
        levers = levers_of_design(design, {**_named(chosen), "launch_cycles": 0}, cuda)
        return np.array([allocation_ms(of_survey(design), levers, machine, int(size), int(n)) for size, n in points])

    def error_at(each: Fitted) -> Callable[[float], float]:
        def error(exponent: float) -> float:
            chosen[each] = min(max(round(float(np.exp(exponent))), each.least), each.most)
            return _launch(rest(), measured)[1]

        return error

    for _ in range(_REPEATS if len(chosen) > 1 else 1):
        for each in list(chosen):
            best = _least(error_at(each), float(np.log(each.least)), float(np.log(each.most)))
            chosen[each] = min(max(round(float(np.exp(best))), each.least), each.most)
    launch = round(_launch(rest(), measured)[0] * machine.clock_mhz * 1000)
    return {"own_cycles" if design == "CUDA" else "launch_cycles": launch, **_named(chosen)}


def of_survey(design: str) -> Mapping[str, Policy]:
    """Return the policies of an allocator of the survey."""
    return AS_FOUND["RegEff-A" if design == "RegEff-AW" else design]


def _least(error: Callable[[float], float], low: float, high: float) -> float:
    """Return the place where an error of several valleys is least: the best of a grid, and what is best around it."""
    grid = np.linspace(low, high, _GRID)
    place = int(np.argmin([error(each) for each in grid]))
    bounds = grid[max(place - 1, 0)], grid[min(place + 1, _GRID - 1)]
    around = minimize_scalar(error, bounds=bounds, method="bounded", options={"xatol": 0.01})
    return float(around.x) if around.fun < error(float(grid[place])) else float(grid[place])


def _named(chosen: Mapping[Fitted, int]) -> dict[str, int]:
    return {each.name: value for each, value in chosen.items()}


def _launch(rest: np.ndarray, measured: np.ndarray) -> tuple[float, float]:
    """Return the milliseconds of a launch with which one point is met and all come nearest, and the mean absolute
    logarithm that remains."""
    tried = np.unique(np.append(np.maximum(measured - rest, 0.0), 0.0))
    errors = np.mean(np.abs(np.log((tried[:, None] + rest) / measured)), axis=1)
    return float(tried[np.argmin(errors)]), float(errors.min())


def levers_of_design(design: str, fitted: Mapping[str, Any], cuda: Mapping[str, Any]) -> Levers:
    """Return the fitted levers as a run takes them."""
    slots = {each.name: each.slot for each in _TRIED[design]} | {"own_cycles": "heap"}
    by_slot: dict[str, dict[str, Any]] = {"lock": {}, "heap": {}}
    launch = 0 if design == "CUDA" else int(fitted.get("launch_cycles", 0))
    for name, value in fitted.items():
        if name in slots:
            by_slot[slots[name]][name] = value
    if design == "CUDA":
        by_slot["heap"].setdefault("own_cycles", 0)
    if design == LARGE and cuda:
        own = max(int(cuda["own_cycles"]) - launch, 0)
        by_slot["heap"]["large"] = HashedBins(own_cycles=own, bins=cuda["bins"], bin_cycles=cuda["bin_cycles"])
    return Levers(launch, by_slot["lock"], by_slot["heap"])


# Judge ---------------------------------------------------------------------------------------------------------------


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return the results of each card: times between the fitted points and beyond them, gains, and full heaps."""
    results: list[Result] = []
    for card, rows in facts.groupby("card", sort=True):
        scaling = rows[rows["measure"] == "scaling"].pivot(index=["bytes", "design"], columns="threads", values="value")
        if len(scaling):
            curves = _curves(str(card), scaling, levers)
            results += [_scaling(str(card), curves, levers, part) for part in (BETWEEN, BEYOND)]
        for measure, judged in (("aggregation", _gains), ("full", _full)):
            if (rows["measure"] == measure).any():
                results += judged(str(card), rows[rows["measure"] == measure], levers)
    return results


class Curves(NamedTuple):
    """Milliseconds of each design and size, one row each, at each number of threads; NaN where none was measured."""

    keys: Sequence[tuple[int, str]]
    measured: np.ndarray
    predicted: np.ndarray
    lines: np.ndarray
    """On a straight line that was fitted to the same points."""


def _curves(card: str, scaling: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> Curves:
    machine, cuda = card_of(card), levers.get("CUDA", {})
    measured = scaling.reindex(columns=list(THREADS)).to_numpy(float)
    keys = [(int(size), str(design)) for size, design in scaling.index]
    predicted, lines = np.full_like(measured, np.nan), np.full_like(measured, np.nan)
    for k, (size, design) in enumerate(keys):
        chosen = levers_of_design(design, levers[design], cuda)
        for j in np.flatnonzero(np.isfinite(measured[k])):
            predicted[k, j] = allocation_ms(of_survey(design), chosen, machine, size, THREADS[j])
        lines[k] = straight_line(measured[k])
    return Curves(keys, measured, predicted, lines)


def straight_line(measured: np.ndarray) -> np.ndarray:
    """Return launch + threads x time, fitted to the fitted points of one curve by their relative differences."""
    from scipy.optimize import nnls

    n, fitted = np.array(THREADS, float), np.isin(THREADS, FITTED) & np.isfinite(measured)
    terms = np.stack([np.ones(len(n)), n], axis=1)
    (launch, each), _ = nnls(terms[fitted] / measured[fitted, None], np.ones(int(fitted.sum())))
    return np.asarray(launch + each * n)


def _scaling(card: str, curves: Curves, levers: Mapping[str, Mapping[str, Any]], part: Sequence[int]) -> Result:
    columns, beyond = np.isin(THREADS, part), part == BEYOND
    measured, predicted, lines = (each[:, columns] for each in curves[1:])
    error, other = (_median_error(measured, each) for each in (predicted, lines))
    bar = BAR_BEYOND if beyond else BAR_BETWEEN
    sizes, judged = np.array([size for size, _ in curves.keys]), np.isfinite(measured)
    ranks = min(
        float(spearmanr(measured[of][judged[of]], predicted[of][judged[of]]).statistic)
        for of in (sizes == size for size in dict.fromkeys(sizes.tolist()))
    )
    met: Verdict = "confirmed" if error <= bar and (not beyond or ranks >= BAR_RANKS) else "refuted"
    also = f", and rank correlation of at least {BAR_RANKS:g}" if beyond else ""
    worse = np.nanmean(np.abs(predicted / measured - 1), axis=1) > bar / 100
    return Result(
        law=f"parallel heaps, {'8,192 threads and more' if beyond else 'up to 2,048 threads'}, {card}",
        fitted={} if beyond else levers,
        points=int(judged.sum()),
        error=error,
        unit="%",
        r2=float("nan"),
        rival="a straight line a curve",
        rival_error=other,
        verdict=met,
        bar=f"median over the curves of at most {bar:g} %{also}; whatever the rival",
        curves=_panels(curves) if beyond else (),
        note=f"The least rank correlation of a size, over designs and threads, is {ranks:.2f}. "
        f"{int(worse.sum())} of {len(worse)} curves are further off than the bar.",
    )


def _median_error(measured: np.ndarray, predicted: np.ndarray) -> float:
    """Return the median over the curves of each one's mean error, in percent."""
    return float(100 * np.nanmedian(np.nanmean(np.abs(predicted / measured - 1), axis=1)))


def _panels(curves: Curves) -> list[Curve]:
    judged = ~np.isin(THREADS, FITTED)
    return [
        Curve(
            _panel(size, design),
            "threads",
            "milliseconds",
            np.array(THREADS, float),
            curves.measured[k],
            curves.predicted[k],
            curves.lines[k],
            judged,
            line="parallel heaps",
        )
        for k, (size, design) in enumerate(curves.keys)
    ]


def _panel(size: int, design: str) -> str:
    return f"{design}, {size} B"


class Predicted(NamedTuple):
    """What is predicted of each row of facts, and what was measured."""

    names: Sequence[str]
    measured: np.ndarray
    predicted: np.ndarray

    def curve(self, panel: str, y_name: str, rival: np.ndarray) -> Curve:
        """Return a panel with a place for each row."""
        places, judged = np.arange(len(self.predicted), dtype=float), np.ones(len(self.predicted), bool)
        return Curve(
            *(panel, "design and size", y_name, places, self.measured, self.predicted, rival, judged),
            joined=False,
            names=self.names,
            line="parallel heaps",
        )


def _predicted(rows: pd.DataFrame, predict: Callable[[str, int], float]) -> Predicted:
    keys = [(str(design), int(size)) for design, size in zip(rows["design"], rows["bytes"], strict=True)]
    values = np.array([predict(*key) for key in keys])
    return Predicted([f"{design}, {size} B" for design, size in keys], rows["value"].to_numpy(float), values)


def _gains(card: str, rows: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return two results: the gain of XMalloc's aggregation, and on which side of 1 the gain of each design lies."""
    machine, cuda = card_of(card), levers.get("CUDA", {})

    def gain(design: str, size: int) -> float:
        chosen = levers_of_design(design, levers[design], cuda)
        times = [allocation_ms(of_survey(design), chosen, machine, size, GAIN_THREADS, one) for one in (True, False)]
        return times[0] / times[1]

    rows_predicted = _predicted(rows, gain)
    _, measured, predicted = rows_predicted
    clear = (measured > 0) & ((measured < NO_GAIN[0]) | (measured > NO_GAIN[1]))
    wrong = clear & ((predicted > 1) != (measured > 1))
    aggregates = (rows["design"] == "XMalloc").to_numpy(bool) & (measured > NO_GAIN[1])
    pairs = zip(predicted[aggregates], measured[aggregates], strict=True)
    of_clear = 100 / max(int(clear.sum()), 1)
    designs = dict.fromkeys(str(design) for design in rows["design"].to_numpy()[wrong])
    lanes = np.where(aggregates, float(WARP), np.nan)
    error, other = (
        percent_error(measured[aggregates], each[aggregates]) if aggregates.any() else float("nan")
        for each in (predicted, np.full(len(predicted), float(WARP)))
    )
    return [
        Result(
            law=f"gain of XMalloc's aggregation, {card}",
            fitted={},
            points=int(aggregates.sum()),
            error=error,
            unit="%",
            r2=float("nan"),
            rival="32, the lanes of a warp",
            rival_error=other,
            verdict=_verdict(aggregates, error <= BAR_GAIN),
            bar=f"within {BAR_GAIN:g} % where it aggregates; whatever the rival",
            curves=(rows_predicted.curve(f"gain of aggregation, {card}", "one a warp over 32 a warp", lanes),),
            note=f"Predicted for measured: {', '.join(f'{ours:.1f} for {theirs:.1f}' for ours, theirs in pairs)}.",
        ),
        Result(
            law=f"side of 1 of the gain of each design, {card}",
            fitted={},
            points=int(clear.sum()),
            error=of_clear * float(wrong.sum()),
            unit="% on the wrong side",
            r2=float("nan"),
            rival="a gain everywhere",
            rival_error=of_clear * float((clear & (measured < 1)).sum()),
            verdict=_verdict(clear, not wrong.any()),
            bar=f"none on the wrong side outside of {NO_GAIN[0]:g} to {NO_GAIN[1]:g}; whatever the rival",
            note=f"On the wrong side: {', '.join(designs) or 'none'}.",
        ),
    ]


def _full(card: str, rows: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return one result: the bytes that each design gives out until it refuses."""
    machine = card_of(card)
    shares = _predicted(rows, lambda design, size: 100 * share_given(of_survey(design), machine, size, FULL_GRANULES))
    off = np.abs(shares.predicted / shares.measured - 1) > BAR_FULL / 100
    designs = dict.fromkeys(str(design) for design in rows["design"].to_numpy()[off])
    return [
        Result(
            law=f"bytes given out until the heap is full, {card}",
            fitted={},
            points=len(off),
            error=percent_error(shares.measured, shares.predicted),
            unit="%",
            r2=float("nan"),
            rival="the whole heap",
            rival_error=percent_error(shares.measured, np.full(len(off), 100.0)),
            verdict=_verdict(off | True, not off.any()),
            bar=f"each within {BAR_FULL:g} %; whatever the rival",
            curves=(shares.curve(f"bytes given out, {card}", "% of the heap", np.full(len(off), 100.0)),),
            note=f"{int(off.sum())} of {len(off)} are further off: {', '.join(designs) or 'none'}.",
        )
    ]


def _verdict(judged: np.ndarray, met: bool) -> Verdict:
    if not judged.any():
        return "not tested"
    return "confirmed" if met else "refuted"


SETS = (
    DataSet(
        name="device_malloc",
        engine="malloc",
        card="TITAN V",
        measures="milliseconds of allocations, gain of one a warp, bytes given out",
        sources=(
            Source(
                "GPUPeople/GPUMemManSurvey",
                "35f933be92a0",
                "results/TITANV/{alloc_tests/{scaling,performance},frag_tests/aggregate}",
                "MIT",
            ),
        ),
        files=("scale_alloc_*.csv", "warp_perf_alloc_*_10000_*.csv", "*_oom_*.csv"),
        extract=extract,
        fit=fit,
        judge=judge,
        design="This fit is the third one. The first had no tries of who waits: 52.7 % from 8,192 threads on, a gain "
        "of 316. The second counted them by warp: 39.7 % and 28.1. Both had been judged before.",
        drawn=[_panel(SIZES[0], design) for design in DRAWN]
        + [f"{panel}, TITANV" for panel in ("gain of aggregation", "bytes given out")],
    ),
)
