"""Pairs of kernels: traces are read, figures are recovered, and a planted world is confirmed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.errors import InputError
from workbench.validation import kernel_pairs
from workbench.validation.kernel_pairs import LAWS
from workbench.validation.validate import facts_of, levers_of

(SET,) = kernel_pairs.SETS
TRACE = """==9== NVPROF is profiling process 9, command: ./app 2 0 1000 0
==9== Profiling application: ./app 2 0 1000 0
==9== Profiling result:
"Start","Duration",Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Registers Per Thread,Device,Stream,Name
ms,us,,,,,,,,,,
10.000,5.0,,,,,,,,"GeForce GTX 950 (0)","13","[CUDA memcpy HtoD]"
10.100,20.0,,,,,,,,"GeForce GTX 950 (0)","14","[CUDA memcpy HtoD]"
10.110,50.0,4,1,1,256,1,1,20,"GeForce GTX 950 (0)","13","add(float*)"
10.130,60.0,4,1,1,256,1,1,20,"GeForce GTX 950 (0)","14","add(float*)"
10.200,5.0,,,,,,,,"GeForce GTX 950 (0)","13","[CUDA memcpy DtoH]"
"""
MODEL = "datasize,real,model\n1000.0,0.080,0.070\n"
FIGURES = {
    "constant": {"work_us": 20.0, "launch_us": 3.0, "copy_to_kernel_us": 5.0},
    "shared_rate": {"work_us": 2.0, "slope": 0.5, "launch_us": 3.0, "copy_to_kernel_us": 5.0},
}


def written(folder: Path, trace: str = TRACE) -> list[Path]:
    """The files of a folder as the recorder lays them out."""
    (folder / "profile_results").mkdir()
    (folder / "profile_results" / "trace_1000.csv").write_text(trace)
    (folder / "model_results.csv").write_text(MODEL)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def world(law: str) -> pd.DataFrame:
    """Runs of a program on a card that follows a law exactly; the copies of the second kernel end early or late."""
    columns = ("program", "card", "threads", "registers")
    common = dict(zip(columns, ("app", "GTX 950", 256, 20), strict=True))
    rows = []
    for groups in range(20, 240, 11):
        for kernels in (1, 2):
            row = {"kernels": kernels, **common, "elements": 256 * groups, "groups": groups}
            row["ready_us"] = -5.0 if kernels == 1 else (30.0 if groups % 2 else -40.0)
            figures = FIGURES[law]
            span, begin = kernel_pairs._played(pd.Series(row), figures)
            rows.append({**row, "span_us": span + 3.0, "begin_us": begin, "recorder_us": 1.03 * (span + 3.0)})
    facts = pd.DataFrame(rows)
    return facts.assign(recorder_us=facts["recorder_us"].where(facts["kernels"] == 2))


def test_extract_reads_begins_and_ends_from_a_trace(tmp_path: Path):
    (row,) = kernel_pairs.extract(written(tmp_path)).to_dict("records")
    assert row == {
        "kernels": 2,
        "program": "app",
        "elements": 1000,
        "card": "GTX 950",
        "groups": 4,
        "threads": 256,
        "registers": 20,
        "ready_us": 10.0,
        "span_us": 80.0,
        "begin_us": 20.0,
        "recorder_us": 70.0,
    }


def test_extract_reads_one_kernel_and_other_units(tmp_path: Path):
    lines = TRACE.replace("ms,us", "s,ms").splitlines(keepends=True)
    facts = kernel_pairs.extract(written(tmp_path, "".join(lines[:8])))
    assert facts["span_us"].tolist() == [50_000.0]
    assert facts["kernels"].tolist() == [1]
    assert math.isnan(facts["begin_us"][0])
    assert math.isnan(facts["recorder_us"][0])


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ("", "must begin with a line of nvprof"),
        ("\n".join(TRACE.splitlines()[:3]), "must be a table of nvprof"),
        (TRACE.replace("Grid X", "Grid W"), "it lacks Grid X"),
        (TRACE.replace("ms,us", "weeks,us"), "is no row"),
        (TRACE.replace("10.110,50.0", "10.110,many"), "is no row"),
        (TRACE.replace("10.110,50.0,4,1,1", "10.110,50.0,4"), "is no row"),
        (TRACE.replace("60.0,4,1", "60.0,5,1"), "two of the same grid"),
        ("\n".join(TRACE.splitlines()[:7]), "Got 0 kernels"),
        ("\n".join(TRACE.splitlines()[:4]), "is no row"),
    ],
)
def test_a_broken_trace_is_refused(tmp_path: Path, trace: str, message: str):
    with pytest.raises(InputError, match=message):
        kernel_pairs.extract(written(tmp_path, trace))


def test_a_model_without_traces_and_a_broken_model_are_refused(tmp_path: Path):
    files = written(tmp_path)
    for broken in (b"a,b\n1,2\n", b"datasize,model\n\xff,2\n", b"datasize,model\ninf,2\n"):
        (tmp_path / "model_results.csv").write_bytes(broken)
        with pytest.raises(InputError, match="columns datasize and model"):
            kernel_pairs.extract(files)
    with pytest.raises(InputError, match=r"needs the traces trace_\*.csv"):
        kernel_pairs.extract([tmp_path / "model_results.csv"])


def test_pairs_alone_cannot_be_fitted(tmp_path: Path):
    with pytest.raises(InputError, match="app has no run of one kernel alone"):
        kernel_pairs.fit(kernel_pairs.extract(written(tmp_path)))


@pytest.mark.parametrize("law", LAWS)
def test_planted_figures_are_recovered_and_confirmed(law: str):
    facts = world(law)
    levers = kernel_pairs.fit(facts)
    assert levers[law]["app"] == pytest.approx(FIGURES[law], rel=0.002)
    results = [result for result in kernel_pairs.judge(facts, levers) if result.law.startswith(law)]
    assert [result.verdict for result in results] == ["confirmed"] * 3
    assert all(result.error < 0.3 for result in results)


def test_constant_durations_are_refuted_where_rates_are_shared():
    facts = world("shared_rate")
    results = kernel_pairs.judge(facts, kernel_pairs.fit(facts))
    span = next(result for result in results if result.law == "constant, app: span of two")
    assert span.verdict == "refuted"
    assert (span.rival, span.rival_error) == ("the recorder's own model", pytest.approx(3.0))
    assert "straight line" in span.note


def test_without_the_recorders_model_the_rival_is_a_straight_line():
    facts = world("shared_rate").assign(recorder_us=np.nan)
    span = kernel_pairs.judge(facts, kernel_pairs.fit(facts))[4]
    assert (span.law, span.rival) == ("shared_rate, app: span of two", "a straight line through all pairs")


def test_only_the_fitted_runs_are_read_by_fit():
    facts = world("shared_rate")
    alone = facts[facts["kernels"] == 1].index
    other = facts.copy()
    other.loc[[*alone[1::2], *facts[facts["kernels"] == 2].index], "span_us"] = 1.0
    assert kernel_pairs.fit(other) == kernel_pairs.fit(facts)


def test_a_program_without_pairs_is_not_tested_on_them():
    facts = world("shared_rate")
    results = kernel_pairs.judge(facts[facts["kernels"] == 1], kernel_pairs.fit(facts))
    assert [result.verdict for result in results[3:]] == ["confirmed", "not tested", "not tested"]


def test_shipped_levers_are_those_of_the_shipped_facts():
    assert levers_of(SET) == kernel_pairs.fit(facts_of(SET))


def test_groups_of_a_unit_end_one_after_another_so_that_the_second_kernel_begins_later_and_later():
    """Six units hold eight groups each; equal groups that began at once would end at once, eight at a time."""
    common = {"kernels": 2, "card": "GTX 950", "threads": 256, "registers": 20, "ready_us": -40.0}
    begins = [
        kernel_pairs._played(pd.Series({**common, "groups": groups}), FIGURES["shared_rate"])[1]
        for groups in range(156, 205, 6)
    ]
    assert (np.diff(begins) > 0.5).all()
    assert np.diff(begins).max() < 3 * np.diff(begins).min()


def test_a_card_of_more_units_than_a_round_serves_has_shorter_rounds():
    row = {"kernels": 1, "card": "MI300X", "groups": 4 * 304, "threads": 256, "registers": 20, "ready_us": -5.0}
    span, _ = kernel_pairs._played(pd.Series(row), {"work_us": 8.0, "slope": 1.0})
    assert 4 * 8.0 < span < 6 * 8.0


def test_a_kernel_can_begin_the_least_gap_of_its_card_after_its_copy():
    facts = world("shared_rate")
    other = facts.assign(program="another", ready_us=facts["ready_us"] - 1)
    levers = kernel_pairs.fit(pd.concat([facts, other], ignore_index=True))
    assert [levers["constant"][program]["copy_to_kernel_us"] for program in ("app", "another")] == [5.0, 5.0]


def test_what_the_judged_runs_of_the_compute_bound_program_say():
    facts = facts_of(SET)
    results = kernel_pairs.judge(facts[facts["program"] == "cmp_cmp_ptx"], levers_of(SET))
    assert [result.verdict for result in results] == ["refuted"] * 3 + ["confirmed"] * 3
    assert [result.error for result in results[3:]] == pytest.approx([0.479, 1.185, 1.385], abs=0.001)
    assert results[4].rival_error == pytest.approx(5.945, abs=0.001)  # as the recorder's own table says
