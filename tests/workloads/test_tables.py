"""The tables of kernels and allocations: what is missing stays missing, and sums are those of the rows."""

import numpy as np

from workbench.workloads.allocations import AllocationTable
from workbench.workloads.kernels import MISSING, KernelRows
from workbench.workloads.workload import Groups


def rows():
    gathered = KernelRows()
    gathered.add("a", start_ns=5, duration_ns=1, device=0, workgroups=3, vgprs=8, accum_vgprs=4, block=(2, 1, 1))
    gathered.add("b", start_ns=9, duration_ns=2, device=1, vgprs=16)
    gathered.add("a", start_ns=7, duration_ns=3, device=0, workgroups=0, vgprs=24, accum_vgprs=0)
    return gathered.table()


def test_a_missing_value_is_neither_zero_nor_a_missing_column():
    table = rows()
    assert table.workgroups.tolist() == [3, MISSING, 0]
    assert (table.lacking("workgroups"), table.lacking("block"), table.lacking("shared_bytes")) == (1, 2, 3)
    assert table.shared_bytes is None
    assert table.sgprs is None
    assert table.block.tolist() == [[2, 1, 1], [MISSING] * 3, [MISSING] * 3]


def test_rows_are_taken_with_their_names():
    table = rows().take(np.array([2, 0]))
    assert [table.name_of(k) for k in range(table.rows)] == ["a", "a"]
    assert table.start_ns.tolist() == [7, 5]
    assert table.shared_bytes is None


def test_registers_are_both_files_together_where_both_are_known():
    assert rows().registers().tolist() == [12, MISSING, 24]
    assert rows()._replace(accum_vgprs=None).registers().tolist() == [8, 16, 24]
    assert rows()._replace(vgprs=None).registers() is None


def test_an_empty_table_has_its_required_columns():
    table = KernelRows().table()
    assert (table.rows, table.unique_names, table.stream, table.block) == (0, (), None, None)
    assert table.start_ns.dtype == np.int64


def allocations(after=None, address=None):
    sizes = np.array([100, 50, -100, 30], np.int64)
    return AllocationTable(np.arange(4), sizes, np.zeros(4, np.int64), address, after, None)


def test_the_peak_of_live_bytes_is_told_only_where_it_was_recorded():
    message = allocations().facts()
    assert message == {
        "allocations": 3,
        "frees": 1,
        "allocated_bytes": 180,
        "freed_bytes": 100,
        "largest_allocation_bytes": 100,
        "peak_window_bytes": 150,
    }
    assert allocations(after=np.array([1100, 1150, 1050, 1080])).facts()["peak_live_bytes"] == 1150
    assert allocations(address=np.array([8, 16, 8, 8])).facts()["addresses"] == 2


def test_groups_are_taken_and_repeated_with_all_that_they_ask_for():
    groups = Groups(
        *(np.arange(3) for _ in range(3)),
        waves=np.array([1, 2, 3]),
        independent=np.array([True, False, True]),
        duration=np.array([5, 6, 7]),
        demand={"vgpr": np.array([8, 9, 10])},
        instructions=np.arange(18).reshape(3, 6),
        channels=9,
        levels=4,
    )
    for result, rows in ((groups.take(np.array([2, 0])), [2, 0]), (groups.repeated(np.array([0, 2, 1])), [1, 1, 2])):
        assert result.waves.tolist() == groups.waves[rows].tolist()
        assert result.demand["vgpr"].tolist() == groups.demand["vgpr"][rows].tolist()
        assert result.instructions.tolist() == groups.instructions[rows].tolist()
        assert (result.channels, result.levels) == (9, 4)
    assert groups.repeated(np.ones(3, np.int64)) is groups
