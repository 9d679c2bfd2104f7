"""A snapshot of the driver's own pool gets no advice on settings that it does not read."""

import json
import pickle

import pytest

from tests.oracles.torch_allocator import Rules
from tests.recorded_snapshots import Recorder as Flat
from tests.recorded_torch import Recorder, exercised
from workbench.advice.torch_memory.advice import Advice, advice_or_segments, advise
from workbench.advice.torch_memory.driver_pool import NATIVE_ONLY, driver_backend
from workbench.cli import main
from workbench.errors import InputError

ASYNC = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}
NATIVE = ("expandable_segments:True", "max_split_size_mb:", "PYTORCH_CUDA_ALLOC_CONF=", "ragmentation", "goes back by")


def written(folder, snapshot, settings=ASYNC):
    place = folder / "own.pickle"
    place.write_bytes(pickle.dumps({**snapshot, "allocator_settings": settings}))
    return place


def event(action, size, address, line):
    frames = [{"name": "step", "filename": "/home/me/model.py", "line": line}]
    return {"action": action, "size": size, "addr": address, "stream": 0, "time_us": 1, "frames": frames}


def no_segments():
    """Three blocks of 64, 32 and 16 MiB, of which the first goes before a request fails."""
    mib = 1 << 20
    events = [event("alloc", 64 * mib, 1 << 32, 7), event("alloc", 32 * mib, 2 << 32, 9)]
    events += [event("free_completed", 64 * mib, 1 << 32, 7), event("alloc", 16 * mib, 3 << 32, 9)]
    failed = {"action": "oom", "size": 100 * mib, "device_free": 5 * mib, "stream": 0, "time_us": 1}
    return {"segments": [], "device_traces": [[*events, failed]]}


def test_requests_are_told_and_no_setting_is_advised(tmp_path, capsys):
    place = written(tmp_path, no_segments())
    assert main(["advise", str(place)]) == 0
    out = capsys.readouterr().out
    assert "its settings choose backend:cudaMallocAsync; no setting of PyTorch's allocator is replayed." in out
    assert "GPU 0 ran out of memory: it asked for 100 MiB with 5 MiB left on the card." in out
    assert "GPU 0: 96 MiB live at the peak after event 2 of 5; most of it is held by" in out
    assert "model.py:7 step (64 MiB)." in out
    assert f"{NATIVE_ONLY} have no effect under cudaMallocAsync." in out
    assert "release threshold of the driver's pool to the maximum" in out and "backend:native" in out
    assert not any(words in out for words in NATIVE) and "segments, which" not in out


def test_a_native_history_under_such_settings_is_doubted(tmp_path, capsys):
    made = exercised(Recorder(Rules(), seed=2), 200, 2)
    place = written(tmp_path, made.snapshot())
    assert main(["advise", str(place), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["backend"] == "cudaMallocAsync" and output["segments"] == len(made.snapshot()["segments"])
    assert any("print(torch.cuda.get_allocator_backend()) shows which" in line for line in output["sentences"])
    assert not any(words in line for words in NATIVE for line in output["sentences"])
    native = advice_or_segments(written(tmp_path, made.snapshot(), {"PYTORCH_CUDA_ALLOC_CONF": "backend:native"}))
    assert isinstance(native, Advice)
    assert output["cards"][0]["live_peak_bytes"] == int(native.cards[0].recorded.allocated.max())


def test_without_a_history_its_blocks_are_told(tmp_path):
    made = Flat()
    for size in (3 << 20, 5 << 20):
        made.alloc(0, size)
    result = advice_or_segments(written(tmp_path, {**made.snapshot(), "device_traces": [[]]}))
    assert any("GPU 0: 8 MiB live at the peak" in line for line in result.sentences())


def test_where_an_advice_must_come_out_it_is_one_sentence(tmp_path, capsys):
    place = written(tmp_path, no_segments())
    with pytest.raises(InputError, match="its settings choose backend:cudaMallocAsync, under which"):
        advise(place)
    assert main(["advise", str(place), "--html", str(tmp_path / "no.html")]) == 2
    assert "is not of PyTorch's own allocator, so there is nothing for --html" in capsys.readouterr().err
    assert not (tmp_path / "no.html").exists()


@pytest.mark.parametrize(
    ("settings", "backend"),
    [
        ({"PYTORCH_ALLOC_CONF": "max_split_size_mb:64,backend: cudaMallocAsync"}, "cudaMallocAsync"),
        ({"PYTORCH_HIP_ALLOC_CONF": "backend:hipMallocAsync"}, "hipMallocAsync"),
        ({"PYTORCH_CUDA_ALLOC_CONF": "backend:native"}, ""),
        ({"PYTORCH_CUDA_ALLOC_CONF": None, "max_split_size": -1}, ""),
    ],
)
def test_the_backend_is_read_from_the_settings(settings, backend):
    assert driver_backend(settings) == backend
