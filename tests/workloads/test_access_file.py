"""Accesses from a CSV file: every row, however it is cut; what is wrong is refused with its row."""

import gzip
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.slow import examples
from workbench.levers import Lever
from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads import workload as blocks
from workbench.workloads.csv_columns import stream_columns
from workbench.workloads.workload_key import read_workload

MACHINE = TranslationMachine(cores=4)
ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 1 << 35), st.booleans()), min_size=1, max_size=40
)


def read(text, tmp_path, name="a.csv", pack=bytes):
    place = tmp_path / name
    place.write_bytes(pack(text.encode()))
    return read_workload({"file": str(place)}, wants="accesses")


@examples(13, 200)
@given(ROWS, st.booleans(), st.integers(1, 9), st.sampled_from(["\n", "\r\n"]))
def test_every_row_is_read_however_it_is_cut(tmp_path_factory, rows, unmaps, size, end):
    rows = sorted(rows, key=lambda row: row[0])
    header = "page,cycle,core" + (",unmap" if unmaps else "")
    lines = [f"{page},{cycle},{core}" + (f",{int(u)}" if unmaps else "") for cycle, core, page, u in rows]
    workload = read(end.join([header, *lines, ""]), tmp_path_factory.getbasetemp())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS", size)
        result = list(workload.accesses(MACHINE, Streams(0)))
    assert [r for b in result for r in zip(b.cycle.tolist(), b.core.tolist(), b.page.tolist())] == [r[:3] for r in rows]
    assert [(b.unmap is None) for b in result] == [not unmaps] * len(result)
    if unmaps:
        assert np.concatenate([b.unmap for b in result]).tolist() == [row[3] for row in rows]
    assert {column.dtype for b in result for column in (b.cycle, b.page)} == {np.dtype(np.int64)}
    assert {b.core.dtype for b in result} == {np.dtype(np.int32)}


@examples(20, 300)
@given(
    st.lists(st.integers(0, 999), min_size=1), st.integers(1, 12), st.sampled_from(["\n", "\r\n"]), st.integers(0, 3)
)
def test_a_text_that_comes_in_parts_is_the_text(numbers, size, end, blank):
    text = (end.join(["length", *map(str, numbers)]) + end * blank).encode()
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    length = {"length": Lever("length", "integer", least=0, most=999)}
    results = [n for rows in stream_columns(parts, length, {}, "a.csv") for n in rows["length"].tolist()]
    assert results == numbers


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cycle,core,page\n0,0,1\n5,1,2\n4,1,2\n", "row 3 (line 4): cycle must not be below the row above it (5)"),
        ("cycle,core,page\n0,0,1\n0,4,1\n", "row 2 (line 3): core must be below 4, all that the machine has. Got 4."),
        (f"cycle,core,page\n0,0,{1 << 36}\n", "row 1 (line 2): page must be below 68719476736, all that the machine"),
        ("cycle,core,page\n0,-1,1\n", "row 1 (line 2): core must be a whole number from 0 to 1023. Got '-1'."),
        ("cycle,core,page\n0,0\n", "row 1 (line 2): must have 3 fields (cycle,core,page). It has 2."),
        ("cycle,core,page,unmap\n0,0,1,2\n", "row 1 (line 2): unmap must be a whole number from 0 to 1. Got 2."),
        (
            "cycle,core\n0,0\n",
            "the first line must name the columns cycle,core,page, in any order; there may be unmap.",
        ),
        ("cycle,core,page\n", "must have at least one row below the header. It has none."),
        ("", "is empty."),
    ],
)
def test_what_is_wrong_is_refused_with_its_row(tmp_path, text, says):
    message = refusal(lambda: read(text, tmp_path).accesses(MACHINE, Streams(0)))
    assert says in message


def test_a_row_of_a_later_piece_is_named(tmp_path):
    text = "cycle,core,page\n" + "".join(f"{n},{n % 4},{n}\n" for n in range(300_000)) + "3,0,0\n"
    assert "row 300001 (line 300002): cycle must not be below the row above it (299999)" in refusal(
        read, text, tmp_path
    )


def test_it_is_named_by_its_content_and_refused_when_that_changes(tmp_path):
    workload = read("cycle,core,page\n0,0,1\n", tmp_path, "a.csv.gz", lambda text: gzip.compress(text, mtime=0))
    again = read("cycle,core,page\n0,0,1\n", tmp_path, "b.csv")
    assert workload.identity() == again.identity()
    (tmp_path / "b.csv").write_text("cycle,core,page\n0,0,2\n")
    assert "its content has changed" in refusal(again.accesses, MACHINE, Streams(0))


def test_a_long_file_streams_through(tmp_path):
    text = "cycle,core,page\n" + "".join(f"{n},{n % 4},{n % 5000}\n" for n in range(500_000))
    workload = read(text, tmp_path)
    tracemalloc.start()
    assert sum(len(b.core) for b in workload.accesses(MACHINE, Streams(0))) == 500_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20, "some megabytes of the text, and what NumPy needs for them"
