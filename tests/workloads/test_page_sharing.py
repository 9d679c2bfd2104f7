"""Who shares which pages: against sets, whatever the blocks."""

from collections import defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads.synthetic.dense_kernels import Transpose
from workbench.workloads.warp_pages import page_sharing, pages_of_warps
from workbench.workloads.workload import Accesses

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.booleans()), min_size=1, max_size=60)


def block(rows):
    core, page, unmap = (np.array(column) for column in zip(*rows))
    return Accesses(np.zeros(len(rows), np.int64), core.astype(np.int32), page, unmap)


@settings(max_examples=60)
@given(ROWS, st.integers(1, 60))
def test_degrees_are_those_of_sets(rows, at):
    holders, touched = defaultdict(set), [(core, page) for core, page, unmap in rows if not unmap]
    for core, page in touched:
        holders[page].add(core)
    sharing = page_sharing([block(part) for part in (rows[:at], rows[at:]) if part], cores=4)
    assert sharing.pages == len(holders)
    assert sharing.pages_of_core.tolist() == [sum(c in held for held in holders.values()) for c in range(4)]
    assert sharing.pages_by_degree.tolist() == [sum(len(held) == d for held in holders.values()) for d in range(5)]
    assert sharing.accesses_by_degree.tolist() == [sum(len(holders[p]) == d for _, p in touched) for d in range(5)]
    both = [[sum({a, b} <= held for held in holders.values()) for b in range(4)] for a in range(4)]
    assert sharing.shared_pages.tolist() == both
    assert sharing.mean_degree * max(len(holders), 1) == sum(map(len, holders.values()))


def test_turning_tiles_in_shared_memory_lowers_the_pages_of_a_warp():
    machine = TranslationMachine(cores=4)
    kernel = Transpose(side=1024)
    through = pages_of_warps(kernel.warp_pages(machine, Streams(0)))
    without = pages_of_warps(kernel.but(through_shared=False).warp_pages(machine, Streams(0)))
    assert len(through) == len(without) == 32 * 32 * 8
    assert (through.tolist()[0], without.tolist()[0]) == (8, 36), "4 rows read, and 4 written or 32"
