"""An edited measure makes its cells missing, never its runs foreign: the next run measures them again."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest

import workbench as wb
import workbench.mechanisms.mechanism as room
from workbench.cli.main import main
from workbench.errors import WorkbenchError
from workbench.experiments.results_folder import PROVENANCE
from workbench.experiments.runner import Remeasured
from workbench.experiments.store import Store
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.mechanisms.measured_by import measures_digest
from workbench.mechanisms.mechanism import Mechanism, enter, mechanism, mechanisms
from workbench.metrics.measure import Measure, declared
from workbench.runs.row import Row
from workbench.streams import Streams

MEASURES = declared(
    Measure("heads_rate", "", "higher", "share of heads"), Measure("tails_rate", "", "lower", "share of tails")
)
SWEEP: dict[str, Any] = {
    "engine": "coin",
    "workload": "large_uniform",
    "options": {"chance": {"vary": [0.2, 0.8]}},
    "seeds": 3,
}
AIMS = [0.0]


class CoinRecord(NamedTuple):
    heads: np.ndarray


class CoinOptions(Spec):
    chance: float = lever(0.5, least=0, most=1, description="the chance of heads")


class Coin:
    name, revision, machine, workload_kind, options = "coin", 1, Machine, "workgroups", CoinOptions
    slots: dict[str, str] = {}

    def validate(self, setup: Any, seed: int) -> None:
        pass

    def simulate(self, setup: Any, seed: int, events: bool = False) -> CoinRecord:
        return CoinRecord(Streams(seed)["coin"].random(100) < setup.options.chance)


def measured_by(factor: float = 1.0, share: float = 0.0) -> Any:
    """A function that computes both measures; `factor` is read by the one, `share` by the other."""

    def measure(record: CoinRecord) -> dict[str, float]:
        heads = float(record.heads.mean())
        return {"heads_rate": heads * factor, "tails_rate": 1 - heads + share}

    return measure


def coin(measure: Any) -> None:
    enter(Mechanism(Coin(), MEASURES, measure, lambda record: {}))


class Heard:
    """Watches a sweep and remembers what is said, and how many runs were kept when it began."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.kept = -1
        self.done = 0

    def say(self, line: str) -> None:
        self.lines.append(line)

    def begin(self, total: int, kept: int) -> None:
        self.kept = kept

    def advance(self, row: Any) -> None:
        self.done += 1

    def end(self) -> None: ...


@pytest.fixture(autouse=True)
def _coin(monkeypatch):
    monkeypatch.setattr(room, "MECHANISMS", room.MECHANISMS.copy())
    coin(measured_by())


def test_cells_are_missing_until_the_runs_are_measured_again(tmp_path):
    before = wb.run(SWEEP, tmp_path)
    ids = list(before.rows)
    coin(measured_by(factor=2.0))
    opened = wb.open_results(tmp_path)
    assert list(opened.rows) == ids
    assert len(opened.unmeasured) == 6
    assert opened.table["heads_rate"].isna().all()
    assert (opened.table["status"] == "done").all()
    assert (opened.summary()["n"] == 0).all()
    assert opened.notes == [
        f"the measures of 6 runs are missing, as their code was edited since; measure them again with: "
        f"workbench run {tmp_path}/sweep.yaml --out {tmp_path}"
    ]
    heard = Heard()
    again = wb.run(SWEEP, tmp_path, progress=heard, workers=0)
    assert (heard.kept, heard.done) == (0, 6)
    assert list(again.rows) == ids
    assert again.unmeasured == again.notes == []
    assert (again.table["heads_rate"] == 2 * before.table["heads_rate"]).all()
    (line,) = heard.lines
    first = again.table["run_id"][0]
    assert line == (
        f"6 runs were measured again, as the code of their measures was edited: heads_rate changed in 6 (such as "
        f"{first}). A measure that changed though nobody edited it means that the engine gives other results."
    )
    assert wb.open_results(tmp_path).table.equals(again.table)
    heard = Heard()
    wb.run(SWEEP, tmp_path, progress=heard)
    assert (heard.kept, heard.done, heard.lines) == (6, 0, [])


