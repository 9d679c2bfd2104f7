"""A measure of one's own, in sweeps, tables, studies and figures, and in every worker; its column has a digest."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.experiments.stores import edited
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.store import Store
from workbench.identity import snapshot
from workbench.levers import Spec, lever
from workbench.mechanisms import measures as room
from workbench.mechanisms.measured_by import MeasuredBy
from workbench.mechanisms.mechanism import mechanism

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 40},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 3,
    "measures": ["drain_cycles", "slack"],
}
BUILT_IN = {**SWEEP, "measures": ["drain_cycles"]}
FILE = """
import workbench as wb
from beside import FACTOR


@wb.measure(unit="segments", better="lower", description="the mean request, scaled")
def slack(record):
    return record.length.mean() * FACTOR
"""
SHIFT = [0.0]


class Ring(Spec):
    depth: int = lever(4, least=1, most=64, description="how deep")


class Heard:
    """Watches a sweep and remembers what is said, and how many runs were done."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.done = 0

    def say(self, line: str) -> None:
        self.lines.append(line)

    def begin(self, total: int, kept: int) -> None: ...

    def advance(self, row: Any) -> None:
        self.done += 1

    def end(self) -> None: ...


def entered(function: Any, name: str = "slack", **raw: Any) -> Any:
    """Enter a function as a measure of shared memory."""
    function.__name__ = name
    return wb.add_measure("shared_memory", wb.measure(**{"unit": "segments", "better": "lower", **raw})(function))


def scaled(factor: float) -> Any:
    return entered(lambda record: record.length.mean() * factor)


@pytest.fixture(autouse=True)
def _nothing_stays():
    yield
    for registry in room._registries.values():
        registry.clear()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A sweep beside a file with a measure, which imports another file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "mine.py").write_text(FILE)
    config = {**SWEEP, "measures": ["drain_cycles", "mine.py:slack"]}
    (tmp_path / "mine.yaml").write_text(json.dumps(config))
    return tmp_path


def expected(factor: float = 1.0) -> list[float]:
    """What the measure is, computed of the records themselves."""
    runs = wb.run(BUILT_IN)
    return [float(runs.record(run).length.mean() * factor) for run in runs.table["run_id"]]


LATER = ({"workers": 1}, {"executor": "threads"}, {"executor": "local:1"})


@pytest.mark.parametrize(
    "how", [{"workers": 0}, {"workers": 2}, *(pytest.param(how, marks=pytest.mark.slow) for how in LATER)], ids=str
)
def test_it_is_computed_wherever_runs_are_done(how):
    scaled(2.0)
    runs = wb.run(SWEEP, **how)
    assert runs.failures == []
    assert runs.table["slack"].tolist() == expected(2.0)
    summary = runs.summary().set_index(["measure", "policy.placement"])
    assert summary.loc[("slack", "best_fit"), "mean_difference"] == 0.0


def test_ids_and_other_cells_do_not_know_it():
    before = wb.run(BUILT_IN)
    scaled(1.0)
    after = wb.run(SWEEP)
    assert list(before.rows) == list(after.rows)
    for id, row in before.rows.items():
        assert row.measures.items() <= after.rows[id].measures.items()
        assert after.rows[id].measures.keys() - row.measures.keys() == {"slack"}


