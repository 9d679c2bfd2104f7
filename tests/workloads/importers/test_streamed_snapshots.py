"""Events that are read while the pickle is still loaded: the same as whole, in less memory, never wrongly."""

import pickle
import tracemalloc

import numpy as np
import pytest

from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.errors import InputError
from workbench.structures.pickle_scan import SOUND
from workbench.workloads.importers import torch_snapshot as module
from workbench.workloads.importers.source import Source


def snapshot(steps=120, seed=3):
    """A history with stacks, some of them shared."""
    made = exercised(Recorder(Rules(), seed=seed), steps, seed).snapshot()
    for number, event in enumerate(made["device_traces"][0]):
        if number % 3 == 0:
            event["frames"] = [{"name": f"f{number % 7}", "filename": "/home/me/own.py", "line": number % 5}]
    return made


def same(one, other):
    """Two readings agree in every column, in the places of the program and in the counts."""
    assert (one.actions, one.of_allocator, len(one.logs)) == (other.actions, other.of_allocator, len(other.logs))
    for log, again in zip(one.logs, other.logs, strict=True):
        assert (log.device, log.pools, log.sites, log.settings) == (
            again.device,
            again.pools,
            again.sites,
            again.settings,
        )
        for columns, others in zip(log[1:4], again[1:4], strict=True):
            assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(columns, others, strict=True))
    return True


def whole(content, monkeypatch):
    """What is read without the short cut."""
    with monkeypatch.context() as patched:
        patched.setattr(module, "_streamed", lambda *_: None)
        return module._logs(content, "w")


def test_a_frame_may_end_with_any_opcode(monkeypatch):
    """The list begins in a frame of 64 KiB, whose end moves over the events' opcodes."""
    made = snapshot(700)
    for length in range(9):
        content = pickle.dumps({"a": "x" * length, **made})
        assert len(content) > 1 << 16
        assert same(module._streamed(content, "w"), whole(content, monkeypatch))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("cards", [1, 2, 4])
def test_streamed_is_what_the_whole_says(protocol, cards, monkeypatch):
    made = snapshot()
    made["device_traces"] += [snapshot(40, seed)["device_traces"][0] for seed in range(cards - 1)]
    content = pickle.dumps(made, protocol)
    streamed = module._streamed(content, "w")
    assert streamed is not None and len(streamed.logs[0].events.action) > 100
    assert same(streamed, whole(content, monkeypatch))


def test_one_event_or_none_is_streamed_too(monkeypatch):
    for count in (0, 1):
        made = snapshot(20)
        made["device_traces"][0] = made["device_traces"][0][:count]
        content = pickle.dumps(made)
        assert same(module._streamed(content, "w"), whole(content, monkeypatch))


def _an_event_twice(made):
    made["device_traces"][0] += [made["device_traces"][0][0]] * 1500


def _the_list_elsewhere(made):
    made["device_traces"].append(made["device_traces"][0])


def _words_that_look_like_the_place(made):
    return {"a": "device_traces\x00", "b": b"device_traces\x94]\x94(]", **made}


def _a_word_too_long_for_a_frame(made):
    return {"a": "x" * (1 << 17), **made}


ODD = [_an_event_twice, _the_list_elsewhere, _words_that_look_like_the_place, _a_word_too_long_for_a_frame]


@pytest.mark.parametrize("odd", ODD)
def test_what_cannot_be_streamed_is_read_whole(odd, monkeypatch):
    made = snapshot(60)
    content = pickle.dumps(odd(made) or made)
    assert module._streamed(content, "w") is None
    assert same(module._logs(content, "w"), whole(content, monkeypatch))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda event: event.update(size=-1), r"is no memory snapshot of PyTorch .*device_traces\[0\]\[1005\]"),
        (lambda event: event.pop("addr"), "has no address; the file is damaged"),
        (lambda event: event.update(user_metadata="\ud800"), "holds a text with half a character"),
    ],
)
def test_what_is_wrong_with_an_event_is_said_as_of_the_whole(tmp_path, spoil, says):
    made = snapshot(900)
    event = made["device_traces"][0][1005]
    event["action"] = "alloc"
    spoil(event)
    place = tmp_path / "own.pickle"
    place.write_bytes(pickle.dumps(made))
    with pytest.raises(InputError, match=says):
        module.read_snapshot(Source(place))


def test_a_file_that_asks_for_something_where_its_events_should_be_gets_nothing(tmp_path):
    place = tmp_path / "own.pickle"
    content = pickle.dumps({"device_traces": [[]], "x": 1})
    place.write_bytes(content.replace(b"K\x01", b"NQ"))
    with pytest.raises(InputError, match="asks for 'a persistent object'"):
        module.read_snapshot(Source(place))


@pytest.mark.slow
def test_events_take_less_than_half_of_the_memory_that_they_take_whole(monkeypatch):
    made = snapshot(60)
    made["device_traces"][0] = [dict(event) for event in made["device_traces"][0][:50] for _ in range(400)]
    for number, event in enumerate(made["device_traces"][0]):
        event["time_us"] += number
    content = pickle.dumps(made)
    monkeypatch.setattr("workbench.structures.pickle_scan._walked", lambda _: np.array([SOUND, 0, 0]))
    peaks = []
    for read in (lambda: module._streamed(content, "w"), lambda: whole(content, monkeypatch)):
        tracemalloc.start()
        assert len(read().logs[0].events.action) == 20_000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < peaks[1] / 2, peaks