def test_an_edit_that_changes_no_value_says_so(tmp_path):
    wb.run(SWEEP, tmp_path)
    coin(lambda record: measured_by()(record))
    heard = Heard()
    wb.run(SWEEP, tmp_path, progress=heard)
    assert heard.lines == ["6 runs were measured again, as the code of their measures was edited: no value changed."]


def test_an_engine_that_gives_other_results_shows_in_measures_that_nobody_edited():
    store = Store(None)
    rows = [Row(f"run {k}", "p", k, "done", "", 0.1, {"heads": k / 3, "tails": 1.0}, "{}", "5e") for k in range(3)]
    store.add_all(rows)
    again = Remeasured(store, ["run 1", "run 2"])
    assert len(again._before) == 2
    for k, row in enumerate(rows):
        now = {"heads": k / 3, "tails": 1.0 + 2**-52 * (k == 2), "more": 1.0}
        again.observe(row._replace(measures=now, measured="6f"))
    assert again.sentence() == (
        "2 runs were measured again, as the code of their measures was edited: tails changed in 1 (such as run 2). "
        "A measure that changed though nobody edited it means that the engine gives other results."
    )
    assert Remeasured(store, []).sentence() == ""


def test_a_measure_that_is_new_is_measured(tmp_path):
    coin(lambda record: {"heads_rate": float(record.heads.mean())})
    wb.run({**SWEEP, "measures": ["heads_rate"]}, tmp_path)
    coin(measured_by())
    assert wb.open_results(tmp_path).table["heads_rate"].isna().all()
    again = wb.run({**SWEEP, "measures": ["heads_rate", "tails_rate"]}, tmp_path)
    assert again.table[["heads_rate", "tails_rate"]].notna().all(axis=None)


def test_a_list_that_a_measure_reads_is_looked_at_anew_before_each_run(tmp_path, monkeypatch):
    coin(lambda record: {"heads_rate": AIMS[0], "tails_rate": 0.0})
    wb.run(SWEEP, tmp_path)
    monkeypatch.setitem(globals(), "AIMS", [60.0])
    assert wb.open_results(tmp_path).table["heads_rate"].isna().all()
    assert (wb.run(SWEEP, tmp_path).table["heads_rate"] == 60.0).all()


def test_a_run_that_cannot_be_measured_any_more_keeps_its_row_and_the_command_fails(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("engine: coin\nworkload: large_uniform\nseeds: 2\n")
    command = ["run", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "out")]
    assert main(command) == 0

    def broken(record: CoinRecord) -> dict[str, float]:
        raise WorkbenchError("there is no such coin.")

    coin(broken)
    assert main(command) == 1
    assert "there is no such coin." in capsys.readouterr().out
    assert wb.open_results(tmp_path / "out").notes[0].startswith("the measures of 2 runs are missing")
    coin(measured_by())
    assert main(command) == 0
    assert wb.open_results(tmp_path / "out").table["heads_rate"].notna().all()


def test_plan_and_provenance_count_what_is_measured_by_the_present_code(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("engine: coin\nworkload: large_uniform\nseeds: 2\n")
    wb.run(tmp_path / "mine.yaml", tmp_path / "out")
    plan = ["plan", str(tmp_path / "mine.yaml"), "--out", str(tmp_path / "out"), "--json"]
    main(plan)
    assert json.loads(capsys.readouterr().out)["kept"] == 2
    coin(measured_by(factor=3.0))
    main(plan)
    assert json.loads(capsys.readouterr().out)["kept"] == 0
    wb.run(tmp_path / "mine.yaml", tmp_path / "out")
    assert json.loads((tmp_path / "out" / PROVENANCE).read_text())["rows"] == 2


def test_every_engine_of_the_workbench_has_a_digest_of_its_measures_that_rows_carry(tmp_path):
    digests = {name: measures_digest(mechanism(name)) for name in mechanisms()}
    assert len(set(digests.values())) == len(digests)
    wb.run({"engine": "shared_memory", "workload": "large_uniform", "seeds": 2}, tmp_path)
    assert {row.measured for row in Store(tmp_path, read_only=True).rows()} == {digests["shared_memory"]}
