"""Workgroup files: read as they are, refused with row and column, named by their content."""

import bz2
import gzip
import hashlib
import lzma
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import workgroup_csv
from tests.work_counts import instructions
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.workgroup_file import WorkgroupFile

HEADER = "arrival,length,duration\n"
ROWS = st.lists(st.tuples(st.integers(0, 99), st.integers(1, 64), st.integers(1, 10**6)), min_size=1, max_size=20)


@pytest.fixture
def write(tmp_path):
    """Write a file and return the workload that reads it; every call writes another file."""

    def written(content, name="jobs.csv"):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return WorkgroupFile(file=str(path))

    return written


def columns(workload):
    return [column.tolist() for column in workload.content().workgroups]


def said(workload):
    """What is said about a file, without the folder that it lies in."""
    return refusal(workload.content).replace(workload.file, "jobs.csv")


@given(rows=ROWS)
def test_what_was_written_is_read(tmp_path_factory, rows):
    rows = sorted(rows, key=lambda row: row[0])
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_text(HEADER + "".join(f"{a},{n},{d}\n" for a, n, d in rows))
    workload = WorkgroupFile(file=str(path))
    drawn = workload.workgroups(Machine(), Streams(1))
    assert list(zip(*(column.tolist() for column in drawn), strict=True)) == rows
    assert {column.dtype for column in drawn} == {np.dtype(np.int64)}


@pytest.mark.parametrize(
    "content",
    [
        "arrival,length,duration\n0,3,10\n5,4,20\n",
        "arrival,length,duration\n0,3,10\n5,4,20",
        "arrival,length,duration\r\n0,3,10\r\n5,4,20\r\n",
        "\ufeffarrival,length,duration\n0,3,10\n5,4,20\n\n\n",
        '"arrival","length","duration"\n0,3,10\n5,4,20\n',
        "duration, arrival, length\n10,0,3\n20,5,4\n",
        "arrival,length,duration\n0,3,10\n5,0000000000000000000000004,20\n",
    ],
)
def test_ends_of_lines_marks_quotes_and_order_do_not_matter(write, content):
    assert columns(write(content)) == [[0, 5], [3, 4], [10, 20]]


NAMES = "the first line must name the columns arrival,length,duration, in any order. "
FIRST, SECOND = "row 1 (line 2): ", "row 2 (line 3): "
ARRIVAL = "arrival must be a whole number from 0 to 1000000000000000."
LENGTH = "length must be a whole number from 1 to 2147483648."
DURATION = "duration must be a whole number from 1 to 1000000000000000."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "is empty."),
        (HEADER, "must have at least one row below the header. It has none."),
        ("\n\n", NAMES + "Missing: arrival"),
        ("arrival,length\n1,2\n", NAMES + "Missing: duration."),
        ("arrival,length,duration,priority\n1,2,3,4\n", NAMES + "Unknown: priority."),
        ("arrival,length,length,duration\n1,2,3,4\n", NAMES + "Twice: length."),
        ("0,3,10\n", NAMES + "Missing: arrival, length, duration. Unknown: 0, 3, 10."),
        ("arrival;length;duration\n0;3;10\n", NAMES + "Missing"),
        (HEADER + "0,3,10\n5,4\n", SECOND + "must have 3 fields (arrival,length,duration). It has 2."),
        (HEADER + "0,3,10,1\n", FIRST + "must have 3 fields (arrival,length,duration). It has 4."),
        (HEADER + "0,3,10\n\n5,4,20\n", SECOND + "must have 3 fields (arrival,length,duration). It has 0."),
        (HEADER + "0,3,10\n5,,20\n", SECOND + LENGTH + " Got ''."),
        (HEADER + "0,0,10\n", FIRST + LENGTH + " Got 0. Nearest: 1."),
        (HEADER + "0,3,0\n", FIRST + DURATION + " Got 0. Nearest: 1."),
        (HEADER + "-1,3,10\n", FIRST + ARRIVAL + " Got '-1'. Nearest: 0."),
        (HEADER + "0,2.5,10\n", FIRST + LENGTH + " Got '2.5'. Nearest: 2."),
        (HEADER + "0,3,1e3\n", FIRST + DURATION + " Got '1e3'. Nearest: 1000."),
        (HEADER + "0,NaN,10\n", FIRST + LENGTH + " Got 'NaN'."),
        (HEADER + "0,inf,10\n", FIRST + LENGTH + " Got 'inf'. Nearest: 2147483648."),
        (HEADER + '0,"3",10\n', FIRST + LENGTH + " Got '\"3\"'."),
        (HEADER + "0, 3,10\n", FIRST + LENGTH + " Got ' 3'. Nearest: 3."),
        (HEADER + "0,4294967296,10\n", FIRST + LENGTH + " Got 4294967296. Nearest: 2147483648."),
        (HEADER + f"0,3,{'9' * 30}\n", FIRST + DURATION + " Got 9999"),
        (HEADER + f"0,3,{'9' * 9000}\n", FIRST + DURATION + " Got '9999"),
        (HEADER + "0,3,²\n", FIRST + DURATION + " Got '²'."),
        (
            HEADER + "9,3,10\n5,4,20\n",
            SECOND + "arrival must not be below the row above it (9), as rows are in queue order. Got 5. Sort the rows",
        ),
        (b"\x89PNG\r\n\x1a\n\x00\x00", NAMES + "Missing"),
        (gzip.compress((HEADER + "0,3,10\n").encode(), mtime=0)[:-9], "is cut off"),
        (gzip.compress(b"", mtime=0), NAMES + "Missing"),
    ],
)
def test_what_is_wrong_is_said_with_row_and_column(write, content, expected):
    assert said(write(content)).startswith(f"jobs.csv: {expected}")


