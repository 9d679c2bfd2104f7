"""Error and power of the two tests of a comparison, next to t, Wilcoxon's test and the sign test that counts ties.

`python -m benchmarks.statistics.error_and_power` writes `data/statistics.csv`, one row a cell, and prints the tables of
docs/statistics.md and how many cells are above 5 % by more than chance. The tests of the pair are the twin in `pair`.
"""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import special

from benchmarks.statistics import independence, tables
from benchmarks.statistics.pair import ALPHA, PairOfTests, Seen, at_look, at_plan, every, on_side, rejected, some
from benchmarks.statistics.rivals import coded, sign_p, student_p, wilcoxon_p
from benchmarks.statistics.worlds import BOTH_WORLDS, SIZE_WORLDS, SKEWED, TIED_GAIN, WORLDS, moved, tied_gain

FILE = Path("data/statistics.csv")
STUDIES = 10_000
STEP = 10
SEEDS, FAMILIES = (10, 20, 40, 100, 200), (1, 10, 30, 100)
POWER_SEEDS, EFFECTS = (10, 20, 40, 50, 100, 200), (0.5, 1.0)
FEW_SEEDS = range(11, 20)
"""Where Holm's method asks t for the smallest p that it may give."""
PLANNED, LOOKS = 40, tuple(range(10, 101, 10))
PARTS = (3, 10)
COVERED = {"lognormal": "normal", "log-uniform": "uniform", "log-t3": "t3"}
"""Laws of ratios, and the worlds of their logs."""
ALL_LOOKS, ALL_COUNTS = "10, 20 ... 100", sorted({*SEEDS, *LOOKS, *POWER_SEEDS})
_Counts = dict[tuple[str, str, int], dict[str, int]]
"""Per table or case, seeds and family: per kind the studies in which it spoke."""
_Sides = dict[int, dict[int, tuple[np.ndarray, np.ndarray]]]
CHUNK = 1_000_000
"""Values that are drawn at once, at most."""


class Cell(NamedTuple):
    """One row of the file."""

    table: str
    """error, few seeds, looks, joiners, power, power at looks or coverage."""
    world: str
    centre: str
    """What is 0 where there is no effect: "median" (as many differing seeds gain as lose) or "mean"."""
    case: str
    """Of joiners: the effect of the first part and of the others; of power: the effect; in standard deviations."""
    seeds: str
    """Their number; or the looks, the plan being 40 seeds."""
    family: int
    """Comparisons, or parts of a claim."""
    studies: int
    happened: dict[str, int]
    """Per kind of word, test or joiner, the studies in which it spoke."""
    judged: tuple[str, ...] = ()
    """The kinds that the bar of 5 % is about."""

    def rate(self, kind: str) -> float:
        """Return the share of studies in which a kind spoke."""
        return self.happened[kind] / self.studies


def seen_over(values: np.ndarray, counts: Iterable[int] = LOOKS) -> dict[int, Seen]:
    """Return comparisons at their first seeds, for several counts, all multiples of 10; seeds are the first axis."""
    finite = np.isfinite(values)
    filled = values if finite.all() else np.where(finite, values, 0.0)
    blocks = filled.reshape(-1, STEP, *values.shape[1:])
    sums, squares = blocks.sum(axis=1).cumsum(axis=0), np.square(blocks).sum(axis=1).cumsum(axis=0)
    highs = np.maximum.accumulate(blocks.max(axis=1), axis=0)
    lows = np.minimum.accumulate(blocks.min(axis=1), axis=0)
    sized = np.logical_and.accumulate(finite.reshape(blocks.shape).all(axis=1), axis=0)
    signs = values.reshape(blocks.shape)
    wins, losses = (side.sum(axis=1, dtype=np.int64).cumsum(axis=0) for side in (signs > 0, signs < 0))
    result = {}
    for count in counts:
        k = count // STEP - 1
        mean = sums[k] / count
        variance = np.maximum(squares[k] - count * mean**2, 0.0) / (count - 1)
        spread = np.where(highs[k] > lows[k], np.sqrt(variance), 0.0)
        result[count] = Seen(np.full(mean.shape, count), mean, spread, wins[k], losses[k], sized[k])
    return result


