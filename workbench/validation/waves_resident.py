"""Mean waves resident on a card whose workgroups need all the shared memory (LDS) of a unit; nothing is fitted.

The program is a matrix-vector product of AMD's training examples, in three variants: 64 KiB of LDS a group, 2 KiB, and
none. Its 2,048 groups of 64 threads have 32,768 rows to share, so that the first 512 groups have a row a thread and the
others none. A group of the first kind does 32,768 iterations; every group fills its LDS first, 64 doubles an iteration.
An iteration counts as a cycle, whichever of the two loops it is of: the mean does not depend on the clock.

The variant with 64 KiB is judged. In the other two all groups with rows are resident at once. Their mean depends on
how unequal the memory makes them, which is no part of the model. They are in the figure and in the note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError
from workbench.machine.occupancy import occupancy_of
from workbench.validation.data_set import Curve, DataSet, Result, Source, Verdict, percent_error
from workbench.validation.dispatch_runs import Kernel, machine_of, run_kernels

if TYPE_CHECKING:
    import pandas as pd

BAR_PERCENT = 5.0
GROUPS, THREADS, ROWS = 2048, 64, 32_768
VARIANTS = {"problem": 65_536, "solution-no-lds": 0, "solution": 2048}
"""Bytes of LDS a group of each variant, by the folder of its program, in the order of the README."""
JUDGED = "problem"
_BYTES_OF_A_NUMBER = 8
_CARD = re.compile(r"(?:^#+ Results on|\bsystems? with) (MI\d+[A-Z]?)s?\b", re.MULTILINE)
_FOLDER = re.compile(r"^cd (?:\.\./)?(solution[\w-]*)", re.MULTILINE)
_WAVES = re.compile(r"Wave(?:front)? Occupancy\s*│\s*([\d.]+)\s*│\s*Wavefronts\s*│\s*([\d.]+)")


# Facts ---------------------------------------------------------------------------------------------------------------


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row a card, variant and version of the README: the mean waves and the wave slots of the card."""
    import pandas as pd

    rows = [row for path in files for row in _measured(path)]
    if not rows:
        raise InputError(f"{files[0]}: holds no row 'Wavefront Occupancy' of rocprof-compute.")
    return pd.DataFrame(rows, columns=["card", "variant", "readme", "waves", "slots"]).sort_values(
        ["card", "variant", "readme"], ignore_index=True
    )


def _measured(path: Path) -> list[tuple[str, str, str, float, float]]:
    """Return the rows of a README, each under the card and the folder that stand before it."""
    text = path.read_text(errors="replace")
    marks = sorted(
        (match.start(), kind, match)
        for kind, pattern in (("card", _CARD), ("folder", _FOLDER), ("waves", _WAVES))
        for match in pattern.finditer(text)
    )
    card, variant, rows = "", JUDGED, []
    for _, kind, match in marks:
        if kind == "card" and match[1] != card:
            card, variant = match[1], JUDGED
        elif kind == "folder":
            variant = match[1]
        elif kind == "waves":
            if not card or variant not in VARIANTS:
                raise InputError(
                    f"{path}: a row 'Wavefront Occupancy' needs the card before it (such as 'on MI210') and one of "
                    f"the variants {', '.join(VARIANTS)}. Got {card or 'no card'}, {variant}."
                )
            version = "older" if "archive" in path.parts else "newer"
            rows.append((card, variant, version, float(match[1]), float(match[2])))
    return rows


# The law -------------------------------------------------------------------------------------------------------------


def fit(facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return nothing: no lever is fitted."""
    return {"occupancy": {}}


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return one result a card."""
    return [_result(str(card), rows) for card, rows in facts.groupby("card", sort=True)]


def mean_waves(card: str, variant: str) -> float:
    """Return the mean waves resident during the kernel, which the engine tells."""
    shared, work = VARIANTS[variant], np.zeros(GROUPS, np.int64)
    work[: ROWS // THREADS] = ROWS
    work += max(shared // _BYTES_OF_A_NUMBER // THREADS, 1)
    kernel = Kernel(work, THREADS, shared_bytes=shared)
    record = run_kernels(machine_of(card, "waves_resident"), [kernel])
    starts, ends = record.starts(), record.ends()
    return float(np.sum((ends - starts) * record.waves[record.group]) / (ends.max() - starts.min()))


def _always_full(card: str, variant: str) -> float:
    """Return the waves that all units hold at once."""
    machine = machine_of(card, "waves_resident")
    held = occupancy_of(machine, THREADS, shared_bytes=VARIANTS[variant]).waves * machine.compute_units
    return float(min(held, GROUPS))


def _result(card: str, rows: pd.DataFrame) -> Result:
    measured, judged = rows["waves"].to_numpy(float), (rows["variant"] == JUDGED).to_numpy(bool)
    predicted = np.array([mean_waves(card, variant) for variant in rows["variant"]])
    full = np.array([_always_full(card, variant) for variant in rows["variant"]])
    error = other = worst = float("nan")
    if judged.any():
        error, other = (percent_error(measured[judged], each[judged]) for each in (predicted, full))
        worst = 100 * float(np.max(np.abs(predicted[judged] / measured[judged] - 1)))
    met: Verdict = "confirmed" if worst <= BAR_PERCENT and error <= other else "refuted"
    others = [
        f"{variant} {ours:.0f} for {theirs:.0f}"
        for variant, ours, theirs, part in zip(rows["variant"], predicted, measured, judged, strict=True)
        if not part
    ]
    return Result(
        law=f"occupancy of the engine, {card}",
        fitted={},
        points=int(judged.sum()),
        error=error,
        unit="%",
        r2=float("nan"),
        rival="all units full all the time",
        rival_error=other,
        verdict=met if judged.any() else "not tested",
        bar=f"within {BAR_PERCENT:g} % where the LDS limits, and not worse than all units full",
        curves=[_curve(card, rows, measured, predicted, full)],
        note=f"Predicted for measured where the LDS does not limit: {', '.join(others)}." if others else "",
    )


def _curve(card: str, rows: pd.DataFrame, measured: np.ndarray, predicted: np.ndarray, full: np.ndarray) -> Curve:
    judged = (rows["variant"] == JUDGED).to_numpy(bool)
    order = np.argsort([VARIANTS[variant] for variant in rows["variant"]], kind="stable")
    names = [
        f"{VARIANTS[variant] // 1024} KiB, {readme}" for variant, readme in zip(rows.variant, rows.readme, strict=True)
    ]
    return Curve(
        card,
        "LDS a group, version of the README",
        "mean waves resident",
        np.arange(len(order), dtype=float),
        measured[order],
        predicted[order],
        full[order],
        judged[order],
        joined=False,
        names=[names[place] for place in order],
        line="occupancy of the engine",
        neither=~judged[order],
    )


SETS = (
    DataSet(
        name="waves_resident",
        engine="dispatch",
        card="MI210, MI300A",
        measures="mean waves resident where shared memory limits",
        sources=(
            Source(
                "amd/HPCTrainingExamples",
                "aaaa72d4dca9",
                "rocprof-compute/2-LDSOccupancyLimit/{README.md,archive/README-Omniperfv1-0-10.md}",
                "MIT",
            ),
        ),
        files=("2-LDSOccupancyLimit/README*.md", "2-LDSOccupancyLimit/archive/README*.md"),
        extract=extract,
        fit=fit,
        judge=judge,
    ),
)
