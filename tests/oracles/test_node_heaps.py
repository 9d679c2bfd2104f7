"""Device malloc by hand: the lock, aggregation, chunks, null answers (spec 2; spec 6, R14, E8)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.conservation import broken
from tests.oracles.node.description import KIB, MIB
from tests.oracles.node.node import Simulation
from tests.oracles.node.small import card, ends, groups_of, kernel, run
from tests.oracles.node.times import parts_of

pytestmark = pytest.mark.slow

HOLD = {"hold_cycles": 10, "split_cycles": 3, "granule_bytes": 1024, "heap_bytes": 8 * KIB}


def mallocs(
    lanes: tuple[int, ...], serve: str, waves: int = 1, heap: dict[str, Any] | None = None,
    memory_bytes: int = 64 * MIB, **others: Any,
) -> Simulation:  # fmt: skip
    """Run one group of waves that all allocate after 100 cycles."""
    machine = card(room=8, heap=HOLD | (heap or {}), memory_bytes=memory_bytes)
    phase = {"compute": 100, "mallocs": lanes}
    return run(
        [machine], [{"streams": [kernel(1, phase, waves=waves)]}], {"malloc": "wait"}, {"serve": serve}, **others
    )


@pytest.mark.parametrize(("serve", "end"), [("per_thread", 100 + 3 * 10), ("warp_aggregated", 100 + 10 + 3)])
def test_aggregation_takes_the_lock_once(serve: str, end: int) -> None:
    assert ends(mallocs((5, 5, 5), serve)) == [end]


def test_an_aggregated_call_sums_up_first() -> None:
    """32 lanes are summed up in five steps; the time is service, not the lock's."""
    result = mallocs((5,), "warp_aggregated", heap={"scan_step_cycles": 4})
    assert ends(result) == [100 + 5 * 4 + 10 + 3]
    assert parts_of(result, groups_of(result)[0])["malloc service"] == 33


def test_pieces_are_aligned() -> None:
    """Five bytes take eight where the least is four (spec 2, E5)."""
    (row,) = mallocs((5, 1, 8), "warp_aggregated").log.of("malloc", "request")
    assert row.value("bytes") == 8 + 4 + 8


def test_waves_wait_for_the_lock_in_order() -> None:
    result = mallocs((5,), "warp_aggregated", waves=4)
    assert [row.cycle for row in result.log.of("malloc", "acquire")] == [100, 110, 120, 130]
    parts = parts_of(result, groups_of(result)[0])
    assert (parts["malloc lock"], parts["malloc service"]) == (30, 13)


def test_attempts_are_those_of_the_contention_arithmetic() -> None:
    """Of c contenders each tries when it comes and at each start of a section: c(c-1)/2 in vain (spec 2, section 4)."""
    (heap,) = mallocs((5,), "per_thread", waves=4).heaps.values()
    assert heap.failed_attempts == 4 * 3 // 2
    assert heap.attempts == heap.failed_attempts + 4


def test_an_empty_heap_asks_the_pool_for_a_chunk() -> None:
    result = mallocs((5,), "per_thread", heap={"heap_bytes": 0}, machine={"pool": {"request_ns": 500}})
    assert ends(result) == [100 + 500 + 10]
    assert parts_of(result, groups_of(result)[0])["heap chunk"] == 500
    assert result.mapped_pages == result.unmapped_pages == 1
    assert broken(result) == []


def test_a_chunk_that_is_refused_is_a_null() -> None:
    result = mallocs((5,), "per_thread", heap={"heap_bytes": 0}, memory_bytes=0)
    assert ends(result) == [100 + 10]
    (answer,) = result.log.of("malloc", "answer")
    assert answer.value("nulls") == 1


def test_a_group_frees_what_it_allocated() -> None:
    """Eight granules: two groups of room one take turns, each all of the heap."""
    machine = card(room=1, heap=HOLD, memory_bytes=0)
    phase = {"compute": 100, "mallocs": (8 * KIB,)}
    result = run([machine], [{"streams": [kernel(2, phase)]}], {"malloc": "wait"})
    assert [row.value("nulls") for row in result.log.of("malloc", "answer")] == [0, 0]
    assert len(result.log.of("malloc", "free")) == 2


def test_neutral_groups_do_not_wait() -> None:
    machine = card(room=8, heap=HOLD)
    result = run([machine], [{"streams": [kernel(2, {"compute": 100, "mallocs": (5,)})]}])
    assert ends(result) == [100, 100]
    assert [row.cycle for row in result.log.of("malloc", "grant")] == [110, 120]
    assert len(result.log.of("malloc", "free")) == 2


def test_a_shootdown_stalls_mallocs_too() -> None:
    """The free at cycle 90 stalls the module until 140; the wave asks at 100, and so at 140."""
    streams = [
        [{"allocate": "a", "bytes": 1}, kernel(1, {"compute": 90}, tensors=("a",)), {"free": "a"}],
        [kernel(1, {"compute": 100, "mallocs": (5,)})],
    ]
    couplings = {"malloc": "wait", "shootdown_cycles": 50, "shootdown_to": "all"}
    result = run([card(room=8, heap=HOLD)], [{"streams": streams}], couplings)
    assert ends(result) == [90, 140 + 10]
    assert parts_of(result, groups_of(result)[1])["shoot-down"] == 40
