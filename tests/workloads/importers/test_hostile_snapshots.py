"""Files that would take all memory or time: refused in one sentence, before they do."""

import gzip
import pickle
import tracemalloc

import pytest

from tests.recorded_snapshots import Recorder
from workbench.advice.torch_memory.advice import history_of
from workbench.errors import InputError
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.source import Source, most_bytes
from workbench.workloads.importers.torch_snapshot import TorchSnapshot, read_snapshot


def refused(place):
    with pytest.raises(InputError) as message:
        read_trace(place)
    assert str(message.value).startswith(str(place)) and "\n" not in str(message.value)
    return str(message.value)


def read_as_snapshot(place):
    return TorchSnapshot().read(Source(place))


def test_nine_bytes_that_number_a_memo_take_no_memory(tmp_path):
    place = tmp_path / "nine.pickle"
    place.write_bytes(bytes.fromhex("80045d72000000102e"))
    tracemalloc.start()
    message = refused(place)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()
    assert "is no whole pickle (byte 3: it numbers values higher than it has any)" in message


@pytest.mark.parametrize("read", [read_trace, history_of, lambda it: read_snapshot(Source(it)), read_as_snapshot])
def test_the_first_two_bytes_are_a_protocol_or_the_file_is_refused(tmp_path, read):
    """Five bytes that number a memo, and a good snapshot, after other first bytes, on each way into the reader."""
    made = Recorder()
    made.alloc(0, 5000)
    place, good = tmp_path / "start.pickle", pickle.dumps(made.snapshot(), 4)
    starts = [bytes([k, 0x72]) for k in range(256)] + [bytes([0x80, k]) for k in range(256) if k not in range(2, 6)]
    tracemalloc.start()
    for start in starts:
        for rest in (good[2:], b"\xff\xff\xff\x00."):
            place.write_bytes(start + rest)
            with pytest.raises(InputError) as message:
                read(str(place))
            assert str(message.value).startswith(str(place)) and "\n" not in str(message.value)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


def test_a_frame_longer_than_the_file_takes_no_memory(tmp_path):
    """The loader allocates the length of a frame before it reads it."""
    made = Recorder()
    made.alloc(0, 5000)
    content = pickle.dumps(made.snapshot(), 4)
    place = tmp_path / "frame.pickle"
    for length in (1 << 38, 1 << 62):
        place.write_bytes(content[:3] + length.to_bytes(8, "little") + content[11:])
        assert refused(place).endswith("is no whole pickle (byte 2: it is cut off).")


def test_lists_that_are_named_again_and_again_are_counted_before_they_are_copied(tmp_path):
    """A thousand cards whose history is the same list, which names one event a thousand times: in 20 kB."""
    made = Recorder()
    made.alloc(0, 5000)
    snapshot = made.snapshot()
    events = [snapshot["device_traces"][0][0]] * 5000
    snapshot["device_traces"] = [events] * 5000
    place = tmp_path / "shared.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    assert place.stat().st_size < 50_000
    assert "names the same lists again and again" in refused(place)


def test_what_is_decompressed_has_a_limit(tmp_path, monkeypatch):
    place = tmp_path / "bomb.pickle.gz"
    place.write_bytes(gzip.compress(b"\x80\x04" + b"N0" * (8 << 20)))
    monkeypatch.setenv("WORKBENCH_MOST_BYTES", "4MiB")
    assert "holds more than 4 MiB once it is decompressed" in refused(place)
    monkeypatch.setenv("WORKBENCH_MOST_BYTES", "plenty")
    with pytest.raises(InputError, match="WORKBENCH_MOST_BYTES must be bytes such as 40GiB"):
        most_bytes()
    monkeypatch.delenv("WORKBENCH_MOST_BYTES")
    assert 1 << 20 < most_bytes() <= 16 << 30


def test_what_is_read_as_a_stream_has_the_limit_too_if_it_is_compressed(tmp_path, monkeypatch):
    rows = b"".join(b"1,9:00:00.%06d,allocate,0x%x,512,0\n" % (k, 4096 + 512 * k) for k in range(5000))
    text = b"Thread,Time,Action,Pointer,Size,Stream\n" + rows
    packed, plain = tmp_path / "rmm.csv.gz", tmp_path / "rmm.csv"
    packed.write_bytes(gzip.compress(text))
    plain.write_bytes(text)
    monkeypatch.setenv("WORKBENCH_MOST_BYTES", "64KiB")
    with pytest.raises(InputError, match=r"rmm.csv.gz: holds more than 64 KiB once it is decompressed"):
        read_trace(packed)
    assert read_trace(plain).facts()["allocations"] == 5000
    monkeypatch.setenv("WORKBENCH_MOST_BYTES", "1MiB")
    assert read_trace(packed).facts()["allocations"] == 5000


def test_memory_that_runs_out_is_a_sentence(tmp_path, monkeypatch):
    made = Recorder()
    made.alloc(0, 5000)
    place = tmp_path / "large.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))

    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr("workbench.workloads.importers.torch_snapshot.torch_logs", no_memory)
    assert "does not fit into this machine's memory" in refused(place)


@pytest.mark.parametrize(
    "values",
    [
        {"segments": [], "device_traces": [], "\udcff": 1},
        {"segments": [], "device_traces": [[{"action": "\ud800", "addr": 1, "size": 2, "stream": 0}]]},
        {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 2, "stream": 0, "\ud800": 1}]]},
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(tmp_path, values):
    place = tmp_path / "half.pickle"
    place.write_bytes(pickle.dumps(values))
    assert "holds a text with half a character" in refused(place)


def test_a_number_that_looks_like_half_a_character_is_none(tmp_path):
    made = Recorder()
    made.alloc(0, 0x80A0ED)
    place = tmp_path / "number.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    assert b"\xed\xa0" in place.read_bytes()
    assert read_trace(place).facts()["allocations"] == 1