def test_a_sweep_that_names_no_measures_has_it_and_one_that_names_others_does_not_pay_for_it(tmp_path):
    scaled(1.0)
    assert "slack" in wb.run({key: value for key, value in SWEEP.items() if key != "measures"}).table
    without = wb.run(BUILT_IN)
    assert all("slack" not in row.measures for row in without.rows.values())
    with pytest.raises(InputError, match=r"^sweep: slack is computed of runs whose sweep names it"):
        without.values(without.points[0], "slack")
    study = {**BUILT_IN, "workload": {"regime": "large_uniform", "count": {"vary": {"from": 20, "to": 60}}}}
    with pytest.raises(InputError, match=r"^sweep: slack is computed of runs"):
        wb.sensitivity({**study, "design": {"saltelli": {"base": 4}}}, tmp_path / "out", measure="slack")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_kept_row_lacks_it_until_the_next_run_which_fills_the_cell_alone(tmp_path, workers):
    before = wb.run(BUILT_IN, tmp_path)
    kept = {row.id: row for row in Store(tmp_path, read_only=True).rows()}
    scaled(3.0)
    heard = Heard()
    after = wb.run(SWEEP, tmp_path, progress=heard, workers=workers)
    assert heard.done == len(before.rows) == 6
    assert heard.lines == [
        "6 runs were simulated once more to fill slack; their other measures are the same to the bit."
    ]
    assert after.table["slack"].tolist() == expected(3.0)
    for id, row in after.rows.items():
        assert {**row.measures, "slack": 0.0} == {**kept[id].measures, "slack": 0.0}
    heard = Heard()
    wb.run(SWEEP, tmp_path, progress=heard)
    assert (heard.done, heard.lines) == (0, [])


def test_an_edited_one_makes_its_cells_missing_and_no_others(tmp_path):
    scaled(1.0)
    entered(lambda record: float(record.length.max()), "longest")
    both = {**SWEEP, "measures": ["drain_cycles", "slack", "longest"]}
    before = wb.run(both, tmp_path)
    scaled(5.0)
    opened = wb.open_results(tmp_path)
    assert opened.table["slack"].isna().all()
    assert opened.table[["drain_cycles", "longest"]].equals(before.table[["drain_cycles", "longest"]])
    assert len(opened.unmeasured) == 6
    assert opened.notes == [
        "slack is missing in 6 runs, as its code is new or was edited since; measure them again with: "
        f"workbench run {tmp_path}/sweep.yaml --out {tmp_path}"
    ]
    again = wb.run(both, tmp_path)
    assert list(again.rows) == list(before.rows)
    assert again.table["slack"].tolist() == [5 * value for value in before.table["slack"]]
    assert again.unmeasured == again.notes == []


def test_a_list_that_it_reads_is_part_of_it(tmp_path, monkeypatch):
    entered(lambda record: SHIFT[0])
    wb.run(SWEEP, tmp_path)
    monkeypatch.setitem(globals(), "SHIFT", [60.0])
    assert wb.open_results(tmp_path).table["slack"].isna().all()
    assert (wb.run(SWEEP, tmp_path).table["slack"] == 60.0).all()


def test_what_another_sweep_of_the_folder_computed_stays(tmp_path):
    scaled(1.0)
    wb.run(SWEEP, tmp_path)
    entered(lambda record: 7.0, "seven")
    wb.run({**SWEEP, "measures": ["seven"]}, tmp_path)
    heard = Heard()
    both = wb.run({**SWEEP, "measures": ["seven", "slack"]}, tmp_path, progress=heard)
    assert heard.done == 0
    assert (both.table["seven"] == 7.0).all() and both.table["slack"].tolist() == expected()


def test_a_run_that_gives_another_value_by_the_same_code_fails_and_what_was_kept_stays(tmp_path):
    wb.run(BUILT_IN, tmp_path)
    store = Store(tmp_path)
    first = next(iter(store.rows()))
    real, near = first.measures["drain_cycles"], math.nextafter(first.measures["drain_cycles"], math.inf)
    moved = {**first.measures, "drain_cycles": near}
    store.close()
    _overwrite(tmp_path, first._replace(measures=moved))
    scaled(1.0)
    runs = wb.run(SWEEP, tmp_path)
    (failed,) = runs.failures
    assert failed.id == first.id
    assert failed.error == (
        f"simulated once more, drain_cycles is {real!r} and was {near!r} when this run was kept, though the code that "
        "computes it is the same: the engine or this machine gives other results. What was kept stays."
    )
    assert runs.table["slack"].notna().sum() == 5
    opened = wb.open_results(tmp_path)
    assert opened.rows[first.id].measures["drain_cycles"] == moved["drain_cycles"]
    assert [row.id for row in opened.unmeasured] == [first.id]


