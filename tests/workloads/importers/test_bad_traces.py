"""A file that is no whole trace is refused in one sentence that names it; nothing missing becomes zero."""

import gzip
import json
import lzma
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import read_trace

DATA = Path(__file__).parents[2] / "data" / "traces"
KINETO = (DATA / "kineto_nvidia.json").read_bytes()
ROCPROF = (DATA / "rocprofv3.json").read_bytes()
CSV = (DATA / "pmc_perf_old.csv").read_bytes()


def refusal(place, contents=None):
    """The sentence with which a file of these contents is refused."""
    if contents is not None:
        place.write_bytes(contents)
    with pytest.raises(InputError) as refused:
        read_trace(place)
    sentence = str(refused.value)
    assert sentence.startswith(f"{place}: ")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{place}: ")


def event(**changes):
    """A Kineto trace of one kernel with something changed."""
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {"device": 0, "grid": [1, 1, 1]}}
    return json.dumps({"traceEvents": [{**kernel, **changes}]}).encode()


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        (b"", "is empty."),
        (gzip.compress(b"", mtime=0), "is empty once it is decompressed."),
        (gzip.compress(KINETO * 50, mtime=0)[:-200], "is cut off; its compressed data end too early, get it again."),
        (gzip.compress(KINETO, mtime=0)[:100], "is cut off; its compressed data end too early, get it again."),
        (lzma.compress(KINETO)[:200], "is cut off; its compressed data end too early, get it again."),
        (gzip.compress(KINETO, mtime=0)[:40] + b"\0" * 400, "its compressed data are damaged; get it again."),
        (KINETO[: len(KINETO) // 2], "is cut off; it ends within its traceEvents."),
        (KINETO[:-20], "it is no Kineto trace ("),
        (KINETO.replace(b'"traceEvents": [', b'"traceEvents": {}, "more": ['), "holds no traceEvents."),
        (b'{"traceEvents": [1, 2]}', "its traceEvents are not events (Expected `object`"),
        (b'{"traceEvents": [{"ph": 1}]}', "its traceEvents are not events (Expected `str | null`"),
        (b'{"traceEvents": [{"ph": "X" "cat": "kernel"}]}', "its traceEvents are not events (JSON is malformed"),
        (b'{"traceEvents": []} and more', "it is no Kineto trace ("),
        (b'{"traceEvents": [], "deviceProperties": 3}', "it is no Kineto trace ("),
        (event(ts="soon"), "ts of event 1 must be a number of microseconds. Got '\"soon\"'."),
        (event(ts=None), "ts of event 1 must be a number of microseconds. Got 'null'."),
        (event(dur=-1), "duration_ns of kernels 0 is below zero. Got -1000."),
        (event(ts=1e300), "holds a number that does not fit in 64 bits; the file is damaged."),
        (event(name=7), "the name of event 1 is no text ("),
        (event(args=None), "the arguments of event 1 are not as Kineto writes them ("),
        (event(args={"device": 0, "grid": [1, 1]}), "the arguments of event 1 are not as Kineto writes them ("),
        (event(args={"device": 0, "grid": [-5, 1, 1]}), "workgroups of kernels 0 is below zero. Got -5."),
        (event(args={}), "event 1 is a kernel without a device."),
        (ROCPROF[:900], "is not as rocprofv3 writes it (Input data was truncated)."),
        (b'{"rocprofiler-sdk-tool": {}}', "is not as rocprofv3 writes it (Expected `array`"),
        (b'{"rocprofiler-sdk-tool": [{}]}', "is not as rocprofv3 writes it (Object missing required field `agents`"),
        (
            ROCPROF.replace(b'"kernel_id": 3, "private', b'"kernel_id": 77, "private'),
            "dispatch 0 names kernel 77, which",
        ),
        (ROCPROF.replace(b'"handle": 11}, "type"', b'"handle": 12}, "type"'), "dispatch 0 names GPU agent 11, which"),
        (ROCPROF.replace(b'{"x": 64,', b'{"x": 0,'), "dispatch 0 has the workgroup size (0, 4, 1); each axis must be"),
        (ROCPROF.replace(b'"end_timestamp": 5000', b'"end_timestamp": 1999'), "duration_ns of dispatches 0 is below"),
        (
            CSV.replace(b"Start_Timestamp", b"Started"),
            "has no column Start_Timestamp or BeginNs, so it is no whole pmc",
        ),
        (CSV[:-30], "line 3: has 12 fields where the header has 13; the file is cut off or damaged."),
        (CSV.replace(b",256,256,", b",256,many,"), "line 3: Workgroup_Size must be a number. Got 'many'."),
        (
            CSV.replace(b",256,256,", b",256,,"),
            "line 3: needs a start, an end, a device and a workgroup size of at least",
        ),
        (CSV.replace(b'int)"', b"int)"), "line 3 is no CSV (unexpected end of data)."),
        (
            b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
            "is no trace that is read here; there are accelsim_trace_grouped, ",
        ),
        (b'{"hello": [1, 2]}', "is no trace that is read here; there are accelsim_trace_grouped, "),
        (b"arrival,length,duration\n0,1,2\n", "is no trace that is read here; there are accelsim_trace_grouped, "),
        (b"null", "is no trace that is read here; there are accelsim_trace_grouped, "),
        (b"\n", "is no trace that is read here; there are accelsim_trace_grouped, "),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, contents, says):
    assert refusal(tmp_path / "t.json", contents).startswith(says)


def test_a_path_that_is_no_file_is_refused(tmp_path):
    assert refusal(tmp_path / "absent.json") == "there is no such file."
    assert refusal(tmp_path) == "is a folder; name one trace file in it."
    assert refusal(Path("/dev/zero")) == "is a pipe or a device; copy what it gives into a file."


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    (tmp_path / "secret.json").write_bytes(KINETO)

    def forbidden(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)  # the administrator may read what chmod forbids
    assert refusal(tmp_path / "secret.json") == "cannot be read (Permission denied)."


def test_nothing_of_a_column_that_is_not_there_stands_as_zero(tmp_path):
    (tmp_path / "t.json").write_bytes(event())
    trace = read_trace(tmp_path / "t.json")
    assert trace.kernels.shared_bytes is None
    assert trace.kernels.stream is None
    assert trace.kernels.threads is None
    assert not {"max_shared_bytes", "streams", "max_threads", "max_registers", "allocations"} & set(trace.facts())
