"""Two open reports about PyTorch's allocator, reproduced with the cause shown."""

import numpy as np
import pytest

from workbench.engines.torch_allocator.replay import play
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import ALLOC, COMPLETE, DEFER, FREE, NOTHING, Requests

MIB = 1 << 20
CARD = 16 << 30


def requests(rows):
    whole = [(kind, handle, size, 0, -1) for kind, handle, size in rows]
    return Requests(*(np.array(column, np.int64) for column in zip(*whole, strict=True)))


def fenced(cycles=101, fence=True):
    """pytorch#123548: 91 MiB and 45.5 MiB come and go beside 64 MiB; what stays each time keeps them from the end."""
    rows = [(ALLOC, 0, 64 * MIB)]
    for cycle in range(cycles):
        first = 1 + 3 * cycle
        rows += [(ALLOC, first, 91 * MIB), (ALLOC, first + 1, 91 * MIB // 2)]
        rows += [(ALLOC, first + 2, 2 * MIB)] if fence else []
        rows += [(FREE, first, 0), (FREE, first + 1, 0)]
    return requests(rows)


def reserved_by_cycle(settings, fence=True):
    played = play(fenced(fence=fence), settings.rules(np.zeros(1), CARD), NOTHING)
    assert not played.refused
    return (played.reserved[5 if fence else 4 :: 5 if fence else 4][::20] // MIB).tolist()


def test_reserved_memory_grows_without_end_when_expandable_segments_meet_max_split_size():
    both = AllocatorSettings(max_split_size_mb=128, expandable_segments=True)
    assert reserved_by_cycle(both) == [220, 2980, 5760, 8520, 11300, 14060], "as the report has it, to the MiB"


@pytest.mark.parametrize("conf", ["", "expandable_segments:True", "max_split_size_mb:128"])
def test_either_alone_stays_small(conf):
    assert max(reserved_by_cycle(AllocatorSettings.parse(conf))) < 500


def test_the_cause_is_that_the_merged_block_is_too_large_to_serve_and_too_far_from_the_end_to_grow():
    both = AllocatorSettings(max_split_size_mb=128, expandable_segments=True)
    assert max(reserved_by_cycle(both, fence=False)) < 500, "without the fence it grows at the end of the segment"
    larger = both.but(max_split_size_mb=137)
    assert max(reserved_by_cycle(larger)) < 500, "the merged 136.5 MiB may be split again"


def awaited():
    """pytorch#189504: a segment is half live and half awaited by a stream, and that half would serve what is asked."""
    return [(ALLOC, 0, 40 * MIB), (FREE, 0, 0), (ALLOC, 1, 20 * MIB), (ALLOC, 2, 20 * MIB), (DEFER, 2, 0)]


@pytest.mark.parametrize(("searches", "refused"), [(False, 1), (True, 0)])
def test_out_of_memory_with_a_fitting_block_in_the_pool(searches, refused):
    settings = AllocatorSettings(search_after_flush=searches)
    rows = [*awaited(), (ALLOC, 3, 20 * MIB), (COMPLETE, 2, 0)]
    played = play(requests(rows), settings.rules(np.zeros(1), 48 * MIB), NOTHING)
    assert (played.refused, played.flushes) == (refused, 1)
    if not refused:
        assert played.placed[5] == played.placed[3], "the block that was awaited"