def _overwrite(folder, row) -> None:
    """Put another row in the place of one that is done."""
    edited(folder, lambda line: None if line[:2] == ["row", row.id] else line)
    store = Store(folder)
    store.add(row)
    store.close()


def raises(record: Any) -> float:
    return 1 / (record.length.size - record.length.size)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (raises, "raised ZeroDivisionError (division by zero) in raises (test_own_measures.py:"),
        (lambda record: Ring(depth=0), "raised InputError (ring.depth must be a whole number from 1 to 64."),
        (lambda record: "many", "must return a number. Got 'many'."),
        (lambda record: None, "must return a number. Got None."),
        (lambda record: sys.exit(3), "raised SystemExit (3) in"),
        (lambda record: record.length.sort() or 1.0, "changed the record that it measures; it may only read"),
    ],
    ids=["raises", "refuses", "text", "nothing", "exits", "changes"],
)
def test_what_it_does_wrong_is_a_failed_row_that_names_measure_point_and_seed(function, says, workers):
    entered(function)
    runs = wb.run(SWEEP, workers=workers)
    assert len(runs.failures) == 6
    for row, seed, policy in zip(runs.table["error"], runs.table["seed"], runs.table["policy.placement"], strict=True):
        assert row.startswith("the measure slack of point ") and says in row
        assert f"({policy}, " in row and f"seed {seed}" in row


def test_one_that_raises_on_kept_rows_costs_nothing_that_was_kept(tmp_path):
    before = wb.run(BUILT_IN, tmp_path)
    entered(raises)
    assert len(wb.run(SWEEP, tmp_path).failures) == 6
    scaled(1.0)
    after = wb.run(SWEEP, tmp_path)
    assert after.failures == []
    assert after.table["drain_cycles"].equals(before.table["drain_cycles"])
    assert after.table["slack"].tolist() == expected()


@pytest.mark.parametrize("value", [3, np.float32(0.5), np.int64(4), np.array(2.5), True, math.nan])
def test_every_kind_of_number_is_a_number(value):
    entered(lambda record: value)
    (first, *_) = wb.run(SWEEP).table["slack"]
    assert first == float(value) or (math.isnan(value) and math.isnan(first))


def test_it_is_tuned_for(tmp_path):
    entered(lambda record: float(record.release.max()), unit="cycles")
    study = {
        **{key: SWEEP[key] for key in ("engine", "workload", "baseline")},
        "policy": {"placement": {"tune": ["first_fit", "last_fit", "best_fit"]}},
        "sampler": {"random": {"seed": 1}},
        "trials": 4,
        "seeds": 2,
        "holdout_seeds": 2,
    }
    results = wb.tune({**study, "objectives": ["slack"], "constraints": {"slack": {"most": 1e9}}}, tmp_path)
    known = wb.tune({**study, "objectives": ["drain_cycles"], "constraints": {"drain_cycles": {"most": 1e9}}})
    assert results.trials["slack"].tolist() == known.trials["drain_cycles"].tolist()
    assert results.trials["status"].tolist() == ["done"] * 4
    assert results.holdout.table["slack"].notna().all()


def test_a_study_names_one_in_a_file(files):
    study = {
        **{key: SWEEP[key] for key in ("engine", "workload", "baseline")},
        "policy": {"placement": {"tune": ["first_fit", "last_fit"]}},
        "sampler": {"random": {"seed": 1}},
        "trials": 2,
        "holdout_seeds": 2,
        "objectives": [{"measure": "mine.py:slack", "direction": "maximize"}],
        "constraints": {"mine.py:slack": {"least": 0}},
    }
    results = wb.tune(study, files / "out")
    assert results.trials["slack"].notna().all()
    assert "../mine.py:slack" in (files / "out" / "study.yaml").read_text()
    assert wb.open_results(files / "out").table["slack"].notna().all()
    assert len(wb.tune(study, files / "out", trials=3).trials) == 2  # there are two settings


