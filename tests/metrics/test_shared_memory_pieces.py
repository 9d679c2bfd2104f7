"""Rectangles and wear against the memory painted cell by cell from the event log."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engines.test_shared_memory import simulate
from tests.slow import examples
from workbench.errors import InputError
from workbench.metrics.shared_memory import grants_by_segment, pieces
from workbench.policies.placement import ByteCounter, Compaction, FirstFit, NearestBoundary, PagedMemory
from workbench.records.shared_memory import events

NOBODY = -1
jobs = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 12), st.integers(1, 20)), min_size=1, max_size=25)


def painted(record):
    """Who holds each segment after each cycle, from the log alone; scattered grants take the lowest free segments."""
    log = events(record)
    cycles = int(record.release.max()) + 1
    owner = [NOBODY] * record.segments
    grants, picture = [0] * record.segments, []
    for cycle in range(cycles):
        for at in np.flatnonzero(log["cycle"] == cycle):
            kind, workgroup, start, length = (log[name][at] for name in ("kind", "workgroup", "start", "length"))
            if kind != "grant":
                owner = [NOBODY if who == workgroup else who for who in owner]
            if kind in ("grant", "move"):
                free = [k for k in range(record.segments) if owner[k] == NOBODY]
                taken = free[:length] if record.layout == "scattered" else range(start, start + length)
                for k in taken:
                    assert owner[k] == NOBODY
                    owner[k] = workgroup
                    grants[k] += 1
        picture.append(list(owner))
    return np.array(picture), grants


def from_pieces(result, segments, cycles):
    picture = np.full((cycles, segments), NOBODY)
    for workgroup, begin, end, base, length in zip(*(column.tolist() for column in result), strict=True):
        area = picture[begin:end, base : base + length]
        assert (area == NOBODY).all()
        picture[begin:end, base : base + length] = workgroup
    return picture


PLACEMENTS = [FirstFit(), NearestBoundary(), Compaction(), Compaction(cycles_per_moved_segment=2), PagedMemory()]


@pytest.mark.parametrize("release_first", [True, False])
@pytest.mark.parametrize("placement", PLACEMENTS, ids=lambda placement: placement.short())
@examples(10, 300)
@given(rows=jobs)
@example(rows=[(0, 1, 1)] * 5)
def test_rectangles_are_the_painted_memory(placement, release_first, rows):
    order = "release_first" if release_first else "allocate_first"
    record = simulate(sorted(rows), 13, placement, same_cycle_order=order)
    picture, grants = painted(record)
    assert np.array_equal(from_pieces(pieces(record), 13, len(picture)), picture)
    if record.layout != "scattered":
        assert grants_by_segment(record).tolist() == grants


def test_compaction_cuts_a_workgroup_where_it_moves_it():
    record = simulate([(0, 4, 2), (0, 4, 20), (0, 8, 3), (0, 12, 1)], 16, Compaction())
    assert record.moves.tolist() == [[5, 1, 4, 0, 3]]
    rectangles = list(zip(*(column.tolist() for column in pieces(record)), strict=True))
    assert rectangles == [(0, 0, 2, 0, 4), (1, 1, 5, 4, 4), (1, 5, 21, 0, 4), (2, 2, 5, 8, 8), (3, 5, 6, 4, 12)]


def test_pages_side_by_side_are_one_piece():
    record = simulate([(0, 4, 9), (0, 4, 2), (0, 4, 9), (0, 8, 9)], 16, PagedMemory(access_penalty=0))
    result = pieces(record)
    last = result.workgroup == 3
    assert list(zip(result.base[last], result.length[last], strict=True)) == [(4, 4), (12, 4)]


def test_until_leaves_out_later_grants():
    record = simulate([(0, 16, 5), (0, 16, 5), (0, 16, 5)], 16)
    assert pieces(record, until=5).workgroup.tolist() == [0]
    assert pieces(record, until=6).workgroup.tolist() == [0, 1]


def test_amounts_without_addresses_have_neither_layout_nor_wear():
    record = simulate([(0, 4, 9)], 16, ByteCounter())
    with pytest.raises(InputError, match="no addresses"):
        pieces(record)
    with pytest.raises(InputError, match="no wear by segment"):
        grants_by_segment(record)
