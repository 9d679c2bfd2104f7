"""The timeline of a dispatcher as Perfetto and Chrome read it."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.figures.stand_ins import record as of_shared_memory
from tests.oracles.dispatch_measures import dispatches, utilisations, waits
from tests.slow import examples
from tests.toy_dispatch import BLOCKS, OF_UNIT, RESOURCES, toy
from tests.toy_engine import SWEEP, toy_engine
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.export._dispatch_events import trace_events
from workbench.export.timeline import write_timeline

records = st.builds(
    toy,
    seed=st.integers(0, 10**6),
    a_round=st.integers(1, 3),
    groups=st.integers(0, 25),
    modules=st.integers(1, 3),
    units=st.integers(1, 3),
    clock_mhz=st.sampled_from([1000.0, 1410.0, 2100.0, 250.0]),
)


def events(record, phase, name=None, **choices):
    results = [event for event in trace_events(record, **choices) if event["ph"] == phase]
    return results if name is None else [event for event in results if event["name"] == name]


@examples(20, 300)
@given(records)
def test_a_slice_for_every_dispatch_on_every_unit_that_it_uses(record):
    slices = events(record, "X")
    wanted = [
        (2 + d["module"], d["group"], d["channel"], d["level"], waves, d["cycles"].start, len(d["cycles"]))
        for d in dispatches(record) for waves in d["sent"] if waves
    ]  # fmt: skip
    messages = [
        (s["pid"], *(s["args"][key] for key in ("group", "channel", "priority", "waves", "cycle", "duration_cycles")))
        for s in slices
    ]
    assert messages == wanted
    for s in slices:
        begin, end = s["args"]["cycle"], s["args"]["cycle"] + s["args"]["duration_cycles"]
        assert s["ts"] == pytest.approx(begin / record.clock_mhz, abs=0.0006)
        assert s["ts"] + s["dur"] == pytest.approx(end / record.clock_mhz, abs=0.0006)
        assert s["args"]["waited_cycles"] == begin - record.arrival[s["args"]["group"]] >= 0


@examples(20, 300)
@given(records)
def test_slices_of_a_thread_do_not_overlap_and_every_thread_has_a_name(record):
    threads = {}
    for s in events(record, "X"):
        threads.setdefault((s["pid"], s["tid"]), []).append((round(1000 * s["ts"]), round(1000 * s["dur"])))
    for slices in threads.values():
        assert all(begin + lasts <= following for (begin, lasts), (following, _) in pairwise(slices))
    names = {(m["pid"], m["tid"]): m["args"]["name"] for m in events(record, "M", "thread_name")}
    assert names.keys() == threads.keys()
    numbers = [tid for _, tid in names]
    processes = {m["pid"]: m["args"]["name"] for m in events(record, "M", "process_name")}
    assert processes == {1: "dispatcher", **{2 + m: f"module {m}" for m in range(record.modules)}}
    assert len(set(numbers)) == len(numbers) and not {*numbers} & {*processes}
    assert {name.split(",")[0] for name in names.values()} <= {f"unit {u}" for u in range(record.units)}


@examples(13, 200)
@given(records.filter(lambda record: len(record.group) > 0))
def test_counters_are_what_the_cycles_say(record):
    held = utilisations(record)
    room = [int(b) * (record.units if of_unit else 1) for b, of_unit in zip(BLOCKS, OF_UNIT, strict=True)]
    for module in range(record.modules):
        now = dict(zip(RESOURCES, room, strict=True))
        changes = {e["ts"]: e["args"] for e in events(record, "C", "free blocks") if e["pid"] == 2 + module}
        for cycle, at in enumerate(held):
            now = changes.get(round(cycle * 1000 / record.clock_mhz) / 1000, now)
            if record.clock_mhz <= 1000:
                assert [*now.values()] == [all_ - taken for all_, taken in zip(room, at[module], strict=True)]
    wait, waiting = waits(record), events(record, "C", "waiting groups")
    assert waiting[-1]["args"] == {"groups": 0}
    if record.clock_mhz <= 1000:
        for event in waiting:
            cycle = round(event["ts"] * record.clock_mhz)
            arrived = [g for g in wait if record.arrival[g] <= cycle < record.arrival[g] + wait[g]]
            assert event["args"]["groups"] == len(arrived)
    failed = events(record, "C", "failed rounds")
    assert not record.failed_rounds or failed[-1]["args"]["rounds"] == record.failed_rounds


def test_failed_rounds_are_counted_when_the_last_of_a_row_failed():
    record = toy(groups=0)._replace(failures=np.array([[4, 3], [20, 1]]), round_cycles=2)
    counted = [(event["ts"], event["args"]["rounds"]) for event in events(record, "C", "failed rounds")]
    assert counted == [(0.008, 3), (0.020, 4)]


def test_sub_groups_say_which_part_they_are():
    record = toy(2)
    group = int(record.splits[0, 1])
    names = dict.fromkeys(s["name"] for s in events(record, "X") if s["args"]["group"] == group)
    assert [*names] == [f"group {group} ({k} of {len(names)})" for k in range(1, len(names) + 1)] and len(names) > 1


def test_a_span_shows_what_runs_in_it_and_starts_with_what_is_so():
    record = toy(2)
    displayed = events(record, "X", cycles=(20, 30))
    whole = [d for d in dispatches(record) if d["cycles"].start < 30 and d["cycles"].stop > 20]
    assert {s["args"]["cycle"] for s in displayed} == {d["cycles"].start for d in whole}
    counted = events(record, "C", "waiting groups", cycles=(20, 30))
    before = [e for e in events(record, "C", "waiting groups") if e["ts"] <= 0.020][-1]
    assert counted[0] == {**before, "ts": 0.020}
    assert all(0.020 <= e["ts"] < 0.030 for e in events(record, "C", cycles=(20, 30)))


def test_the_file_is_json_and_the_same_each_time(tmp_path):
    record = toy(4)
    paths = [write_timeline(record, tmp_path / name) for name in ("a.json", "b.json")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    content = json.loads(paths[0].read_text())
    assert content["traceEvents"] == [*trace_events(record)]
    assert content["displayTimeUnit"] == "ns"


def test_what_cannot_be_shown_is_refused(tmp_path):
    with pytest.raises(InputError, match="needs a run of the engine dispatch or node"):
        write_timeline(of_shared_memory([(0, 0, 4, 0, 4)]), tmp_path / "no.json")
    with pytest.raises(InputError, match=r"cycles=\(from, to\) with 0 <= from < to\. Got \(5, 5\)"):
        write_timeline(toy(), tmp_path / "no.json", (5, 5))
    assert not list(tmp_path.iterdir())


def test_from_python_and_from_the_command_line(tmp_path, capsys):
    with toy_engine():
        runs = wb.run({**SWEEP, "measures": ["makespan_cycles"]}, tmp_path / "out", workers=0)
        run = runs.table["run_id"][1]
        ours = runs.timeline(run, tmp_path / "ours.json")
        assert main(["results", str(tmp_path / "out"), "--timeline", run, "--to", str(tmp_path / "theirs.json")]) == 0
        assert ours.read_bytes() == (tmp_path / "theirs.json").read_bytes()
        capsys.readouterr()
        assert main(["results", str(tmp_path / "out"), "--timeline", run]) == 2
        assert (
            capsys.readouterr().err
            == "workbench: --timeline RUN_ID or --snapshot RUN_ID goes together with --to FILE.\n"
        )
        assert main(["results", str(tmp_path / "out"), "--timeline", "x", "--to", str(tmp_path / "no.json")]) == 2
        assert "no run 'x' in this sweep" in capsys.readouterr().err
    assert not (tmp_path / "no.json").exists()
