"""Cyclic pointer chases over a growing footprint: the levels of a GPU's TLBs (gcoe-dresden/cuda-gpu-tlb).

A file has a curve for each stride: cycles of an access by footprint. The law is a level of so many entries that costs
so many cycles more when it is missed. It is fitted on the middle stride of a file; the other strides are judged. The
levers of other evictions are the same, so that a chase tells which of them a card cannot have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.errors import InputError
from workbench.validation.data_set import Curve, DataSet, Result, Source, Verdict, mean_error, r_squared
from workbench.validation.tlb_runs import Level, chase_cycles

LAWS = ("lru", "tree_plru", "random", "mru", "s3fifo")
"""Evictions; a cyclic chase cannot tell LRU from FIFO, SRRIP, DRRIP, ARC and LFU."""
BAR = (
    "on each held-out stride R2 is at least 0.95 (if its cycles differ), and the error at most a third of that of the "
    "median of that stride"
)
RIVAL = "the median of the same stride"
FITTED, JUDGED, INNER = "fitted", "judged", "inner"
"""Parts of the facts; `inner` is the fitted stride of the level before, which has a file of its own."""
MOST_ROWS = 512
"""Rows of a file that become facts; of a longer one, rows at equal distances."""
MOST_MB = 1 << 20
"""Of a footprint: more than any card has."""
_MOST_DIGITS = 9
_MOST_BASES = 256
"""Cycles of a hit that are tried one by one; of a wider range only those that were measured."""
LEAST_POINTS = 8
"""Footprints of the fitted stride, at least."""
_COLUMNS = ["curve", "part", "stride_kb", "footprint_mb", "cycles"]
_REPOSITORY = "gcoe-dresden/cuda-gpu-tlb", "6c9edc6f8065"


class Chase(NamedTuple):
    """A file: the curves of one card, one for each stride."""

    path: Path
    card: str
    strides: tuple[int, ...]
    """Increasing, in KiB."""
    first_mb: float
    last_mb: float
    points: tuple[tuple[np.ndarray, np.ndarray], ...]
    """Of each stride footprints in MiB, increasing, and cycles."""

    @property
    def curve(self) -> str:
        """Return the card and the range of footprints in words."""
        return f"{self.card}, {self.first_mb:g} to {self.last_mb:g} MB"

    @property
    def middle(self) -> int:
        """Return the index of the stride that is fitted, the lower of two in the middle."""
        return (len(self.strides) - 1) // 2


class Known(NamedTuple):
    """The file of a data set, told by its content."""

    card: str
    strides: tuple[int, ...]
    first_mb: float
    last_mb: float

    def is_of(self, chase: Chase) -> bool:
        """Return whether a file is this one, measured again or not."""
        return self == (chase.card, chase.strides, chase.first_mb, chase.last_mb)


_DESIGN = (
    "This fit is the second one, made after the first had been judged. The first took the base from the smallest "
    "footprints, and its rival was the median of the fitted stride."
)
_FIRST = {
    "k80_tlb_level_3": "The first gave R2 0.764 and 0.973.",
    "p100_tlb_level_1": "The first gave R2 0.882 and 0.897, so it was refuted.",
}
_KNOWN = {
    "k80_tlb_level_1": Known("Tesla K80", (64, 128, 256), 1, 5),
    "k80_tlb_level_2": Known("Tesla K80", (1024, 2048, 4096), 48, 300),
    "k80_tlb_level_3": Known("Tesla K80", (1024, 2048, 4096), 1500, 5000),
    "p100_tlb_level_1": Known("Tesla P100-PCIE-16GB", (1024, 2048, 4096), 12, 80),
}
OTHER = "tlb_chases_of_other_files"
"""The data set of all other files, which ships no facts: a further card or level is judged with the same rule."""


def read_chase(path: Path) -> Chase:
    """Return the curves of a file.

    Raises
    ------
    InputError
        The file is not of the format; the sentence names the line.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    title = re.match(r"#(.+): (cuda|hip) ", lines[0]) if len(lines) > 2 else None
    if title is None:
        raise InputError(
            f"{path}: line 1 must name the card, such as '#Tesla K80: cuda 3.7'. Expected a TLB-Test file."
        )
    strides = _whole_numbers(path, 2, lines[1].removeprefix("#").strip(",").split(","))
    if list(strides) != sorted(set(strides)) or strides[0] < 1:
        raise InputError(f"{path}: line 2: strides must increase. Got {list(strides)}.")
    curves: list[list[tuple[float, ...]]] = [[] for _ in strides]
    for number, line in enumerate(lines[2:], start=3):
        footprint, *cycles = line.removesuffix(",").split(",")
        if len(cycles) > len(strides):
            raise InputError(f"{path}: line {number}: must have a number for each of {len(strides)} strides.")
        for column, text in enumerate(cycles):
            if text.strip():
                curves[column].append((_footprint(path, number, footprint), *_whole_numbers(path, number, [text])))
    points = tuple((np.array([x for x, _ in each]), np.array([float(y) for _, y in each])) for each in curves)
    middle = points[(len(strides) - 1) // 2][0]
    if middle.size < LEAST_POINTS:
        raise InputError(f"{path}: the middle stride must have at least {LEAST_POINTS} footprints. Got {middle.size}.")
    for stride, (footprints, _) in zip(strides, points, strict=True):
        if (np.diff(footprints) <= 0).any() or (footprints * 1024 < stride).any():
            raise InputError(f"{path}: the footprints of stride {stride} KB must increase, from one stride on.")
    first, last = (edge(x[-1 if edge is max else 0] for x, _ in points if x.size) for edge in (min, max))
    return Chase(path, title[1].strip(), strides, float(first), float(last), points)


def _whole_numbers(path: Path, number: int, texts: Sequence[str]) -> tuple[int, ...]:
    if not all(text.strip().isdecimal() for text in texts):
        raise InputError(f"{path}: line {number}: must be whole numbers. Got {','.join(texts)[:60]!r}.")
    if long := next((text.strip() for text in texts if len(text.strip()) > _MOST_DIGITS), ""):
        raise InputError(f"{path}: line {number}: a number may have {_MOST_DIGITS} digits. Got {len(long)} digits.")
    return tuple(int(text) for text in texts)


def _footprint(path: Path, number: int, text: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?", text.strip()) or float(text) > MOST_MB:
        raise InputError(f"{path}: line {number}: must begin with a footprint in MB, {MOST_MB} at most. Got {text!r}.")
    return float(text)


def read_chases(files: Sequence[Path]) -> list[Chase]:
    """Return the curves of files; refuse two files of the same card and range."""
    chases = [read_chase(path) for path in files]
    for number, chase in enumerate(chases):
        same = [each for each in chases[:number] if (each.curve, each.strides) == (chase.curve, chase.strides)]
        if same:
            raise InputError(f"{chase.path}: holds the same chase as {same[0].path} ({chase.curve}). Remove one.")
    return chases


def _extract(name: str, files: Sequence[Path]) -> pd.DataFrame:
    chases, rows = read_chases(files), list[tuple[Any, ...]]()
    for chase in chases:
        if name == next((known for known, what in _KNOWN.items() if what.is_of(chase)), OTHER):
            rows += _facts(chase)
            rows += [(chase.curve, INNER, *row) for row in fitted_rows(_level_before(chase, chases))]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _level_before(chase: Chase, chases: Sequence[Chase]) -> Chase | None:
    """Return the chase over the level before: the same card and fitted stride, with smaller footprints."""
    stride = chase.strides[chase.middle]
    smaller = [
        each
        for each in chases
        if each.card == chase.card and each.strides[each.middle] == stride and each.last_mb < chase.first_mb
    ]
    return max(smaller, key=lambda each: each.last_mb, default=None)


def fitted_rows(chase: Chase | None) -> list[tuple[int, float, float]]:
    """Return stride, footprints and cycles of the part of a file that may be fitted."""
    if chase is None:
        return []
    stride, (footprints, cycles) = chase.strides[chase.middle], chase.points[chase.middle]
    keep = _kept(chase, footprints)
    reach = _points_within_reach(footprints, cycles)
    if reach:  # the end of the reach, which tells the entries, stays exact
        keep |= np.abs(np.arange(footprints.size) - reach) <= _step_mb(chase) * 1024 / stride
    return [(stride, float(x), float(y)) for x, y in zip(footprints[keep], cycles[keep], strict=True)]


def _facts(chase: Chase) -> Iterator[tuple[Any, ...]]:
    for at, (stride, (footprints, cycles)) in enumerate(zip(chase.strides, chase.points, strict=True)):
        if at == chase.middle:
            yield from ((chase.curve, FITTED, *row) for row in fitted_rows(chase))
            continue
        keep = _kept(chase, footprints)
        for x, y in zip(footprints[keep], cycles[keep], strict=True):
            yield chase.curve, JUDGED, stride, float(x), float(y)


def _step_mb(chase: Chase) -> float:
    """Return the distance of footprints that become facts; 0 = all do."""
    total, step = sum(footprints.size for footprints, _ in chase.points), max(chase.strides) / 1024
    if total <= MOST_ROWS:
        return 0.0
    while sum(np.sum((x - chase.first_mb) % step == 0) for x, _ in chase.points) > MOST_ROWS:
        step *= 2
    return step


def _kept(chase: Chase, footprints: np.ndarray) -> np.ndarray:
    step = _step_mb(chase)
    return (footprints - chase.first_mb) % step == 0 if step else np.ones(footprints.size, bool)


def _base(cycles: np.ndarray) -> int:
    """Return about what a hit costs: the median of the smallest tenth of the footprints, three at least."""
    return int(np.median(cycles[: max(3, cycles.size // 10)]))


def _points_within_reach(footprints: np.ndarray, cycles: np.ndarray) -> int:
    """Return the number of footprints within the level's reach, 0 = the curve has no step.

    A point is above the base from two cycles on, or a twentieth of the highest step. The split that contradicts the
    fewest points is taken, the smallest of equal ones.
    """
    base = _base(cycles)
    above = cycles > base + max(2.0, (np.percentile(cycles, 95) - base) / 20)
    contradicted = np.array([above[:k].sum() + (~above[k:]).sum() for k in range(cycles.size + 1)])
    best = int(np.argmin(contradicted))
    return best if 0 < best < cycles.size else 0


def fit_level(stride_kb: int, footprints: np.ndarray, cycles: np.ndarray) -> dict[str, int]:
    """Return the levers of the level that a curve shows; empty where it shows none.

    The reach is read at the step. Pages of one, two and four strides, all ways that divide the entries, and all whole
    cycles of a hit that were measured within the reach are tried. The least absolute error wins, each point weighed by
    the footprints that it stands for. Of equal errors the smallest page wins, then the most ways, then the least base.
    """
    reach = _points_within_reach(footprints, cycles)
    if not reach:
        return {}
    bases: Sequence[int] = range(int(cycles[:reach].min()), int(cycles[:reach].max()) + 1)
    if len(bases) > _MOST_BASES:
        bases = np.unique(cycles[:reach]).astype(int).tolist()
    accesses, weight = np.rint(footprints * 1024 / stride_kb).astype(np.int64), np.gradient(footprints)
    best: tuple[float, int, int, int, dict[str, int]] | None = None
    for strides in (1, 2, 4):
        pages = -(-accesses // strides)
        entries = int(pages[reach - 1])
        for ways in (each for each in range(1, entries + 1) if entries % each == 0):
            share = _missed_pages(pages, entries // ways, ways) / accesses
            for base in bases:
                extra, error = _least_absolute(share, cycles - base, weight)
                levers = {"entries": entries, "ways": ways % entries, "page_kb": stride_kb * strides}
                tried = (error, strides, -ways, base, levers | {"base_cycles": base, "extra_cycles": extra})
                best = tried if best is None or tried[:4] < best[:4] else best
    return best[4] if best else {}


def _missed_pages(pages: np.ndarray, sets: int, ways: int) -> np.ndarray:
    """Return the number of pages of a cyclic chase that miss: all those of sets with more pages than ways (LRU,
    exact)."""
    each, more = pages // sets, pages % sets
    return np.where(each + 1 > ways, more * (each + 1), 0) + np.where(each > ways, (sets - more) * each, 0)


def _least_absolute(share: np.ndarray, above_base: np.ndarray, weight: np.ndarray) -> tuple[int, float]:
    """Return the whole number of cycles with the least absolute error, and that error (a weighted median)."""
    some = share > 0
    if not some.any():
        return 0, float(weight @ np.abs(above_base))
    ratios = above_base[some] / share[some]
    order = np.argsort(ratios)
    below = np.cumsum((weight * share)[some][order])
    middle = float(ratios[order][np.searchsorted(below, below[-1] / 2)])
    near = [max(0, int(np.floor(middle))), max(0, int(np.ceil(middle)))]
    errors = [float(weight @ np.abs(share * cycles - above_base)) for cycles in near]
    return near[int(np.argmin(errors))], min(errors)


def fit_rows(rows: pd.DataFrame) -> dict[str, int]:
    """Return the levers of the level that facts of one stride show."""
    if rows.empty:
        return {}
    footprints, cycles = (rows[name].to_numpy(float) for name in ("footprint_mb", "cycles"))
    return fit_level(int(rows["stride_kb"].iloc[0]), footprints, cycles)


def _fit(name: str, facts: pd.DataFrame) -> dict[str, dict[str, int]]:
    fitted: dict[str, dict[str, int]] = {}
    for curve, rows in facts.groupby("curve", sort=False):
        levers = fit_rows(rows[rows["part"] == FITTED])
        inner = fit_rows(rows[rows["part"] == INNER])
        if inner and levers and inner["page_kb"] == levers["page_kb"]:
            levers |= {"inner_entries": inner["entries"], "inner_ways": inner["ways"]}
            levers |= {"inner_cycles": inner["base_cycles"]}
        if levers:
            fitted |= {_law(name, law, str(curve)): dict(levers) for law in LAWS}
    return fitted


def _law(name: str, law: str, curve: str) -> str:
    """Return the name of a law: by its eviction, and by its curve where a set may have several."""
    return f"{law}, {curve}" if name == OTHER else law


def level_of(levers: Mapping[str, int]) -> Level:
    """Return the level that levers describe."""
    rest = {name: value for name, value in levers.items() if name != "page_kb"}
    return Level(page_bytes=levers["page_kb"] * 1024, **rest)


def _judge(name: str, facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    return [
        _result(name, law, str(curve), rows[rows["part"] != INNER], levers.get(_law(name, law, str(curve)), {}))
        for curve, rows in facts.groupby("curve", sort=False)
        for law in LAWS
    ]


def _result(name: str, law: str, curve: str, rows: pd.DataFrame, levers: Mapping[str, int]) -> Result:
    measured = rows["cycles"].to_numpy(float)
    judged = (rows["part"] == JUDGED).to_numpy()
    predicted = _predicted(rows, levers, law) if levers else np.full(measured.size, np.nan)
    rival = np.empty(measured.size)
    curves, notes, met = list[Curve](), list[str](), True
    for stride in rows["stride_kb"].unique():
        of = (rows["stride_kb"] == stride).to_numpy()
        rival[of] = np.median(measured[of])
        x = rows["footprint_mb"].to_numpy(float)[of]
        part = JUDGED if judged[of].all() else FITTED
        panel = (f"stride {stride} KB ({part})", "footprint, MB", "cycles an access")
        curves.append(Curve(*panel, x, measured[of], predicted[of], rival[of], judged[of]))
        if part == JUDGED:
            error, r2 = mean_error(measured[of], predicted[of]), r_squared(measured[of], predicted[of])
            of_rival = mean_error(measured[of], rival[of])
            met = met and not r2 < 0.95 and error <= of_rival / 3
            notes.append(f"stride {stride} KB: R2 {r2:.3f}, error {error:.2f}, rival {of_rival:.2f} cycles")
    verdict: Verdict = "not tested" if not levers or not judged.any() else "confirmed" if met else "refuted"
    return Result(
        law=_law(name, law, curve),
        fitted=levers,
        points=int(judged.sum()),
        error=mean_error(measured[judged], predicted[judged]) if judged.any() else float("nan"),
        unit="cycles",
        r2=r_squared(measured[judged], predicted[judged]) if judged.any() else float("nan"),
        rival=RIVAL,
        rival_error=mean_error(measured[judged], rival[judged]) if judged.any() else float("nan"),
        verdict=verdict,
        bar=BAR,
        curves=curves,
        note="; ".join(notes) if levers else "the fitted stride shows no step",
        alternative=law != LAWS[0],
    )


def _predicted(rows: pd.DataFrame, levers: Mapping[str, int], law: str) -> np.ndarray:
    """Return the cycles of each footprint as the engine has them."""
    strides, footprints = rows["stride_kb"].to_numpy(np.int64), rows["footprint_mb"].to_numpy(float)
    counts = np.rint(footprints * 1024 / strides).astype(np.int64)
    chases = [np.arange(n) * stride // levers["page_kb"] for n, stride in zip(counts, strides, strict=True)]
    return chase_cycles(chases, level_of(levers), law)


def _data_set(name: str, card: str, path: str, measures: str) -> DataSet:
    return DataSet(
        name=name,
        engine="translation",
        card=card,
        measures=measures,
        sources=(Source(*_REPOSITORY, path, "BSD-2-Clause"),),
        files=("*TLB-Test-*.csv",),
        extract=partial(_extract, name),
        fit=partial(_fit, name),
        judge=partial(_judge, name),
        design=f"{_DESIGN} {_FIRST.get(name, 'The levers of both are equal.')}" if name != OTHER else "",
    )


SETS: tuple[DataSet, ...] = (
    *(
        _data_set(
            name,
            known.card,
            f"results/{'K80' if 'K80' in known.card else 'P100'}/TLB-Test-{known.first_mb:g}-{known.last_mb:g}"
            f"-{known.strides[0]}-{known.strides[-1]}.csv",
            f"cycles an access of a chase, TLB level {name[-1]}",
        )
        for name, known in _KNOWN.items()
    ),
    _data_set(OTHER, "the card of each file", "TLB-Test-*.csv", "cycles an access of a chase"),
)
