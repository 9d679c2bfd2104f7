"""Power of a card while one kernel runs over and over, from what the kernel executes: the model `class_power`.

The counters of a kernel give three kinds of operations. A load is a sector read through the first-level cache, or an
access of shared or constant memory; a store is a sector written. Everything else that the pipelines do is a move: the
duty of the pipelines is taken for one move a cycle of each unit that works. Each kind has an energy, and a unit an idle
power. Matrix operations have no counter of their own, and memory beyond the unit is no part of the model.

In the order of their names every second kernel is fitted, from the first on; the others are judged. There is no bar:
the verdict compares the model with the mean power of the fitted kernels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import nnls

from workbench.errors import InputError
from workbench.machine.power import CLASSES, ClassPower
from workbench.units import watts
from workbench.validation.data_set import (
    NO_BAR,
    Curve,
    DataSet,
    Result,
    Source,
    Verdict,
    csv_rows,
    percent_error,
    r_squared,
)
from workbench.validation.dispatch_runs import machine_of

if TYPE_CHECKING:
    import pandas as pd

LAW = "class_power"
_CARDS = {"volta": "V100"}
"""Cards by the last word of the name of a file of watts."""
_KINDS = {"move": 0, "load": 1, "store": 2}
"""The place of each counted kind among the classes of the model."""
_READS = ("L1_RH", "L1_RM", "CC_ACC", "SHRD_ACC")
_WRITES = ("L1_WH", "L1_WM")
_COUNTERS = ("Benchmark", *_READS, *_WRITES, "Pipeline_Duty", "Num_Idle_SMs", "Elapsed_Cycles")
_MOST_FIGURE = 1e18
"""Of a counter or of watts: more than any run has."""
_OTHER_NAMES = {"cutlassperftest": "cutlass"}
"""Programs whose two files name them differently."""


# Facts ---------------------------------------------------------------------------------------------------------------


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row a kernel and card: watts, and operations a cycle of the whole card; NaN without counters."""
    import pandas as pd

    perf = {path.parent: path for path in files if path.name == "hw_perf.csv"}
    rows = []
    for path in files:
        if path.name == "hw_perf.csv":
            continue
        if path.parent not in perf:
            raise InputError(f"{path}: needs the counters of the same kernels, hw_perf.csv in the same folder.")
        word = path.stem.rpartition("_")[2]
        card = _CARDS.get(word, word)
        counters = _counters(perf[path.parent], machine_of(card, str(path)).compute_units)
        nothing = dict.fromkeys(_KINDS, float("nan"))
        rows += [
            {"card": card, "kernel": kernel, "watts": power, **counters.get(_plain(kernel), nothing)}
            for kernel, power in _powers(path).items()
        ]
    if not rows:
        raise InputError(f"{files[0]}: needs the watts of the same kernels, hw_power_validation_CARD.csv.")
    facts = pd.DataFrame(rows).sort_values(["card", "kernel"], ignore_index=True)
    return facts.round({"watts": 3, **dict.fromkeys(_KINDS, 4)})


def _powers(path: Path) -> dict[str, float]:
    rows = csv_rows(path)
    first, *others = rows[0]
    column = next((name for name in others if "HW_power" in str(name)), None)
    if column is None:
        raise InputError(f"{path}: must be a table with a column 'mean HW_power'.")
    return {str(row[first]): _figure(path, row, column, above_zero=True) for row in rows}


def _figure(path: Path, row: Mapping[str, str], column: str, above_zero: bool = False) -> float:
    try:
        value = float(row[column] or "")
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value < _MOST_FIGURE or (above_zero and value == 0):
        least = "above 0" if above_zero else "0 at least"
        raise InputError(f"{path}: {column} must be a number {least} in every row. Got {row[column]!r}.")
    return value


def _counters(path: Path, units: int) -> dict[str, dict[str, float]]:
    """Return the operations a cycle of each kernel, by its plain name; the rows of a program are k1, k2, ..."""
    rows = csv_rows(path)
    if lacking := [name for name in _COUNTERS if name not in rows[0]]:
        raise InputError(f"{path}: must be a table with the column {lacking[0]}.")
    counted: dict[str, dict[str, float]] = {}
    seen: dict[str, int] = {}
    for row in rows:
        program = str(row["Benchmark"])
        seen[program] = seen.get(program, 0) + 1
        name = program if re.search(r"_k\d+$", program) else f"{program}_k{seen[program]}"
        values = {key: _figure(path, row, key, key == "Elapsed_Cycles") for key in _COUNTERS[1:]}
        cycles = values["Elapsed_Cycles"]
        counted[_plain(name)] = {
            "move": values["Pipeline_Duty"] * max(units - values["Num_Idle_SMs"], 0.0),
            "load": sum(values[key] for key in _READS) / cycles,
            "store": sum(values[key] for key in _WRITES) / cycles,
        }
    return counted