def test_times_that_leave_every_clock_behind_are_refused(write):
    content = HEADER + f"0,1,{10**15}\n" * 3000
    assert "must end before cycle 2^61 even one by one. They sum to 3e+18." in said(write(content))


def test_a_missing_file_and_a_folder_are_sentences(tmp_path):
    assert refusal(WorkgroupFile(file=str(tmp_path / "none.csv")).content).endswith("none.csv: there is no such file.")
    assert "is a folder" in refusal(WorkgroupFile(file=str(tmp_path)).content)
    assert "File name too long" in refusal(WorkgroupFile(file="x" * 5000).content)


PIECES = st.sampled_from(
    ["0", "1", "12", "9" * 19, "-", ".", ",", ",,", "\n", "\r\n", " ", '"', "e", "\ufeff", "é", "\x00", "3,4,5\n"]
)


@given(st.lists(PIECES, max_size=25), st.booleans())
def test_the_fast_reader_takes_exactly_what_the_slow_one_takes(tmp_path_factory, pieces, headed):
    content = ((HEADER if headed else "") + "".join(pieces)).encode()
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_bytes(content)
    workload = WorkgroupFile(file=str(path))
    slowly = workgroup_csv.read(content)
    assert (refusal(workload.content) == "") == (slowly is not None)
    if slowly is not None:
        assert workload.content().workgroups._asdict() == {
            name: pytest.approx(column) for name, column in slowly.items()
        }


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_bytes(content)
    assert refusal(WorkgroupFile(file=str(path)).content) or workgroup_csv.read(content)


def test_a_compressed_file_is_the_same_file(write):
    plain = (HEADER + "0,3,10\n5,4,20\n").encode()
    same = [
        write(plain),
        write(gzip.compress(plain), "jobs.csv.gz"),
        write(lzma.compress(plain)),
        write(bz2.compress(plain)),
    ]
    assert {str(columns(workload)) for workload in same} == {"[[0, 5], [3, 4], [10, 20]]"}
    digest = hashlib.sha256(plain).hexdigest()
    assert [workload.identity()["workgroup_file"] for workload in same] == [{"sha256": digest}] * 4


def test_a_file_is_named_by_its_content_alone(write):
    one, moved, other = (write(HEADER + row) for row in ("0,3,10\n", "0,3,10\n", "0,3,11\n"))
    assert one.identity() == moved.identity() != other.identity()
    assert one.short() == "workgroup_file(jobs.csv)"


def test_a_file_that_changes_is_refused_once_its_digest_is_pinned(write):
    workload = write(HEADER + "0,3,10\n").pinned()
    assert columns(pickle.loads(pickle.dumps(workload))) == [[0], [3], [10]]
    with open(workload.file, "w") as file:
        file.write(HEADER + "0,3,1000\n")
    assert "its content has changed" in refusal(workload.workgroups, Machine(), Streams(1))
    assert columns(workload.but(sha256="")) == [[0], [3], [1000]]


def test_a_row_that_the_machine_cannot_hold_is_named(write):
    workload = write(HEADER + "0,3,10\n1,200,10\n2,200,10\n")
    expected = "row 2 (line 3): length must be at most 128 segments, all that the machine has. Got 200."
    assert refusal(workload.workgroups, Machine(segments=128), Streams(1)).endswith(f"jobs.csv: {expected}")
    assert workload.workgroups(Machine(segments=200), Streams(1)).length.tolist() == [3, 200, 200]


def test_what_one_run_does_to_its_columns_no_other_run_sees(write):
    workload = write(HEADER + "0,3,10\n")
    workload.workgroups(Machine(), Streams(1)).length[0] = 99
    assert workload.workgroups(Machine(), Streams(1)).length.tolist() == [3]


@pytest.mark.slow
def test_python_does_nothing_for_a_single_row(write):
    def read(count):
        rows = np.column_stack([np.arange(count), np.arange(count) % 64 + 1, np.arange(count) % 1000 + 1])
        workload = write(HEADER + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
        spent.append(instructions(lambda: results.append(workload.content().workgroups)))
        assert np.array_equal(np.column_stack(results[-1]), rows)

    spent, results = [], []
    for count in (1, 2_000, 20_000):
        read(count)
    assert spent[2] < 1.1 * spent[1]


def test_the_error_is_an_input_error(write):
    with pytest.raises(InputError):
        write("").content()
