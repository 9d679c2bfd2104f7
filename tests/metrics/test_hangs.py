"""What curves, pictures and sentences say of a run that hangs (spec 7, R16 to R18)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.export.timeline import write_timeline
from workbench.figures import figure
from workbench.figures.figure_files import as_csv
from workbench.metrics.dispatch import hang_sentence, lacking_words
from workbench.metrics.dispatch_rows import by_start, running_over_time, waiting_over_time
from workbench.records.dispatch import Between, DispatchRecord, Lacking

HEADER = "arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments,barrier,endless"
LARGE = (0, 2, 0, 0)
SMALL = (0, 1, 0, 0)
"""Arrival, waves, barrier and whether it is endless."""


def runs_of(folder: Path, groups: list[tuple[int, ...]], modules: int, choices: list[str]) -> wb.Results:
    rows = [f"{arrival},0,1,{waves},0,10,0,0,0,{barrier},{endless}" for arrival, waves, barrier, endless in groups]
    path = folder / "groups.csv"
    path.write_text("\n".join([HEADER, *rows, ""]))
    sweep: dict[str, Any] = {
        "engine": "dispatch",
        "machine": {"compute_units": modules, "simds_a_unit": 1, "waves_a_unit": 2},
        "workload": {"file": str(path)},
        "policy": {"choice": {"vary": choices}, "selection": "oldest_first"},
        "seeds": 1,
        "measures": ["makespan_cycles"],
    }
    return wb.run(sweep, workers=0)


@pytest.fixture
def vector(tmp_path: Path) -> wb.Results:
    """V1: round robin hangs, first module does not."""
    return runs_of(tmp_path, [SMALL, SMALL, LARGE, LARGE, LARGE], 4, ["round_robin", "first_module"])


def record_of(results: wb.Results) -> DispatchRecord:
    (record,) = results.records(results.points[0])
    return record


def test_groups_that_never_start_wait_to_the_end_and_waves_that_hang_run_on(vector: wb.Results):
    run = by_start(record_of(vector))
    waiting, running = waiting_over_time(run), running_over_time(run)
    assert (waiting.cycle.tolist(), waiting.value.tolist()) == ([0, 1, 2, 3], [4, 3, 2, 1])
    assert (running.cycle.tolist(), running.value.tolist()) == ([0, 1, 2, 3], [1, 2, 4, 6])


def test_an_endless_group_that_never_starts_waits_to_the_end_too(tmp_path: Path):
    run = by_start(record_of(runs_of(tmp_path, [(0, 2, -1, 0), (5, 2, -1, 1)], 1, ["first_module"])))
    waiting = waiting_over_time(run)
    assert not run.between.hung
    assert (waiting.cycle.tolist(), waiting.value.tolist()) == ([0, 5], [0, 1])


def test_the_timeline_holds_what_hangs_to_its_right_edge_and_says_so(vector: wb.Results):
    data = figure("dispatch_timeline").choose(vector)
    hung, ended = data.panels
    assert set(hung.end.tolist()) == {14}
    assert (hung.hung_at_cycle, ended.hung_at_cycle) == (3, -1)
    assert len({*zip(hung.module.tolist(), hung.slot.tolist(), strict=True)}) == len(hung.slot)
    titles = [axes.get_title(loc="left") for axes in figure("dispatch_timeline").draw(data).axes]
    assert titles == ["round robin, hangs at cycle 3", "first module"]
    _, *rows = csv.reader(io.StringIO(as_csv(data.columns())))
    assert {(row[1], row[-1]) for row in rows} == {("round_robin", ""), ("first_module", "14")}


def test_a_part_of_the_timeline_after_the_hang_shows_what_is_held(vector: wb.Results):
    hung, _ = figure("dispatch_timeline").choose(vector, cycles=(8, 12)).panels
    assert len(hung.group) == 4


def test_a_timeline_for_perfetto_leaves_what_hangs_open(vector: wb.Results, tmp_path: Path):
    events = json.loads(write_timeline(record_of(vector), tmp_path / "run.json").read_text())["traceEvents"]
    assert [event["ph"] for event in events if event.get("cat") == "dispatch"] == ["B"] * 4
    waiting = [event["args"]["groups"] for event in events if event["name"] == "waiting groups"]
    assert waiting[-1] == 1
    assert np.min(waiting) >= 0


def test_a_sentence_names_what_each_group_lacks(vector: wb.Results):
    record = record_of(vector)
    assert hang_sentence(record) == (
        "hangs at cycle 3: 1 of 5 groups never starts, 4 wait at a barrier; 1 lacks wave slots (group 4: 1 more on "
        "module 0)"
    )
    (ended,) = vector.records(vector.points[1])
    assert hang_sentence(ended) == ""


def test_a_sentence_names_every_reason():
    nobody = np.zeros(0, np.int64)
    columns = {name: nobody for name in Between._fields if name != "lacking"}
    rows = [(2, 0, 1, 3, 4, -1), (2, 0, 1, 4, 1, -1), (3, 0, 1, 3, 6, -1), (5, 1, -1, -1, -1, -1)]
    rows += [(6, 2, -1, -1, -1, 1), (7, 2, -1, -1, -1, -1), (8, 3, -1, -1, -1, -1), (9, 3, -1, -1, -1, -1)]
    lacking = Lacking(*np.array(rows, np.int64).T)
    between = Between(**{**columns, "lacking": lacking, "hung_at_cycle": 7, "never_started": np.arange(2, 10)})
    resources = ("vgpr", "sgpr", "waves", "shared", "tokens")
    assert lacking_words(between, resources) == [
        "2 lack shared memory (group 2: 4 more on module 1)",
        "1 lacks tokens (group 2: 1 more on module 1)",
        "1 is admitted by no module (group 5)",
        "1 waits for die 1 (group 6)",
        "1 is told to wait (group 7)",
        "2 stand behind others or in a cluster that does not fit (group 8)",
    ]


def test_a_figure_that_needs_times_says_that_the_run_hangs(vector: wb.Results):
    with pytest.raises(InputError) as refused:
        figure("saving_by_policy").choose(
            wb.run({**vector.plan.sweep.config, "baseline": {"choice": "first_module"}}, workers=0)
        )
    assert str(refused.value) == (
        "saving_by_policy needs makespan_cycles, which a run that hangs does not have: round_robin hangs (1 of 5 "
        "groups never start)."
    )


def test_waits_by_priority_names_the_policies_that_hang(vector: wb.Results):
    data = figure("waits_by_priority").choose(vector)
    assert data.look.left_out == "hangs"
    assert data.without == ("round_robin",)