def _plain(name: str) -> str:
    """Return the name of a kernel as both files have it.

    >>> _plain("b+tree-rodinia-3.1_k2"), _plain("cutlass_perf_test_k1"), _plain("parboil-mri-q_k1")
    ('btree_k2', 'cutlass_k1', 'parboilmriq_k1')
    """
    program, _, number = name.lower().replace("-rodinia-3.1", "").rpartition("_")
    plain = re.sub(r"[^a-z0-9]", "", program)
    return f"{_OTHER_NAMES.get(plain, plain)}_{number}"


# The law -------------------------------------------------------------------------------------------------------------


def _fitted(rows: pd.DataFrame) -> np.ndarray:
    """Return the rows of a card that are fitted: bool[rows], every second kernel in the order of the names."""
    return np.asarray(rows["kernel"].rank(method="first").to_numpy() % 2 == 1)


def fit(facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return, for each card, the energies of the counted kinds and the idle power: least squares of relative errors."""
    levers: dict[str, Any] = {}
    for card, rows in facts.groupby("card", sort=True):
        rows = rows[_fitted(rows) & rows["move"].notna()]
        if rows.empty:
            raise InputError(f"kernel_power: {card} has no kernel with watts and counters that can be fitted.")
        machine = machine_of(str(card), "kernel_power")
        measured = rows["watts"].to_numpy(float)
        idle = np.full(len(rows), float(machine.compute_units))
        columns = [idle, *(watts(rows[kind].to_numpy(float), machine.clock_mhz) for kind in _KINDS)]
        values = nnls(np.stack(columns, axis=1) / measured[:, None], np.ones(len(rows)))[0].tolist()
        names = ("idle_watts", *(f"instr_{kind}_pj" for kind in _KINDS))
        levers[str(card)] = {name: round(value, 3) for name, value in zip(names, values, strict=True)}
    return {LAW: levers}


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return one result a card."""
    return [_result(str(card), rows, levers[LAW][str(card)]) for card, rows in facts.groupby("card", sort=True)]


def _predicted(card: str, rows: pd.DataFrame, levers: Mapping[str, float]) -> np.ndarray:
    """Return the watts of a card by the model, its units working evenly."""
    machine = machine_of(card, "kernel_power")
    uncounted = {f"instr_{kind}_pj": 0.0 for kind in ("matrix", "compare", "jump")}
    rates = np.zeros((len(rows), CLASSES))
    for kind, place in _KINDS.items():
        rates[:, place] = rows[kind].to_numpy(float) / machine.compute_units
    return machine.compute_units * ClassPower(**uncounted, **levers).watts(rates, machine.clock_mhz)


def _result(card: str, rows: pd.DataFrame, levers: Mapping[str, float]) -> Result:
    measured, fitted, counted = rows["watts"].to_numpy(float), _fitted(rows), rows["move"].notna().to_numpy(bool)
    predicted = _predicted(card, rows, levers)
    mean = np.full(len(rows), float(measured[fitted & counted].mean()))
    judged = ~fitted & counted
    error = other = float("nan")
    if judged.any():
        error, other = (percent_error(measured[judged], each[judged]) for each in (predicted, mean))
    verdict: Verdict = "confirmed" if error < other else "refuted"
    lacking = ", ".join(rows["kernel"][~counted])
    return Result(
        law=f"{LAW}, {card}",
        fitted=levers,
        points=int(judged.sum()),
        error=error,
        unit="%",
        r2=r_squared(measured[judged], predicted[judged]) if judged.any() else float("nan"),
        rival="the mean of the fitted kernels",
        rival_error=other,
        verdict=verdict if judged.any() else "not tested",
        bar=f"{NO_BAR}; mean error below that of the mean of the fitted kernels",
        curves=[
            Curve(
                card,
                "kernel, by name",
                "power (W)",
                np.arange(len(rows), dtype=float),
                measured,
                predicted,
                mean,
                judged,
                joined=False,
                names=rows["kernel"].tolist(),
                neither=~counted,
            )
        ],
        note=f"Without counters, so in neither half: {lacking}." if lacking else "",
    )


SETS = (
    DataSet(
        name="kernel_power",
        engine="dispatch",
        card="V100",
        measures="power of a card that runs one kernel",
        sources=(
            Source(
                "accel-sim/accel-sim-framework",
                "2260456ea5e6",
                "util/accelwattch/accelwattch_hw_profiler/{hw_power_validation_volta,hw_perf}.csv",
                "BSD-2-Clause",
            ),
        ),
        files=("hw_power_validation_*.csv", "hw_perf.csv"),
        extract=extract,
        fit=fit,
        judge=judge,
    ),
)