def test_adaptive_seeds_look_at_it():
    entered(lambda record: float(record.release.max()))
    until = {"measure": "slack", "half_width": "50 %", "at_most": 20, "batch": 10}
    runs = wb.run({**SWEEP, "measures": ["drain_cycles"], "seeds": {"until": until}})
    assert all(row.measures["slack"] == row.measures["drain_cycles"] for row in runs.rows.values())


def test_adaptive_seeds_look_at_one_in_a_file(files):
    until = {"measure": "mine.py:slack", "half_width": "50 %", "at_most": 10, "batch": 5}
    runs = wb.run({**SWEEP, "measures": ["drain_cycles"], "seeds": {"until": until}}, files / "out")
    assert all("slack" in row.measures for row in runs.rows.values())
    assert len(wb.open_results(files / "out").rows) == len(runs.rows)


def test_what_the_workbench_defines_goes_to_workers_by_name():
    def reads(record: Any) -> float:
        return float(wb.is_free(record.length.astype(np.uint64), 0, 1))

    assert "workbench" not in snapshot(reads).modules


def test_a_figure_draws_it():
    scaled(1.0)
    varied = {**SWEEP, "workload": {"regime": "large_uniform", "count": {"vary": [20, 40]}}}
    runs = wb.run({**varied, "figures": ["measure_by_lever"]})
    data = runs.figure_data("measure_by_lever", measure="slack")
    assert data.y_label == "slack (segments)"
    means = runs.table.groupby("workload.count")["slack"].mean()
    assert data.lines[0].means.mean.tolist() == pytest.approx(means.tolist())


