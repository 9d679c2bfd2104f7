"""Group files: what is written is read, what is wrong is said with row and column, and the machine has its say."""

import gzip
import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import group_csv
from tests.work_counts import instructions
from workbench.machine import Machine, Resource, read_machine
from workbench.streams import Streams
from workbench.workloads import csv_columns
from workbench.workloads.group_file import GroupFile, group_columns
from workbench.workloads.synthetic.random_groups import RandomGroups

HEADER = "arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments\n"
ROW = "0,3,1,16,1,10,2,3,4\n"
TICKETS = Resource(label="tickets", level="module", contiguous=False, blocks=16)
MACHINE = Machine(more_resources=(TICKETS,))
ROWS = st.lists(
    st.tuples(
        st.integers(0, 99),
        st.integers(0, 63),
        st.integers(1, 8),
        st.integers(1, 12),
        st.integers(0, 1),
        st.integers(1, 10**6),
        *[st.integers(0, 12)] * 3,
    ),
    min_size=1,
    max_size=20,
)


@pytest.fixture
def write(tmp_path):
    """Write a file and return the workload that reads it; every call writes another file."""

    def written(content, name="jobs.csv"):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return GroupFile(file=str(path))

    return written


def said(workload, function=None, *given):
    """What is said about a file, without the folder that it lies in."""
    return refusal(function or workload.content, *given).replace(workload.file, "jobs.csv")


@given(rows=ROWS)
def test_what_was_written_is_read(tmp_path_factory, rows):
    rows = sorted(rows, key=lambda row: row[0])
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_text(HEADER + "".join(",".join(map(str, row)) + "\n" for row in rows))
    groups = GroupFile(file=str(path)).groups(MACHINE, Streams(1))
    columns = (groups.arrival, groups.channel, groups.priority, groups.waves, groups.independent, groups.duration)
    demand = [groups.demand[label] for label in ("vgpr", "sgpr", "shared")]
    assert list(zip(*(column.tolist() for column in (*columns, *demand)), strict=True)) == rows
    assert groups.independent.dtype == bool
    assert {c.dtype for c in (*demand, *columns, groups.instructions)} == {np.dtype(np.int64), np.dtype(bool)}
    assert not groups.instructions.any()
    assert list(groups.demand) == ["vgpr", "sgpr", "shared"]


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_drawn_groups_written_as_columns_are_read_again(tmp_path_factory, seed, executing, further):
    machine, blocks = (MACHINE, {"further_blocks": {"uniform": [1, 16]}}) if further else (Machine(), {})
    kind = "instruction_mix" if executing else "no_instructions"
    drawn = RandomGroups(count=30, instructions=kind, arrival={"poisson_load": 1}, **blocks)
    wanted = drawn.groups(machine, Streams(seed))
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    columns = group_columns(wanted)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    result = GroupFile(file=str(path)).groups(machine, Streams(1))
    assert {label: blocks.tolist() for label, blocks in result.demand.items()} == {
        label: blocks.tolist() for label, blocks in wanted.demand.items()
    }
    for name in ("arrival", "channel", "priority", "waves", "independent", "duration", "instructions"):
        assert getattr(result, name).tolist() == getattr(wanted, name).tolist(), name


def test_optional_columns_may_stand_anywhere_and_in_any_order(write):
    header = "instr_jump,tickets_blocks," + HEADER.strip() + ",instr_move\n"
    groups = write(header + "7,2," + ROW.strip() + ",9\n").groups(MACHINE, Streams(1))
    assert groups.instructions.tolist() == [[9, 0, 0, 0, 0, 7]]
    assert groups.demand["tickets"].tolist() == [2]


def test_what_stands_between_queue_and_unit_has_columns_of_its_own(write):
    """Each may be left out; what was read is written and read again (spec 7, R10, R15 and R16)."""
    header = HEADER.replace("\n", ",endless,kernel,barrier,cluster\n")
    groups = write(header + ROW.replace("\n", ",1,7,-1,2\n") + ROW.replace("\n", ",0,7,3,2\n")).groups(
        MACHINE, Streams(1)
    )
    assert (groups.kernel.tolist(), groups.cluster.tolist()) == ([7, 7], [2, 2])
    assert (groups.barrier.tolist(), groups.endless.tolist()) == ([-1, 3], [True, False])
    columns = group_columns(groups)
    assert {name: columns[name].tolist() for name in ("kernel", "cluster", "barrier", "endless")} == {
        "kernel": [7, 7], "cluster": [2, 2], "barrier": [-1, 3], "endless": [1, 0]
    }  # fmt: skip
    without = write(HEADER + ROW).groups(MACHINE, Streams(1))
    assert (without.kernel, without.cluster, without.barrier, without.endless) == (None, None, None, None)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("cluster", 0, "cluster must be a whole number from 1 to 65536. Got 0. Nearest: 1."),
        ("barrier", -2, "barrier must be a whole number from -1 to 1048576. Got -2. Nearest: -1."),
        ("kernel", -1, "kernel must be a whole number from 0 to 1048576. Got '-1'. Nearest: 0."),
        ("endless", 2, "endless must be a whole number from 0 to 1. Got 2. Nearest: 1."),
    ],
)
def test_a_wrong_value_of_such_a_column_is_refused(write, column, value, sentence):
    workload = write(HEADER.replace("\n", f",{column}\n") + ROW.replace("\n", f",{value}\n"))
    assert said(workload) == f"jobs.csv: row 1 (line 2): {sentence}"