def _chunks(studies: int, of_one: int, *key: object) -> Iterator[tuple[np.random.Generator, int]]:
    """Yield generators of random numbers, and how many studies to draw with each."""
    size = max(1, min(studies, CHUNK // of_one))
    for first in range(0, studies, size):
        yield np.random.default_rng([*" ".join(map(str, key)).encode(), first]), min(size, studies - first)


def _count(counts: _Counts, key: tuple[str, str, int], spoke: Mapping[str, np.ndarray]) -> None:
    """Add the studies in which each kind spoke."""
    cell = counts.setdefault(key, {})
    for kind, studies in spoke.items():
        cell[kind] = cell.get(kind, 0) + int(studies.sum())


def errors(world: str, centre: str, studies: int) -> Iterator[Cell]:
    """Yield how often words are earned in a world without effects: at one look, and at any of ten looks."""
    law, largest = WORLDS[world], max(FAMILIES)
    counts: _Counts = {}
    for draws, some_studies in _chunks(studies, largest * max(SEEDS), "error", world, centre):
        values = law.draw(draws, (max(SEEDS), some_studies, largest))
        if centre == "mean":
            values = values - law.mean
        seen, codes = seen_over(values, ALL_COUNTS), coded(values)
        planned = {count: at_plan(seen[count]) for count in SEEDS}
        rivals = {count: {"t": student_p(one), "sign": sign_p(one)} for count, one in seen.items()}
        for count in SEEDS:
            both = at_look(seen[count], planned[count])
            wilcoxon = {"wilcoxon": wilcoxon_p(codes[..., :count], seen[count])}
            for family in FAMILIES:
                spoke = _words(both, family) | _least(rivals[count] | wilcoxon, family)
                _count(counts, ("error", str(count), family), spoke)
        at_looks = {look: at_look(seen[look], planned[PLANNED] if look >= PLANNED else None) for look in LOOKS}
        for family in FAMILIES:
            spoke = _ever(_words(at_looks[look], family) | _least(rivals[look], family) for look in LOOKS)
            _count(counts, ("looks", ALL_LOOKS, family), spoke)
    judged = ["any"] * (world in BOTH_WORLDS) + ["direction"] * (centre == "median") + ["size"] * (world in SIZE_WORLDS)
    for (table, seeds, family), happened in counts.items():
        yield Cell(table, world, centre, "", seeds, family, studies, happened, tuple(judged))


def few_seeds(world: str, studies: int) -> Iterator[Cell]:
    """Yield how often words are earned without effects at each number of seeds between 10 and 20."""
    largest = max(FAMILIES)
    counts: _Counts = {}
    for count in FEW_SEEDS:
        for draws, some_studies in _chunks(studies, largest * count, "few seeds", world, count):
            values = WORLDS[world].draw(draws, (count, some_studies, largest))
            wins = (values > 0).sum(axis=0)
            pairs, sized = np.full(wins.shape, count), np.ones(wins.shape, bool)
            seen = Seen(pairs, values.mean(axis=0), values.std(axis=0, ddof=1), wins, count - wins, sized)
            both = at_look(seen, at_plan(seen))
            for family in FAMILIES:
                _count(counts, ("few seeds", str(count), family), _words(both, family))
    for (table, seeds, family), happened in counts.items():
        yield Cell(table, world, "mean", "", seeds, family, studies, happened, ("any", "direction", "size"))


def _ever(looks: Iterable[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the studies in which each kind spoke at any look."""
    kept = list(looks)
    return {kind: np.any([one[kind] for one in kept], axis=0) for kind in kept[0]}


def _words(both: PairOfTests, family: int) -> dict[str, np.ndarray]:
    """Return the studies with any word, with a sure one, with a direction word and with a size word."""
    sure = rejected(np.concatenate([both.size[:, :family], both.direction[:, :family]], axis=1))
    size, direction = sure[:, :family], sure[:, family:]
    together = size & direction & (both.size_side == both.direction_side)[:, :family]
    kinds = {"any": size | direction, "sure": together, "direction": direction, "size": size}
    return {kind: which.any(axis=1) for kind, which in kinds.items()}


def _least(p: Mapping[str, np.ndarray], family: int) -> dict[str, np.ndarray]:
    """Return the studies in which each rival rejects anything after Holm over the comparisons."""
    return {test: values[:, :family].min(axis=1) * family < ALPHA for test, values in p.items()}


def joiners(world: str, studies: int) -> Iterator[Cell]:
    """Yield how often claims of several parts are called for and against, where the truth of every part is known."""
    law, most = WORLDS[world], max(PARTS)
    counts: _Counts = {}
    wrong: dict[str, tuple[str, ...]] = {}
    for draws, some_studies in _chunks(studies, most * max(SEEDS), "joiners", world):
        values = law.draw(draws, (max(SEEDS), some_studies, most))
        one_look: _Sides = {}
        ten_looks: _Sides = {}
        for effect in (-1, 0, 1):
            seen = seen_over(moved(law, values, effect), ALL_COUNTS)
            planned = {count: at_plan(seen[count]) for count in SEEDS}
            one_look[effect] = {count: _sides(at_look(seen[count], planned[count])) for count in SEEDS}
            ten_looks[effect] = {
                look: _sides(at_look(seen[look], planned[PLANNED] if look >= PLANNED else None)) for look in LOOKS
            }
        for parts, first, others in itertools.product(PARTS, one_look, one_look):
            case = f"first part {first:+d} sd, others {others:+d} sd"
            wrong[case] = tuple(false_kinds(first, others))
            for count in SEEDS:
                spoke = _joined(one_look[first][count], one_look[others][count], parts)
                _count(counts, (case, str(count), parts), spoke)
            spoke = _ever(_joined(ten_looks[first][look], ten_looks[others][look], parts) for look in LOOKS)
            _count(counts, (case, ALL_LOOKS, parts), spoke)
    for (case, seeds, parts), happened in counts.items():
        yield Cell("joiners", world, "median", case, seeds, parts, studies, happened, wrong[case])


def false_kinds(first: int, others: int) -> Iterator[str]:
    """Yield the verdicts that are false where the effects of the first part and of the other parts have these signs."""
    effects = (first, others)
    if min(effects) <= 0:
        yield "every for"
    if min(effects) >= 0:
        yield "every against"
    if max(effects) <= 0:
        yield "some for"
    if max(effects) >= 0:
        yield "some against"


def _sides(both: PairOfTests) -> tuple[np.ndarray, np.ndarray]:
    """Return the p-values for and against "better"."""
    return on_side(both, 1), on_side(both, -1)


def _joined(
    first: tuple[np.ndarray, np.ndarray], others: tuple[np.ndarray, np.ndarray], parts: int
) -> dict[str, np.ndarray]:
    """Return the studies in which each joiner is called for and against."""
    of_all = [np.concatenate([a[:, :1], b[:, 1:parts]], axis=1) for a, b in zip(first, others, strict=True)]
    every_for, every_against = every(*of_all)
    some_for, some_against = some(*of_all)
    p = {"every for": every_for, "every against": every_against, "some for": some_for, "some against": some_against}
    return {kind: value < ALPHA for kind, value in p.items()}


def powers(world: str, studies: int) -> Iterator[Cell]:
    """Yield how often one comparison with an effect earns a word, the others of its family earning none.

    All seeds are planned, and there is one look; in the table "power at looks", `PLANNED` seeds are.
    """
    law = WORLDS.get(world)
    for effect in EFFECTS if law else (0.0,):
        counts: _Counts = {}
        for draws, some_studies in _chunks(studies, max(POWER_SEEDS), "power", world, effect):
            size = (max(POWER_SEEDS), some_studies, 1)
            values = moved(law, law.draw(draws, size), effect) if law else tied_gain(draws, size)
            seen, codes = seen_over(values, ALL_COUNTS), coded(values)
            planned = {count: at_plan(seen[count]) for count in POWER_SEEDS}
            for count, family in itertools.product(POWER_SEEDS, FAMILIES):
                words = _gains(at_look(seen[count], planned[count]), family)
                rivals = _rival_gains(seen[count], wilcoxon_p(codes[..., :count], seen[count]), family)
                _count(counts, ("power", str(count), family), words | rivals)
            for look, family in itertools.product(LOOKS, FAMILIES[:2]):
                both = at_look(seen[look], planned[PLANNED] if look >= PLANNED else None)
                _count(counts, ("power at looks", str(look), family), _gains(both, family))
        case = f"{effect:+g} sd" if law else ""
        for (table, seeds, family), happened in counts.items():
            yield Cell(table, world, "median", case, seeds, family, studies, happened)


def _gains(both: PairOfTests, family: int) -> dict[str, np.ndarray]:
    """Return the studies in which words tell the gain. Losses do not count."""
    size = np.where(both.size_side > 0, both.size, 1.0)
    direction = np.where(both.direction_side > 0, both.direction, 1.0)
    any_word = np.minimum(size, direction) * 2 * family < ALPHA
    return {"any": any_word, "sure": any_word & (np.maximum(size, direction) * (2 * family - 1) < ALPHA)}


def _rival_gains(seen: Seen, wilcoxon: np.ndarray, family: int) -> dict[str, np.ndarray]:
    """Return the studies in which the rivals tell the gain."""
    most = seen.wins > seen.losses
    return {
        "t": (student_p(seen) * family < ALPHA) & (seen.mean > 0),
        "wilcoxon": (wilcoxon * family < ALPHA) & most,
        "sign": (sign_p(seen) * family < ALPHA) & most,
    }


def coverages(studies: int) -> Iterator[Cell]:
    """Yield how often the 95 % interval of the geometric mean of the ratios holds the truth."""
    for law, world in COVERED.items():
        logs = WORLDS[world].draw(np.random.default_rng([*law.encode()]), (max(POWER_SEEDS), studies, 1))
        baseline, other = 100 * np.exp(logs / 4), np.full(logs.shape, 100.0)
        for count, seen in seen_over(np.log(baseline / other), POWER_SEEDS).items():
            reach = special.stdtrit(count - 1, 0.975) * seen.spread / np.sqrt(count)
            held = {"held": int((np.abs(seen.mean) <= reach).sum())}
            yield Cell("coverage", law, "mean", "", str(count), 1, studies, held)


def above_chance(cells: Sequence[Cell]) -> dict[int, list[str]]:
    """Return, per index of a cell, its judged kinds that are above 5 % by more than chance.

    Each is tested by the exact one-sided binomial test; Holm's method corrects over all judged kinds of all cells.
    """
    judged = [(k, kind) for k, cell in enumerate(cells) for kind in cell.judged]
    p = np.array([special.bdtrc(cells[k].happened[kind] - 1, cells[k].studies, ALPHA) for k, kind in judged])
    p[[cells[k].happened[kind] == 0 for k, kind in judged]] = 1.0
    result: dict[int, list[str]] = {}
    for (k, kind), above in zip(judged, rejected(p), strict=True):
        result.setdefault(k, []).extend([kind] * bool(above))
    return result


KINDS = (
    *("any", "sure", "direction", "size", "t", "wilcoxon", "sign"),
    *("every for", "every against", "some for", "some against", "held"),
)
COLUMNS = (
    *("table", "world", "centre", "case", "seeds", "family", "studies", *KINDS, "judged", "above 5 %"),
    *("statistic", "p", "p after Holm"),
)


def rows(cells: Sequence[Cell]) -> Iterator[dict[str, str]]:
    """Yield the rows of the file."""
    above = above_chance(cells)
    for k, cell in enumerate(cells):
        rates = {kind: f"{cell.rate(kind):.5g}" for kind in cell.happened}
        ends = {"judged": "; ".join(cell.judged), "above 5 %": "; ".join(above.get(k, []))}
        yield dict.fromkeys(COLUMNS, "") | dict(zip(COLUMNS, map(str, cell[:7]), strict=False)) | rates | ends


def simulated(studies: int) -> Iterator[Cell]:
    """Yield all cells."""
    for world in WORLDS:
        yield from errors(world, "median", studies)
    for world in SKEWED:
        yield from errors(world, "mean", studies)
    for world in SIZE_WORLDS:
        yield from few_seeds(world, studies)
    for world in WORLDS:
        yield from joiners(world, studies)
    for world in (*WORLDS, TIED_GAIN):
        yield from powers(world, studies)
    yield from coverages(studies)


def main(studies: int) -> None:
    """Write the file and print the tables."""
    cells = list(simulated(studies))
    with FILE.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows(cells))
        table.writerows(row | {"table": "independence"} for row in independence.rows())
    print("\n\n".join(tables.all_of(FILE)))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
