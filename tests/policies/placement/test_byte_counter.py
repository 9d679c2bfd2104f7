"""The byte counter against its contract and a twin that counts (gem5's LDS, GPGPU-Sim)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments
from workbench.policies.placement import ByteCounter, PagedMemory
from workbench.policies.placement.contract import PlacementContract


class TestByteCounter(PlacementContract):
    policy = ByteCounter()


def test_has_no_addresses():
    assert ByteCounter.layout == "scattered"
    assert not ByteCounter.addressed


@given(segments, moves)
def test_fits_exactly_when_the_count_does(segments, moves):
    """Field.md 1.2 and 1.3: the amount in use plus the request against the capacity, whatever lies where."""
    for policy in (ByteCounter(), PagedMemory()):
        memory, twin, live = policy.allocator(segments), slow.Counter(segments), []
        for length, kind, which in moves[:30]:
            m = 1 + (length - 1) % segments
            if kind == "give back" and live:
                start, size = live.pop(which % len(live))
                memory.give_back(start, size)
                twin.released(start, size)
            else:
                free = [bit == "1" for bit in memory.free_map]
                start = memory.take(m)
                assert (start is None) == (twin.used + m > segments)
                if start is not None:
                    assert start == free.index(True)
                    twin.granted(start, m)
                    live.append((start, m))
            assert memory.free_map.count("0") == twin.used