NAMES = "the first line must name the columns arrival,channel,priority,waves,independent,duration,vgpr_blocks,"
ALSO = (
    "sgpr_blocks,shared_segments, in any order; there may be instr_move ... instr_jump, kernel, cluster, barrier, "
    "endless, and LABEL_blocks of further resources. "
)
FIRST, SECOND = "row 1 (line 2): ", "row 2 (line 3): "


def changed(**fields):
    names = HEADER.strip().split(",")
    values = dict(zip(names, ROW.strip().split(","), strict=True)) | {name: str(v) for name, v in fields.items()}
    return ",".join(values) + "\n" + ",".join(values.values()) + "\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "is empty."),
        (HEADER, "must have at least one row below the header. It has none."),
        ("arrival,length,duration\n1,2,3\n", NAMES + ALSO),
        (HEADER.replace("\n", ",instr_add\n") + ROW, NAMES + ALSO),
        (HEADER.replace("\n", ",my res_blocks\n") + ROW, NAMES + ALSO),
        (HEADER.replace("\n", ",_blocks\n") + ROW, NAMES + ALSO),
        (HEADER.replace("\n", ",instr_load,instr_load\n") + ROW, NAMES),
        (HEADER + "1,2\n", FIRST + "must have 9 fields (arrival,channel,"),
        (changed(channel=64), FIRST + "channel must be a whole number from 0 to 63. Got 64. Nearest: 63."),
        (changed(priority=0), FIRST + "priority must be a whole number from 1 to 8. Got 0. Nearest: 1."),
        (changed(priority=9), FIRST + "priority must be a whole number from 1 to 8. Got 9. Nearest: 8."),
        (changed(waves=0), FIRST + "waves must be a whole number from 1 to 65536. Got 0. Nearest: 1."),
        (changed(independent=2), FIRST + "independent must be a whole number from 0 to 1. Got 2. Nearest: 1."),
        (changed(independent="true"), FIRST + "independent must be a whole number from 0 to 1. Got 'true'."),
        (changed(duration=0), FIRST + "duration must be a whole number from 1 to"),
        (changed(vgpr_blocks=-1), FIRST + "vgpr_blocks must be a whole number from 0 to 4096. Got '-1'. Nearest: 0."),
        (changed(shared_segments=4097), FIRST + "shared_segments must be a whole number from 0 to 4096. Got 4097."),
        (changed(instr_load=10**12 + 1), FIRST + "instr_load must be a whole number from 0 to 1000000000000. Got"),
        (changed(instr_load=10485761), FIRST + "instr_load must be at most 10485760 in 10 cycles. Got 10485761."),
        (changed(tickets_blocks="x"), FIRST + "tickets_blocks must be a whole number from 0 to 4096. Got 'x'."),
        (HEADER + "9" + ROW[1:] + "5" + ROW[1:], SECOND + "arrival must not be below the row above it (9), as rows"),
    ],
)
def test_what_is_wrong_is_said_with_row_and_column(write, content, expected):
    assert said(write(content)).startswith(f"jobs.csv: {expected}")


PIECES = st.sampled_from(
    [ROW, ROW.strip(), "0", "1", "4097", "9" * 19, "-", ",", ",,", "\n", "\r\n", " ", '"', "\ufeff", "é", "3,4,5\n"]
)
OPTIONAL = st.sampled_from(["", ",instr_load", ",cache_blocks", ",instr_lode", ",instr_jump,cache_blocks"])


@given(st.lists(PIECES, max_size=8), OPTIONAL)
def test_the_fast_reader_takes_exactly_what_the_slow_one_takes(tmp_path_factory, pieces, optional):
    wider = "".join(",7" for _ in optional.split(",")[1:])
    body = "".join(pieces).replace(ROW.strip(), ROW.strip() + wider)
    content = (HEADER.replace("\n", f"{optional}\n") + body).encode()
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_bytes(content)
    workload = GroupFile(file=str(path))
    slowly = group_csv.read(content)
    assert (refusal(workload.content) == "") == (slowly is not None)
    if slowly is not None:
        groups = workload.content().groups
        for row, wanted in enumerate(slowly):
            assert [groups.instructions[row].tolist()] == [[wanted[f"instr_{c}"] for c in group_csv.CLASSES]]
            assert groups.demand["vgpr"][row] == wanted["vgpr_blocks"]
            assert "cache_blocks" not in wanted or groups.demand["cache"][row] == wanted["cache_blocks"]


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    path.write_bytes(content)
    assert refusal(GroupFile(file=str(path)).content)


