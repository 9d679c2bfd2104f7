"""The kept table of `data/validation/judged.csv` is what `workbench validate` gives."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from workbench.validation.table import rows
from workbench.validation.validate import data_sets, facts_of, levers_of, validate

KEPT = Path(__file__).parents[2] / "data" / "validation" / "judged.csv"


def kept_rows():
    with KEPT.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_data_set_with_facts_has_kept_rows_and_kept_levers():
    with_facts = [each.name for each in data_sets() if len(facts_of(each))]
    kept = kept_rows()
    assert {row["data set"] for row in kept} == {*with_facts}
    fitted = {row["data set"] for row in kept if row["fitted"]}
    assert fitted == {each.name for each in data_sets() if each.name in with_facts and any(levers_of(each).values())}


@pytest.mark.slow
def test_the_kept_table_is_what_the_command_gives():
    compared = rows(validate())
    kept = kept_rows()
    assert len(compared) == len(kept)
    for row, before in zip(compared, kept, strict=True):
        assert {name: str(value) for name, value in row.items() if not isinstance(value, float)} == {
            name: value for name, value in before.items() if not isinstance(row[name], float)
        }
        for name, value in row.items():
            if isinstance(value, float):
                assert float(before[name] or "nan") == pytest.approx(value, rel=1e-9, nan_ok=True), (row["law"], name)
