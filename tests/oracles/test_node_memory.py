"""Memory by hand: grants, refusals, frees that wait, runs that cannot go on (spec 6, R5, R9, R10, E2, E5, E7, E9)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.oracles.node.conservation import broken
from tests.oracles.node.description import MIB
from tests.oracles.node.node import Simulation
from tests.oracles.node.small import card, ends, groups_of, kernel, run, tensor
from tests.oracles.node.times import parts_of

pytestmark = pytest.mark.slow

WAIT = {"memory": "wait"}


def small_card(pages: int = 2, **others: Any) -> dict[str, Any]:
    return card(memory_bytes=pages * 2 * MIB, **others)


def test_a_kernel_waits_for_its_grant() -> None:
    result = run(
        [card()],
        [{"streams": [tensor("a"), kernel(tensors=("a",))]}],
        WAIT,
        machine={"pool": {"request_ns": 30, "driver_ns": 7}},
    )
    assert ends(result) == [137]
    assert parts_of(result, groups_of(result)[0])["memory"] == 37


def test_the_service_takes_one_request_after_the_other() -> None:
    applications = [{"streams": [tensor("a"), kernel(tensors=("a",))]} for _ in range(3)]
    result = run([card(room=3)], applications, WAIT, machine={"pool": {"request_ns": 30}})
    assert ends(result) == [130, 160, 190]


def test_neutral_kernels_do_not_wait() -> None:
    result = run([small_card(1)], [{"streams": [tensor("a"), tensor("b"), kernel(tensors=("a", "b"))]}])
    assert ends(result) == [100]
    assert len(result.log.of("pool", "refuse")) == 1
    assert broken(result) == []


def refused() -> Simulation:
    """Refuse stream 1 its tensor at 50, while three groups of stream 0 run and one waits; kernels would follow."""
    streams = [
        [tensor("a"), kernel(4, {"compute": 200}, tensors=("a",)), kernel(7)],
        [kernel(1, {"compute": 50}), tensor("b", 2), kernel(5, tensors=("b",))],
    ]
    return run([small_card(2, room=2, modules=2)], [{"streams": streams}], WAIT, {"choice": "balanced"})


def test_a_refused_application_ends() -> None:
    result = refused()
    (program,) = result.programs
    assert program.refused
    assert ends(result) == [200, 200, 200, None, 50]
    assert sum(group.cancelled for group in program.groups) == 1
    assert program.refused_groups == 7 + 5
    assert program.ended_at == 200
    assert result.pool.regions == []
    assert broken(result) == []


def freed_early(**couplings: Any) -> Simulation:
    """Free a tensor in stream 1 at cycle 20, while a kernel of stream 0 that names it runs until 100."""
    streams = [[tensor("a"), kernel(tensors=("a",))], [kernel(1, {"compute": 20}), {"free": "a"}, kernel()]]
    return run([card()], [{"streams": streams}], couplings)


def test_a_free_waits_for_the_kernels_that_name_its_tensor() -> None:
    result = freed_early()
    assert [row.cycle for row in result.log.of("node", "unmap")] == [100]
    assert ends(result) == [100, 20, 200]


def test_a_free_in_use_may_be_an_error() -> None:
    assert freed_early(free_in_use="error").failure == (
        "application 0 frees tensor a while a kernel that names it is queued."
    )


def test_a_stream_waits_for_another_or_for_some_of_its_steps() -> None:
    whole = [[kernel(), kernel()], [{"wait": 0}, kernel()]]
    part = [[kernel(), kernel()], [{"wait": 0, "upto": 1}, kernel()]]
    assert ends(run([card()], [{"streams": whole}])) == [100, 200, 300]
    assert ends(run([card()], [{"streams": part}])) == [100, 200, 200]


def waiting(last: list[dict[str, Any]]) -> Simulation:
    """Let application 1 wait for memory that application 0 has, which then does its last steps."""
    first = [tensor("a", 2), kernel(tensors=("a",)), *last]
    second = [kernel(1, {"compute": 10}), tensor("b", 2), kernel(tensors=("b",))]
    applications = [{"streams": first}, {"streams": second}]
    return run([small_card(2)], applications, WAIT, machine={"pool": {"when_full": "wait"}})


def test_a_request_waits_for_a_release() -> None:
    result = waiting([{"free": "a"}])
    assert ends(result) == [100, 10, 200]
    assert parts_of(result, groups_of(result)[2])["memory"] == 90
    assert broken(result) == []


def test_nobody_is_overtaken() -> None:
    """The third application asks for what there is, but behind the second, which asks for more."""
    late = [kernel(1, {"compute": 20}), tensor("c", 1), kernel(tensors=("c",))]
    first = [tensor("a", 1), kernel(tensors=("a",)), {"free": "a"}]
    second = [kernel(1, {"compute": 10}), tensor("b", 2), kernel(tensors=("b",)), {"free": "b"}]
    applications = [{"streams": steps} for steps in (first, second, late)]
    machine = {"pool": {"when_full": "wait", "idle_limit_bytes": 0}}
    result = run([small_card(2, room=3)], applications, WAIT, machine=machine)
    assert ends(result) == [100, 10, 200, 20, 300]


def test_a_run_that_cannot_go_on_says_who_waits_for_what() -> None:
    streams = [
        [tensor("a", 2), {"wait": 1}, {"free": "a"}],
        [kernel(1, {"compute": 5}), tensor("b", 1), kernel(tensors=("b",))],
    ]
    result = run([small_card(2)], [{"streams": streams}], WAIT, machine={"pool": {"when_full": "wait"}})
    assert result.failure == (
        "nothing is pending at cycle 5, but stream 0 of application 0 waits for stream 1; "
        "stream 1 of application 0 waits for tensor b; stream 1 of application 0 waits for memory of the pool."
    )
    assert broken(result) == []


def test_a_horizon_leaves_groups_under_way() -> None:
    result = run([card(1)], [{"streams": [kernel(3)]}], horizon=150)
    assert ends(result) == [100, None, None]
    assert not result.failure
    assert broken(result) == []


@pytest.mark.parametrize(
    ("pages", "size", "mapped"), [("4k", 4096, 2), ("64k", 65536, 1), ("2m", 2 * MIB, 1), ("largest", 4096, 2)]
)
def test_regions_are_rounded_up_to_whole_pages(pages: str, size: int, mapped: int) -> None:
    steps = [{"allocate": "a", "bytes": 5000}, kernel(tensors=("a",)), {"free": "a"}]
    result = run([small_card()], [{"streams": steps}], WAIT | {"pages": pages})
    (row,) = result.log.of("pool", "grant")
    assert row.value("bytes") == mapped * size
    assert result.mapped_pages == result.unmapped_pages == mapped
    assert result.pool.rounding_bytes == mapped * size - 5000


def fragmented(frames: str) -> Simulation:
    """Free every other of eight regions of 256 KiB; a tensor of 1 MiB then lies in their holes, or behind them."""
    names = [f"t{k}" for k in range(8)]
    first = [{"allocate": name, "bytes": 256 * 1024} for name in names]
    frees = [{"free": name} for name in names[::2]]
    steps = [*first, kernel(tensors=tuple(names)), *frees, {"allocate": "big", "bytes": MIB}, kernel(tensors=("big",))]
    machine = {"pool": {"idle_limit_bytes": 0}}
    return run(
        [card(memory_bytes=4 * MIB)], [{"streams": steps}], WAIT | {"pages": "largest"}, {"frames": frames}, machine
    )


@pytest.mark.parametrize(("frames", "runs"), [("lowest", 4), ("longest", 1)])
def test_frames_of_a_region_may_be_several_runs(frames: str, runs: int) -> None:
    result = fragmented(frames)
    tensor_of_runs = result.log.of("node", "map")[-1]
    tags = [tag for tag, _ in tensor_of_runs.value("pages")]
    numbers = [tag & (1 << 44) - 1 for tag in tags]
    gaps = sum(after != before + 1 for before, after in itertools.pairwise(numbers))
    assert gaps + 1 == runs
    assert broken(result) == []


def test_a_region_moves_home_and_its_translations_are_shot_down() -> None:
    """b is borrowed from card 1; when a is freed, its 4 KiB move home at 4 bytes a cycle; the free waits for them."""
    touches = ({"tensor": "b", "bytes": 0},)
    steps = [
        *(tensor("a"), {"allocate": "b", "bytes": 64}, kernel(1, {"compute": 10, "touches": touches}, tensors=("a",))),
        *({"free": "a"}, kernel(1, {"compute": 100, "touches": touches})),
    ]
    result = run(
        [small_card(1), small_card(1)], [{"streams": steps}],
        WAIT | {"pages": "4k", "remote": "link", "shootdown_cycles": 7, "touches_hold": "group"},
        {"residency": "migrate_back"}, {"links": [{"cards": (0, 1), "gbps": 4.0}], "walk_bytes": 0},
    )  # fmt: skip
    (move,), (moved,) = result.log.of("pool", "move"), result.log.of("pool", "moved")
    assert (move.cycle, moved.cycle) == (410, 410 + 1024)
    assert result.remote_touches == 1
    assert result.translations[0].cores[0].stalls[0] == (1434, 1441)
    assert ends(result) == [410, 1434 + 100 + 400]
    assert broken(result) == []
