"""`workbench trace replay`: a trace under every cache as one table, kept as a results folder; mistakes in one line."""

import json
import pickle

import pytest

from tests.oracles.torch_allocator import Rules
from tests.public_traces import NAMED, needs_public_traces
from tests.recorded_snapshots import Recorder
from tests.recorded_torch import Recorder as TorchRecorder
from tests.recorded_torch import exercised
from workbench.advice.replay import known_caches
from workbench.cli import main
from workbench.engines.pool.engine import Pool
from workbench.policies.policy import policies

ON = ["--machine", "dgx_1v", "--workers", "0"]


@pytest.fixture
def snapshot(tmp_path):
    """Forty blocks of some MB on a card, every other one released; what is reserved is in segments of 2 MiB."""
    made = Recorder()
    blocks = [made.alloc(0, 100_000 * (k % 50 + 1)) for k in range(40)]
    for block in blocks[::2]:
        made.free(0, block)
    made.fail(0, 1 << 40)
    place = tmp_path / "own.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    return place


def said(words, capsys):
    assert main(["trace", "replay", *map(str, words), *ON, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_cache_is_a_row_after_the_recorded_one(snapshot, capsys):
    result = said([snapshot], capsys)
    rows = {row["policy"]: row for row in result["policies"]}
    assert list(rows) == ["recorded", *known_caches()]
    assert set(known_caches()) == set(policies("cache"))
    assert (result["requests"], result["allocations"], result["failed"]) == (60, 40, [])
    assert rows["recorded"]["refused"] == 1 and rows["recorded"]["driver_calls"] > 1
    assert rows["no_cache"]["fragmentation"] == 0 and rows["no_cache"]["driver_calls"] == 60
    assert {row["active_peak_bytes"] for row in rows.values()} == {sum(100_000 * (k + 1) for k in range(40))}


def test_on_smaller_cards_it_says_what_is_refused_or_borrowed_and_keeps_a_results_folder(snapshot, tmp_path, capsys):
    folder, table = tmp_path / "kept", tmp_path / "rows.csv"
    words = [snapshot, "--cache", "pytorch_caching", "--card-bytes", "40MiB", "--out", folder, "--csv", table]
    recorded, alone, lent = said(words, capsys)["policies"]
    assert (alone["policy"], lent["policy"]) == ("pytorch_caching, local_only", "pytorch_caching, max_bandwidth")
    assert alone["refused"] > 0 == alone["borrowed_peak_bytes"]
    assert lent["refused"] == 0 < lent["borrowed_peak_bytes"] < lent["reserved_peak_bytes"]
    assert alone["reserved_peak_bytes"] <= 40 << 20
    lines = table.read_text().splitlines()
    assert lines[0].startswith("policy,reserved_peak_bytes,") and len(lines) == 4
    assert main(["results", str(folder), "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)["table"]
    assert [row["reserved_peak_bytes"] for row in kept] == [alone["reserved_peak_bytes"], lent["reserved_peak_bytes"]]
    assert recorded["policy"] == "recorded"


def test_what_the_recorded_allocator_refused_can_be_asked_for(snapshot, capsys):
    words = [snapshot, "--cache", "no_cache", "--set", "policy.target=host_offload"]
    assert said(words, capsys)["allocations"] == 40
    assert main(["trace", "replay", *map(str, words), *ON, "--ask-refused"]) == 2
    assert "the largest block of the trace must be at most" in capsys.readouterr().err


def test_it_fits_80_columns_and_is_one_line_a_policy_when_wide(warm, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = ["trace", "replay", str(warm[0]), "--cache", "pytorch_caching", *ON]
    assert main(words) == 0
    narrow = capsys.readouterr().out.splitlines()
    assert [line for line in narrow if len(line) > 80 and str(warm[0]) not in line] == []
    assert main([*words, "--wide"]) == 0
    wide = capsys.readouterr().out.splitlines()
    row = next(line for line in wide if line.split()[0] == "pytorch_caching")
    assert len(row) > 80 and row.endswith(" 0")


def test_for_a_person_bytes_have_units(snapshot, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(snapshot.parent)
    assert main(["trace", "replay", snapshot.name, "--cache", "no_cache", *ON]) == 0
    out = capsys.readouterr().out
    assert "60 requests, 40 of them allocations; 8 GPUs and 2 CPUs" in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[1:]}
    assert rows["no_cache"] == ["78.2", "MiB", "78.2", "MiB", "0.0%", "60", "0.0%", "0", "B", "0"]
    assert rows["recorded"][-4:] == ["-", "0", "B", "1"]
    assert len(out.splitlines()) == 5
    assert "segment allocations reproduced 4 of 34, addresses 10 of 40" in out


class Asks:
    def __reduce__(self):
        return print, ("executed",)


def one_event(action, size, **place):
    return pickle.dumps({"segments": [], "device_traces": [[{"action": action, "size": size, **place}]]})


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        (pickle.dumps(Asks()), [], "it was refused and nothing in it was executed."),
        (b"", [], "own: is empty."),
        (b"no trace", [], "own: is no trace that is read here; there are "),
        (pickle.dumps(Recorder().snapshot()), [], "tells of no allocation and no release; record the history"),
        (
            one_event("free_completed", 512, addr=1 << 20),
            ["--before", "leave_out"],
            "own: tells of releases alone; record the history",
        ),
        (one_event("alloc", 512), [], "own: an event alloc of device 0 has no address; the file is damaged."),
        (one_event("alloc", -512, addr=1 << 20), [], "Expected `int` >= 0 - at `$.device_traces[0][0].size`"),
        (None, ["--card-bytes", "many"], "--card-bytes must be bytes such as 40GiB, 16GB or 1048576. Got 'many'."),
        (None, ["--cache", "pytorch"], "unknown cache policy 'pytorch'; there are "),
        (None, ["--machine", "{cards: [{id: gpu0, memory_bytes: 1000}], links: []}"], "which the largest card has."),
        (None, ["--csv", "/no/such/rows.csv"], "--csv: the folder of /no/such/rows.csv does not exist; make it"),
        (None, ["--device", "3"], "has memory events of device 0 only. Got trace_pool.device 3."),
        (
            None,
            [*(["--target", "local_only"] * 2), "--figure", "here"],
            "--figure draws 12 policies at most; name some",
        ),
    ],
)
def test_a_mistake_is_one_sentence(snapshot, tmp_path, capsys, content, words, says):
    place = tmp_path / "own"
    place.write_bytes(snapshot.read_bytes() if content is None else content)
    assert main(["trace", "replay", str(place), *words]) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and "executed" not in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own", "own.pickle"]


@pytest.fixture
def warm(tmp_path):
    """A program of two streams whose ring kept the last 300 events: much was live and cached before."""
    made = exercised(TorchRecorder(Rules(), ((0, (0, 0)), (64, (0, 0))), 4), 400, 4)
    place = tmp_path / "warm.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(300)))
    return place, made


@pytest.mark.slow
def test_the_replay_starts_as_the_recording_started_and_says_how_exact_it_is(warm, capsys):
    place, made = warm
    result = said([place], capsys)
    events = made.events[-300:]
    allocs = sum(event["action"] == "alloc" for event in events)
    segments = sum(event["action"] == "segment_alloc" for event in events)
    assert result["exactness"] == {
        "segment_allocs": segments,
        "segment_allocs_reproduced": segments,
        "allocs": allocs,
        "addresses_reproduced": allocs,
        "guessed_segments": 0,
    }
    calls = sum(event["action"].startswith("segment_") for event in events)
    caches = {row["policy"]: row for row in result["caches"]}
    assert result["recorded"]["driver_calls"] == caches["pytorch_caching"]["driver_calls"] == calls
    assert result["recorded"]["reserved_peak_bytes"] == caches["pytorch_caching"]["reserved_peak_bytes"]
    frees = sum(event["action"] == "free_completed" for event in events)
    assert caches["no_cache"]["driver_calls"] == allocs + frees, "what was live before is not part of the window"


def test_a_person_reads_how_exact_it_is(warm, capsys):
    assert main(["trace", "replay", str(warm[0]), "--cache", "pytorch_caching", *ON]) == 0
    out = capsys.readouterr().out
    assert "PyTorch's own rules from where the recording began: segment allocations reproduced " in out
    assert "--before with_cache" not in out


def test_a_history_of_one_event_is_a_sentence(tmp_path, capsys):
    made = Recorder()
    made.alloc(0, 5000)
    place = tmp_path / "one.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    assert main(["trace", "replay", str(place), *ON]) == 2
    assert "its history holds one event of an allocation, which is nothing to replay" in capsys.readouterr().err


def test_pytorchs_caches_alone_need_no_engine_of_pools(warm, capsys, monkeypatch):
    both = ["--cache", "pytorch_caching", "--cache", "expandable_segments"]
    in_pools = said([warm[0], *both, "--cache", "no_cache"], capsys)

    def refuses(*given, **more):
        raise AssertionError("the engine of pools was asked")

    monkeypatch.setattr(Pool, "loop", refuses)
    alone = said([warm[0], *both], capsys)
    assert alone["policies"] == [row for row in in_pools["policies"] if row["policy"] != "no_cache"]
    assert alone["exactness"] == in_pools["exactness"]
    assert main(["trace", "replay", str(warm[0]), "--cache", "no_cache", *ON]) == 1
    assert "the engine of pools was asked" in capsys.readouterr().out


@pytest.mark.slow
@needs_public_traces
def test_of_a_profile_without_addresses_both_readings_are_given(capsys, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    words = ["hta_v100_memory_events", "--cache", "pytorch_caching"]
    rows = {row["policy"]: row for row in said(words, capsys)["policies"]}
    assert list(rows) == ["recorded", "pytorch_caching", "pytorch_caching, from full"]
    cold, full = rows["pytorch_caching"], rows["pytorch_caching, from full"]
    assert cold["reserved_peak_bytes"] < rows["recorded"]["reserved_peak_bytes"] <= full["reserved_peak_bytes"]
    assert full["reserved_peak_bytes"] < 1.01 * rows["recorded"]["reserved_peak_bytes"]
    assert main(["trace", "replay", *words, *ON]) == 0
    assert "both readings are given" in capsys.readouterr().out


@pytest.mark.slow
@needs_public_traces
def test_of_a_profile_without_addresses_one_reading_is_given_where_it_is_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    words = ["hta_v100_memory_events", "--cache", "pytorch_caching", "--before", "ask"]
    assert [row["policy"] for row in said(words, capsys)["policies"]] == ["recorded", "pytorch_caching"]