@pytest.mark.parametrize("piece", [1, 20, 45, 10**9])
@pytest.mark.parametrize("wrong", [None, 0, 7, 19])
def test_a_file_read_in_pieces_is_the_same_file(write, monkeypatch, piece, wrong):
    rows = [f"{k},{k % 64},1,{k % 9 + 1},0,5,{k},1,0" for k in range(20)]
    if wrong is not None:
        rows[wrong] += "x"
    monkeypatch.setattr(csv_columns, "_PIECE", piece)
    workload = write(HEADER + "\n".join(rows))
    if wrong is None:
        assert workload.content().groups.demand["vgpr"].tolist() == list(range(20))
    else:
        place = f"row {wrong + 1} (line {wrong + 2})"
        assert said(workload).startswith(f"jobs.csv: {place}: shared_segments must be a whole number")


@pytest.mark.parametrize(
    ("fields", "machine", "expected"),
    [
        ({"waves": 41}, MACHINE, "waves must be at most 40, all that a module has slots for. Got 41."),
        (
            {"vgpr_blocks": 17},
            MACHINE,
            "vgpr_blocks must be at most 16, as 4 of its 16 waves share a unit of 64 blocks. Got 17.",
        ),
        ({"shared_segments": 129}, MACHINE, "shared_segments must be at most 128, all that a module has. Got 129."),
        ({"tickets_blocks": 17}, MACHINE, "tickets_blocks must be at most 16, all that a module has. Got 17."),
    ],
)
def test_a_row_that_the_machine_cannot_hold_is_named(write, fields, machine, expected):
    workload = write(changed(**fields))
    assert said(workload, workload.groups, machine, Streams(1)) == f"jobs.csv: {FIRST}{expected}"
    assert said(workload, workload.check_machine, machine, "workload", "a.yaml").startswith("a.yaml: jobs.csv: row 1")


def test_a_resource_that_the_machine_does_not_declare_is_refused(write):
    workload = write(changed(tikets_blocks=1))
    assert said(workload, workload.check_machine, MACHINE, "workload", "a.yaml") == (
        "a.yaml: jobs.csv: column tikets_blocks: unknown further resource of the machine 'tikets'; there are "
        "tickets. Did you mean tickets?"
    )
    for label in ("waves", "workgroups", "barriers"):
        workload, machine = write(changed(**{f"{label}_blocks": 1})), MACHINE.but(barriers_a_module=16)
        assert f"unknown further resource of the machine '{label}'" in refusal(workload.groups, machine, Streams(1))


def test_a_machine_without_scalar_registers_does_not_read_their_column(write):
    assert list(write(changed(sgpr_blocks=4000)).groups(read_machine("h100"), Streams(1)).demand) == ["vgpr", "shared"]


def test_it_is_named_by_its_content_and_changes_are_refused(write):
    plain, packed = write(HEADER + ROW), write(gzip.compress((HEADER + ROW).encode()), "jobs.csv.gz")
    digest = hashlib.sha256((HEADER + ROW).encode()).hexdigest()
    assert plain.identity() == packed.identity()
    assert plain.identity()["group_file"] == {"sha256": digest}
    assert plain.short() == "group_file(jobs.csv)"
    pinned = plain.pinned()
    with open(plain.file, "w") as file:
        file.write(HEADER + ROW + ROW)
    assert "its content has changed" in refusal(pinned.groups, MACHINE, Streams(1))


def test_what_one_run_does_to_its_columns_no_other_run_sees(write):
    workload = write(HEADER + ROW)
    first = workload.groups(MACHINE, Streams(1))
    first.waves[0] = first.demand["vgpr"][0] = first.instructions[0, 0] = 99
    again = workload.groups(MACHINE, Streams(1))
    assert (again.waves[0], again.demand["vgpr"][0], again.instructions[0, 0]) == (16, 2, 0)


def test_python_does_nothing_for_a_single_row(write):
    spent, results = [], []
    for count in (1, 2_000, 20_000):
        rows = np.tile([0, 1, 2, 3, 1, 100, 5, 6, 7], (count, 1))
        rows[:, 0] = np.arange(len(rows))
        workload = write(HEADER + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
        spent.append(instructions(lambda workload=workload: results.append(workload.content().groups)))
        assert np.array_equal(results[-1].arrival, rows[:, 0])
    assert spent[2] < 1.1 * spent[1]