@pytest.mark.slow
def test_one_in_a_file_runs_from_the_command_line_and_reads_what_lies_beside_it(files, capsys):
    assert main(["run", "mine.yaml", "--out", "out"]) == 0
    assert "slack" in capsys.readouterr().out
    results = wb.open_results("out")
    assert results.table["slack"].tolist() == expected(2.0)
    assert f"{files}/mine.py:slack" in (files / "out" / "sweep.yaml").read_text()
    (files / "beside.py").write_text("FACTOR = 4.0\n")
    assert main(["plan", "mine.yaml", "--out", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == 0
    assert main(["run", "mine.yaml", "--out", "out", "--workers", "2"]) == 0
    assert wb.open_results("out").table["slack"].tolist() == expected(4.0)


def test_two_files_may_have_one_name(files):
    (files / "theirs.py").write_text(FILE.replace("* FACTOR", "* 9"))
    theirs = wb.run({**SWEEP, "measures": ["theirs.py:slack"]}).table["slack"].tolist()
    mine = wb.run({**SWEEP, "measures": ["mine.py:slack"]}).table["slack"].tolist()
    assert theirs == expected(9) and mine == expected(2)


def test_the_command_lists_those_of_a_file(files, capsys):
    assert main(["list", "measures", "mine.py", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["measures"]
    assert ("shared_memory", "drain_cycles") in {(row["engine"], row["name"]) for row in listed}
    assert listed[-1] == {
        "engine": "",
        "name": "slack",
        "unit": "segments",
        "better": "lower",
        "description": "the mean request, scaled",
        "compared_by": "difference",
        "least_effect": None,
        "built_in": False,
    }
    scaled(1.0)
    assert main(["list", "measures"]) == 0
    assert "slack (shared_memory, segments, lower, yours)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: wb.measure(lambda record: 1.0), "needs its unit and which direction is better: @wb.measure(unit="),
        (lambda: wb.measure(better="lower"), "the unit of a measure must be said, empty for a share"),
        (lambda: wb.measure(unit="cycles"), "better must be lower, higher or neither"),
        (lambda: wb.measure(unit="cycles", better="less"), "Got 'less'."),
        (lambda: wb.measure(unit="", better="lower")(lambda record: 1.0), "must have a name that a column can have"),
        (lambda: entered(lambda record: 1.0, "seed"), "must have a name that a column can have. Got 'seed'."),
        (
            lambda: wb.add_measure("shared_memory", expected),
            "expected needs its unit and which direction is",
        ),
        (lambda: entered(lambda record: 1.0, "drain_cycles"), "drain_cycles is already a measure of shared_memory; ch"),
        (lambda: wb.add_measure("dispach", scaled(1.0)), "unknown engine 'dispach'; there are dispatch, "),
        (lambda: wb.remove("measure", "slak"), "unknown measure of yours 'slak'; there are none"),
        (lambda: wb.run(SWEEP), "sweep: measures: unknown measure 'slack'; there are "),
        (lambda: wb.run({**SWEEP, "measures": ["mine.py:slack"]}), "the measure file mine.py does not exist"),
        (lambda: entered(lambda record: np.random.default_rng().random()) and wb.run(SWEEP), "default_rng"),
    ],
)
def test_mistakes_are_one_sentence(wrong, says):
    with pytest.raises(InputError) as refused:
        wrong()
    assert says in str(refused.value)


def test_a_file_may_not_take_the_name_of_a_measure_of_the_engine(files):
    (files / "mine.py").write_text(FILE.replace("def slack", "def drain_cycles"))
    with pytest.raises(InputError, match=r"^sweep: drain_cycles is already a measure of shared_memory"):
        wb.run({**SWEEP, "measures": ["mine.py:drain_cycles"]})
    with pytest.raises(InputError, match=r"unknown measure in mine.py 'slck'; there are drain_cycles\."):
        wb.run({**SWEEP, "measures": ["mine.py:slck"]})


def test_named_twice_is_refused(files):
    entered(lambda record: 1.0)
    with pytest.raises(InputError, match="measures must name each measure once"):
        wb.run({**SWEEP, "measures": ["slack", "mine.py:slack"]})


def test_a_removed_one_is_unknown_and_its_cells_stay_in_the_folder(tmp_path):
    scaled(1.0)
    wb.run(SWEEP, tmp_path)
    wb.remove("measure", "slack")
    wb.run(BUILT_IN, tmp_path)
    scaled(1.0)
    heard = Heard()
    wb.run(SWEEP, tmp_path, progress=heard)
    assert heard.done == 0


@pytest.mark.slow
def test_a_measure_can_be_called_and_called_by_another():
    short = scaled(1.0)
    entered(lambda record: short(record) + 1, "longer")
    runs = wb.run({**SWEEP, "measures": ["slack", "longer"]}, workers=2)
    assert (runs.table["longer"] == runs.table["slack"] + 1).all()


@pytest.mark.slow
def test_an_engine_of_ones_own_takes_measures_too(monkeypatch):
    from tests.mechanisms import test_edited_measures as coins

    monkeypatch.setattr(coins.room, "MECHANISMS", coins.room.MECHANISMS.copy())
    coins.coin(coins.measured_by())
    wb.add_measure("coin", wb.measure(unit="", better="neither")(coins_heads))
    runs = wb.run({**coins.SWEEP, "measures": ["heads_rate", "coins_heads"]}, workers=2)
    assert (runs.table["coins_heads"] == runs.table["heads_rate"]).all()


def coins_heads(record: Any) -> float:
    return float(record.heads.mean())


def test_a_row_that_names_no_measures_of_ones_own_is_as_it_was():
    (row, *_) = wb.run(BUILT_IN).rows.values()
    assert " " not in row.measured
    assert MeasuredBy(row.measured) == wb.plan(BUILT_IN).sweep.measured_by()
    assert "slack" not in mechanism("shared_memory").measures


@pytest.mark.slow
def test_a_warm_cluster_takes_the_edited_one():
    scaled(1.0)
    wb.run(SWEEP, executor="local:2")
    scaled(6.0)
    assert wb.run(SWEEP, executor="local:2").table["slack"].tolist() == expected(6.0)
