"""n-body on a card: the time of one kernel by its particles, where two or more workgroups share a unit.

A workgroup has 256 particles, and each particle visits all others, so the work of a group is proportional to the
particles. Its figure, microseconds a particle, comes from the largest point at which no unit has two groups. The slope
of the law `shared_rate` comes from the largest point of all. The other points at which some unit has two groups or more
are judged. Points with one group a unit are neither fitted nor judged, the largest excepted.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import workgroups_for
from workbench.validation.data_set import MOST_GROUPS, Curve, DataSet, Result, Source, Verdict, percent_error
from workbench.validation.dispatch_runs import Kernel, machine_of, run_kernels, spans

if TYPE_CHECKING:
    import pandas as pd

BAR_PERCENT = 8.0
GROUP = 256
"""Particles of a workgroup, one a thread."""
LAWS = ("constant", "shared_rate")
_CYCLES = 1000
"""A microsecond; a cycle is a nanosecond."""
_COLUMNS = {"problem_size", "min_ms"}
_SIMULATED = ("sim_results_", "comparison_")
"""Beginnings of the names of tables of simulated times, which lie in the same folder."""


# Facts ---------------------------------------------------------------------------------------------------------------


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row a card and number of particles, with the least time of the kernel; others are left out.

    Files of other tables in the folder of the scripts give no row.
    """
    import pandas as pd

    rows = [row for path in files for row in _points(path)]
    facts = pd.DataFrame(rows, columns=["card", "units", "particles", "min_ms"])
    return facts.sort_values(["card", "particles"]).drop_duplicates(["card", "particles"]).reset_index(drop=True)


def _points(path: Path) -> list[tuple[str, int, int, float]]:
    if path.name.startswith(_SIMULATED):
        return []
    lines = [line for line in path.read_text(errors="replace").splitlines() if line and not line.startswith("#")]
    table = csv.DictReader(lines)
    names = set(table.fieldnames or ())
    if not names >= _COLUMNS:
        raise InputError(f"{path}: must be a table with the columns problem_size and min_ms. Got {sorted(names)}.")
    rows = [row for row in table if row.get("kernel_name", "nbody") == "nbody"]
    if not rows:
        return []
    card = path.stem.removeprefix("nbody_")
    units = machine_of(card, str(path)).compute_units
    points = []
    for row in rows:
        particles = str(row["problem_size"]).removesuffix("_particles")
        try:
            points.append((card, units, int(particles), float(row["min_ms"])))
        except (TypeError, ValueError):
            raise InputError(
                f"{path}: a point must be NUMBER_particles and milliseconds. Got {row['problem_size']!r}, "
                f"{row['min_ms']!r}."
            ) from None
        if not 1 <= points[-1][2] <= GROUP * MOST_GROUPS or not 0 < points[-1][3] < float("inf"):
            raise InputError(
                f"{path}: {row['problem_size']}: milliseconds must be above 0, particles 1 to {GROUP * MOST_GROUPS}."
            )
    return points


# Laws ----------------------------------------------------------------------------------------------------------------


class _Points(NamedTuple):
    """The points of one card, by their part."""

    card: str
    units: int
    particles: np.ndarray
    """int64[points], in ascending order."""
    measured: np.ndarray
    """float64[points], microseconds."""
    alone: int
    """The place of the largest point with one group a unit, which gives the work of a particle."""
    largest: int
    """The place of the largest point, which gives the slope; that of `alone` where no point has two groups a unit."""

    @property
    def judged(self) -> np.ndarray:
        """Return the points that are judged: bool[points]."""
        judged = np.asarray(self.particles > GROUP * self.units)
        judged[self.largest] = False
        return judged


def _cards(facts: pd.DataFrame) -> list[_Points]:
    cards = []
    for card, points in facts.groupby("card", sort=True):
        points = points.sort_values("particles")
        particles, units = points["particles"].to_numpy(np.int64), int(points["units"].iloc[0])
        alone = int(np.count_nonzero(particles <= GROUP * units)) - 1
        if alone < 0:
            raise InputError(f"nbody: {card} needs a point of at most {GROUP * units} particles, one group a unit.")
        measured = 1000 * points["min_ms"].to_numpy(float)
        cards.append(_Points(str(card), units, particles, measured, alone, len(particles) - 1))
    return cards


