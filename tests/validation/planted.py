"""A data set of a card that does not exist, for tests of the table, the figure and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workbench.errors import InputError
from workbench.validation.data_set import Curve, DataSet, Result, Source, percent_error, r_squared


def extract(files: Sequence[Path]) -> pd.DataFrame:
    table = pd.read_csv(files[0])
    if "ms" not in table:
        raise InputError(f"{files[0]}: must have a column ms.")
    return table


def fit(facts: pd.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    first = facts.iloc[0]
    return {"linear": {"ms_each": float(first["ms"] / first["groups"])}, "constant": {"ms": float(first["ms"])}}


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> Sequence[Result]:
    x, measured = facts["groups"].to_numpy(float), facts["ms"].to_numpy(float)
    judged = np.arange(len(x)) > 0
    laws = {"linear": levers["linear"]["ms_each"] * x, "constant": np.full(len(x), levers["constant"]["ms"])}
    rival = np.full(len(x), measured[judged].mean())
    return [
        Result(
            law,
            levers[law],
            int(judged.sum()),
            percent_error(measured[judged], predicted[judged]),
            "%",
            r_squared(measured[judged], predicted[judged]),
            "the mean",
            percent_error(measured[judged], rival[judged]),
            "confirmed" if percent_error(measured[judged], predicted[judged]) < 5 else "refuted",
            "at most 5 %",
            [Curve("all points", "groups", "time (ms)", x, measured, predicted, rival, judged)],
        )
        for law, predicted in laws.items()
    ]


SET = DataSet(
    "planted",
    "dispatch",
    "no card",
    "time of groups",
    [Source("nobody/nothing", "0123456", "times.csv", "MIT")],
    ["planted_*.csv"],
    extract,
    fit,
    judge,
)
FACTS = pd.DataFrame({"groups": [1, 2, 4, 8], "ms": [2.0, 4.0, 8.1, 16.0]})
