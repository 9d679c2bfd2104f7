"""What made a reader of text end in a traceback, each as the sentence that it is now; bombs end early."""

import bz2
import gzip
import lzma

import pytest

from tests.slow import thinned
from workbench.errors import InputError
from workbench.workloads.importers import read_trace, source
from workbench.workloads.importers.source import Source

HEADER = "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-accelsim tracer version = 4\n"
RAW = HEADER + "#traces format = x\n{} 0 0 0 0000 00000001 0 NOP 0 0\n"
GROUPED = HEADER + "#traces format = x\n#BEGIN_TB\nthread block = 0,0,0\nwarp = {}\ninsts = 0\n#END_TB\n"
RMM = "Thread,Time,Action,Pointer,Size,Stream\n1,10:44:12.123456,allocate,0x10,{},0x0\n"


def refusal(place, contents):
    place.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    with pytest.raises(InputError) as refused:
        read_trace(place).facts()
    sentence = str(refused.value)
    assert "raised" not in sentence
    assert "\n" not in sentence
    return sentence.removeprefix(f"{place}: ")


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        ("MemcpyHtoD,0x7,²\n", "line 1: expected `kernel-...` or `MemcpyHtoD,address,bytes`. Got"),
        ("MemcpyHtoD,0x7," + "9" * 5000 + "\n", "line 1: expected `kernel-...` or `MemcpyHtoD"),
        ("kernel-1/x\n", "line 1: expected the name of a file beside the list"),
        ("kernel-1/../../x\n", "line 1: expected the name of a file beside the list"),
        ("kernel-" + "1" * 300 + "\n", "line 1: expected the name of a file beside the list"),
        (RAW.format("²"), "line 7: expected thread block x, y, z and warp"),
        (GROUPED.format("²"), "line 9: expected 1 whole numbers. Got '²'."),
        (RMM.format("²"), "line 2: Size must be a whole number of bytes. Got '²'."),
        (RMM.format("9" * 5000), "line 2: Size must be a whole number of bytes. Got '999"),
    ],
)
def test_what_is_no_number_and_no_name_is_one_sentence(tmp_path, contents, says):
    assert refusal(tmp_path / "t", contents).startswith(says)


BEGINNINGS = {
    "kineto": b'{"traceEvents": [{"name": "',
    "kineto_before_the_events": b'{"schemaVersion": 1, "x": "' + b"a" * (1 << 18),
    "kineto_after_the_events": b'{"traceEvents": [], "x": "',
    "rocprofv3_json": b'{"rocprofiler-sdk-tool": "',
    "omniperf_pmc_csv": b"Kernel_Name,Workgroup_Size,GPU_ID,Start_Timestamp,End_Timestamp\n",
    "kernelslist": b"kernel-1.trace\n" * 64,
    "accelsim_trace_raw": HEADER.encode(),
    "rmm_log": b"Thread,Time,Action,Pointer,Size,Stream\n",
    "torch_memory_timeline_raw": b"[[0, 1, 1, 1],",
}


BOMBS = [(name, gzip.compress) for name in BEGINNINGS] + [("kernelslist", bz2.compress), ("rmm_log", lzma.compress)]


@pytest.mark.parametrize(("name", "packed"), BOMBS)
def test_a_bomb_is_not_unpacked_to_its_end(tmp_path, monkeypatch, name, packed):
    monkeypatch.setattr(source, "FREE_BYTES", 1 << 21)
    says = refusal(tmp_path / "bomb", packed(BEGINNINGS[name] + b"a" * (1 << 23)))
    assert says.startswith("unpacks to more than "), says
    assert "WORKBENCH_MOST_BYTES" in says


@pytest.mark.parametrize("content", thinned([b"\0", b" ", b"[", b'{"ph":"X"},\n'], 3))
def test_of_three_gibibytes_in_three_megabytes_less_than_128_mebibytes_are_unpacked(tmp_path, content):
    """What was read of the file counts, not all that it has."""
    block = gzip.compress(content * ((1 << 26) // len(content)))
    (tmp_path / "bomb.gz").write_bytes(block * 48)
    sizes = []
    with pytest.raises(InputError, match=r"unpacks to more than .* MiB, which no trace of this size does"):
        sizes.extend(len(piece) for piece in Source(tmp_path / "bomb.gz").pieces())
    assert source.FREE_BYTES <= sum(sizes) < 1 << 27


def test_a_variable_lets_a_file_unpack_to_more(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "FREE_BYTES", 1 << 20)
    (tmp_path / "many.gz").write_bytes(gzip.compress(b"MemcpyHtoD,0x7,1\n" * 200_000))
    with pytest.raises(InputError, match="unpacks to more than"):
        read_trace(tmp_path / "many.gz")
    monkeypatch.setenv("WORKBENCH_MOST_BYTES", "1GiB")
    assert read_trace(tmp_path / "many.gz").facts()["copies"] == 200_000


@pytest.mark.parametrize("name", ["omniperf_pmc_csv", "kernelslist", "accelsim_trace_raw", "rmm_log"])
def test_a_line_without_end_is_not_read_to_its_end(tmp_path, monkeypatch, name):
    monkeypatch.setattr(source, "MOST_LINE", 1 << 20)
    place = tmp_path / "t"
    with place.open("wb") as file:
        file.write(BEGINNINGS[name])
        file.truncate(1 << 34)  # a hole: sixteen gibibytes of zeros on no disk
    with pytest.raises(InputError, match=r"has a line of more than 1 MiB, so it is no trace\.$"):
        read_trace(place)


@pytest.mark.parametrize(
    ("begins", "says"),
    [("kineto", "takes more than"), ("kineto_before_the_events", "in its fi"), ("kineto_after_the_events", "after")],
)
def test_an_event_without_end_is_not_read_to_its_end(tmp_path, monkeypatch, begins, says):
    monkeypatch.setattr("workbench.workloads.importers.json_arrays.MOST_PENDING", 1 << 20)
    place = tmp_path / "t"
    with place.open("wb") as file:
        file.write(BEGINNINGS[begins])
        file.truncate(1 << 34)
    with pytest.raises(InputError, match=says):
        read_trace(place)


def test_lines_of_a_file_that_is_not_compressed_may_be_many(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "FREE_BYTES", 10)
    (tmp_path / "t").write_bytes(b"a\n" * 100)
    assert len(list(Source(tmp_path / "t").lines())) == 100
