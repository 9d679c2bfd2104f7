"""Measures of a priority or a resource by name, from a sweep file to the paper."""

from __future__ import annotations

import json
import math
import re

import pytest

import workbench as wb
from tests.toy_engine import SWEEP, toy_engine
from workbench.errors import InputError
from workbench.experiments import schema
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms.measures import of_setup
from workbench.metrics.dispatch import MEASURES

PARTS = ["wait_p99_cycles[3]", "utilisation[vgpr]", "wait_p99_cycles[5]"]


@pytest.fixture(autouse=True)
def _toy():
    with toy_engine():
        yield


def results(**changed):
    return wb.run({**SWEEP, "measures": ["makespan_cycles", *PARTS], **changed}, workers=0)


def test_the_table_and_the_summary_have_them_and_what_a_run_lacks_is_nan():
    result = results(options={"levels": {"vary": [3, 5]}})
    table = result.table
    assert list(table.columns[-4:]) == ["makespan_cycles", *PARTS]
    few, many = table[table["options.levels"] == 3], table[table["options.levels"] == 5]
    assert few["wait_p99_cycles[3]"].notna().all() and many["wait_p99_cycles[5]"].notna().all()
    assert few["wait_p99_cycles[5]"].isna().all()
    n = result.summary().set_index(["measure", "options.levels"])["n"]
    assert n["wait_p99_cycles[5]", 3] == 0 and n["wait_p99_cycles[5]", 5] == 3
    assert all(math.isnan(value) for value in result.values(result.points[0], "wait_p99_cycles[5]").values())


def test_a_sweep_file_names_them_in_quotes_or_line_by_line(tmp_path):
    path = tmp_path / "waits.yaml"
    head = "engine: dispatch\nworkload: large_uniform\nmeasures: "
    for listed in ('["wait_p99_cycles[3]", utilisation_cv]', "\n- wait_p99_cycles[3]\n- utilisation_cv"):
        path.write_text(head + listed)
        assert read_sweep(path).measures == ["wait_p99_cycles[3]", "utilisation_cv"]
    path.write_text(head + "[utilisation_cv, wait_p99_cycles[3]]")
    with pytest.raises(InputError, match=r"waits\.yaml: line 3: is not YAML: .* Put a name that has brackets in quo"):
        read_sweep(path)


@pytest.mark.parametrize("name", ["wait_p99_cycles[9]", "wait_p99_cycles[0]", "makespan_cycles[1]", "utilisation[]"])
def test_a_part_that_cannot_be_is_no_measure(name):
    assert name not in MEASURES
    with pytest.raises(InputError, match=f"unknown measure {re.escape(repr(name))}; there are energy_joules"):
        results(measures=[name])


def test_without_a_list_the_measures_of_the_whole_run_are_shown():
    assert read_sweep(SWEEP).measures == list(MEASURES)


def test_tables_and_macros_of_a_paper(tmp_path):
    results(measures=PARTS[:2]).export(tmp_path / "paper")
    written = {path.name for path in (tmp_path / "paper" / "tables").iterdir()}
    assert written == {"wait_p99_cycles-3.tex", "utilisation-vgpr.tex"}
    numbers = (tmp_path / "paper" / "numbers.tex").read_text()
    assert "\\wbWaitPNineNineCyclesThreeMean" in numbers and "\\wbUtilisationVgprMean" in numbers
    main = (tmp_path / "paper" / "main.tex").read_text()
    assert "\\input{tables/wait_p99_cycles-3}" in main and "P99 wait, priority 3 (cycles)" in main
    assert "tables/utilisation-vgpr.tex" in json.loads((tmp_path / "paper" / "manifest.json").read_text())["tables"]


def test_the_schema_of_sweep_files_takes_them(monkeypatch):
    monkeypatch.setattr(schema, "mechanisms", lambda: ["dispatch"])
    (shape,) = schema.sweep_schema()["anyOf"]
    listed, *patterns = shape["properties"]["measures"]["items"]["anyOf"]
    assert listed["enum"] == [*MEASURES, *of_setup("dispatch")]

    def taken(name):
        return name in listed["enum"] or any(re.search(one["pattern"], name) for one in patterns)

    assert all(taken(name) for name in (*PARTS, "utilisation[tickets]"))
    assert not any(taken(name) for name in ("wait_p99_cycles[9]", "splits[1]", "x wait_p99_cycles[1]"))