def fit(facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return, for each card, the work of a particle and the slope that reproduces the largest point."""
    levers: dict[str, dict[str, Any]] = {law: {} for law in LAWS}
    for card in _cards(facts):
        work = {"us_a_particle": round(float(card.measured[card.alone] / card.particles[card.alone]), 6)}
        # all groups start at once, so that the time is linear in the slope
        free, linear = (_time(card, card.largest, {**work, "slope": slope}) for slope in (0.0, 1.0))
        slope = (card.measured[card.largest] - free) / (linear - free) if linear > free else 0.0
        levers["constant"][card.card] = work
        levers["shared_rate"][card.card] = {**work, "slope": round(max(float(slope), 0.0), 4)}
    return levers


def _time(card: _Points, point: int, figures: Mapping[str, float]) -> float:
    """Return the time of the kernel that the engine tells, in microseconds."""
    particles = int(card.particles[point])
    work = round(figures["us_a_particle"] * particles * _CYCLES)
    kernels = [Kernel(np.full(workgroups_for(particles, GROUP), max(work, 1)), GROUP)]
    slope = figures.get("slope", 0.0)
    progress = {"shared_rate": {"law": {"linear": {"slope": slope}}}} if slope else "constant"
    return spans(run_kernels(machine_of(card.card, "nbody"), kernels, progress=progress), kernels)[0].end / _CYCLES


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return both laws of each card, compared with a straight line through the two fitted points."""
    return [_result(card, law, levers[law][card.card]) for card in _cards(facts) for law in LAWS]


def _result(card: _Points, law: str, figures: Mapping[str, Any]) -> Result:
    judged, fitted = card.judged, [card.alone, card.largest]
    drawn = np.arange(len(card.particles)) >= card.alone
    predicted = np.full(len(card.particles), np.nan)
    predicted[drawn] = [_time(card, point, figures) for point in range(card.alone, len(drawn))]
    line = np.full(len(card.particles), np.nan)
    if card.alone != card.largest:
        line = np.polyval(np.polyfit(card.particles[fitted], card.measured[fitted], 1), card.particles)
    error = other = worst = float("nan")
    if judged.any():
        error, other = (percent_error(card.measured[judged], each[judged]) for each in (predicted, line))
        worst = 100 * float(np.max(np.abs(predicted[judged] / card.measured[judged] - 1)))
    verdict: Verdict = "confirmed" if worst <= BAR_PERCENT and error <= other else "refuted"
    return Result(
        law=f"{law}, {card.card}",
        fitted=figures,
        points=int(judged.sum()),
        error=error,
        unit="%",
        r2=float("nan"),
        rival="a straight line through the fitted points",
        rival_error=other,
        verdict=verdict if judged.any() else "not tested",
        bar=f"each judged point within {BAR_PERCENT:g} %, and on average not worse than the straight line",
        curves=[
            Curve(
                card.card,
                "particles",
                "time (ms)",
                card.particles[drawn].astype(float),
                card.measured[drawn] / 1000,
                predicted[drawn] / 1000,
                line[drawn] / 1000,
                judged[drawn],
            )
        ],
        note=f"The worst judged point is {worst:.1f} % off."
        if judged.any()
        else "No other point has two groups a unit.",
    )


SETS = (
    DataSet(
        name="nbody",
        engine="dispatch",
        card="MI300A",
        measures="time of a kernel with two and three groups a unit",
        sources=(Source("sarchlab/mgpusim", "d01e70d5632a", "gpu_perf_scripts/mi300a.csv, nbody", "MIT"),),
        files=("gpu_perf_scripts/*.csv", "nbody_*.csv"),
        extract=extract,
        fit=fit,
        judge=judge,
    ),
)
