"""The engine `node`: the vectors of specification 6, and nodes by chance beside the twin (V1 to V5, R18, R19)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.oracles.node.description import MIB, Node
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, groups_of, kernel, tensor
from tests.oracles.node.times import parts_of
from tests.oracles.node_beside import Both, Engine, alike, rows_of, run_both, setup_of
from tests.slow import seeds
from workbench.engines.kit import STOP
from workbench.engines.node.state import COUNT, FAULT
from workbench.engines.node.telemetry import spend
from workbench.errors import StarvedError

PAGE = 2 * MIB


def both(cards: list[dict[str, Any]], *steps: dict[str, Any], **couplings: Any) -> Both:
    """Run one stream of steps on cards; the logs are equal."""
    values = {"machine": {"cards": cards}, "applications": [{"streams": [list(steps)]}], "couplings": couplings}
    result = run_both(values)
    assert result.difference is None
    return result


def assert_times(result: Both) -> None:
    """Each group's parts are the twin's, and sum to its time from the end of the step before its kernel (R18)."""
    plan, found = result.play.run.plan, 0
    for group in groups_of(result.twin):
        key = group.key
        step = plan.first_step[plan.first_stream[key.application] + key.stream] + key.kernel
        row = plan.first_group[plan.what[step]] + key.group
        if group.ended_at is None:
            assert result.record.ended[row] == -1
            continue
        times = result.record.times[row].tolist()
        assert times == list(parts_of(result.twin, group).values())
        assert sum(times) == group.ended_at - group.reached_at == result.record.ended[row] - group.reached_at
        found += 1
    assert found == result.record.counts["groups_ended"]


def touching(groups: int = 4, pattern: str = "slice") -> dict[str, Any]:
    """Return a kernel whose groups compute for 100 cycles and touch pages of tensor a."""
    return kernel(groups, {"compute": 100, "touches": [{"tensor": "a", "pattern": pattern}]})


@pytest.mark.node
@pytest.mark.parametrize(("a_round", "makespan"), [(2, 200), (1, 201)])
def test_v1_four_groups_in_a_module_with_room_for_two(a_round: int, makespan: int) -> None:
    result = both([card(2, dispatch={"dispatches_a_round": a_round})], kernel(4))
    assert result.record.makespan == makespan


@pytest.mark.node
@pytest.mark.parametrize(
    ("walkers", "pages", "ends"),
    [(1, 4, [500, 900, 1300, 1700]), (2, 4, [500, 500, 1000, 1000]), (1, 1, [500, 500, 600, 600])],
)
def test_v2_touches_hold_their_groups(walkers: int, pages: int, ends: list[int]) -> None:
    result = both([card(translation={"walkers": walkers})], tensor("a", pages), touching(), touches_hold="group")
    assert result.record.ended.tolist() == ends


@pytest.mark.node
def test_v3_groups_leave_before_their_touches_are_answered() -> None:
    result = both([card()], tensor("a", 4), touching(), touches_hold="none")
    assert result.record.ended.tolist() == [500, 900, 1300, 1700]
    assert result.record.makespan == 1700


@pytest.mark.node
@pytest.mark.parametrize(("pages", "mapped"), [("largest", 4), ("2m", 4), ("4k", 2048)])
def test_v4_pages_of_a_tensor(pages: str, mapped: int) -> None:
    result = both([card()], tensor("a", 4), touching(1, "slice"), memory="wait", pages=pages, touches_a_phase=4)
    (row,) = result.twin.log.of("node", "map")
    assert len(row.value("pages")) == mapped


@pytest.mark.node
def test_v5_a_free_stalls_the_modules_that_hold_a_page_once() -> None:
    """Two of four modules have touched; the kernel of the other stream asks at 700 and is held back where they are."""
    touches = {"compute": 100, "touches": [{"tensor": "a", "pattern": "shared"}]}
    result = both(
        [card(room=1, modules=4)], tensor("a", 4), kernel(2, touches), {"free": "a"}, kernel(4),
        shootdown_cycles=50, touches_hold="group",
    )  # fmt: skip
    stalled = [row.value("core") for row in result.twin.log.of("translation", "shootdown")]
    assert stalled == [0, 1]
    assert result.record.counts["shoot_downs"] == 1


@pytest.mark.node
def test_two_tensors_that_go_back_in_one_cycle_have_a_shoot_down_each() -> None:
    """One module holds a page of both: it is told twice, and stalled until the same cycle."""
    touches = {"compute": 100, "touches": [{"tensor": name, "pattern": "shared"} for name in ("a", "b")]}
    result = both([card(1)], tensor("a"), tensor("b"), kernel(1, touches), shootdown_cycles=50, touches_hold="group")
    of_whom = [tuple(row.key)[:2] for row in result.twin.log.of("translation", "shootdown")]
    assert of_whom == [(0, 0), (0, 0)]
    assert (result.record.counts["shoot_downs"], result.record.counts["stalled_modules"]) == (2, 2)


def at(result: Both, cycle: int) -> list[tuple[int, str]]:
    """Return rank and kind of all that happened at a cycle, in its order."""
    rows = rows_of(result.twin.node, result.record)
    return [(int(row.rank), row.kind) for row in rows if row.cycle == cycle]


@pytest.mark.node
def test_v6_a_step_that_allocates_ends_when_it_asks() -> None:
    """The pool takes 50 cycles to answer: the kernel behind waits for its tensor, its step does not."""
    streams = [[tensor("a"), kernel(1, tensors=("a",))]]
    machine = {"cards": [card(1)], "pool": {"request_ns": 50}}
    result = run_both({"machine": machine, "applications": [{"streams": streams}], "couplings": {"memory": "wait"}})
    assert result.difference is None
    assert at(result, 0) == [(9, "arrive"), (10, "request"), (10, "grant"), (9, "step")]
    assert at(result, 50) == [(4, "answer"), (4, "map"), (9, "put_forward"), (9, "enter"), (16, "dispatch")]
    assert result.record.times.tolist() == [[50, 0, 100, *[0] * 8]]
    assert result.record.makespan == 150


@pytest.mark.node
def test_v7_ranks_of_one_cycle() -> None:
    """A round comes last, and sees what its cycle gave back."""
    result = both([card(1)], kernel(1), kernel(1))
    last = [(9, "put_forward"), (9, "enter"), (16, "dispatch")]
    assert at(result, 100) == [(0, "group_end"), (1, "release"), (9, "step"), *last]
    assert result.record.ended.tolist() == [100, 200]


@pytest.mark.node
def test_who_waits_for_what_when_nothing_is_pending() -> None:
    """Two tensors of a card that has memory for one, and a kernel that needs both (E7)."""
    steps = [tensor("a"), tensor("b"), kernel(1, {"compute": 1}, tensors=("a", "b"))]
    machine = {"cards": [card(memory_bytes=PAGE)], "pool": {"when_full": "wait"}}
    values = {"machine": machine, "applications": [{"streams": [steps]}], "couplings": {"memory": "wait"}}
    node = Node.of(alike(values))
    with pytest.raises(StarvedError, match="application 0, stream 0, step 2 waits for 1 tensors that the pool has not"):
        Engine().simulate(setup_of(node), 1)


@pytest.mark.node
@pytest.mark.parametrize("seed", seeds(5, 35))
def test_neutral_nodes_beside_the_twin(seed: int) -> None:
    result = run_both(random_node(seed, neutral=True))
    assert result.difference is None
    assert_times(result)


@pytest.mark.bounds
@pytest.mark.node
@pytest.mark.parametrize("seed", seeds(9, 71))
def test_nodes_in_which_everything_acts_on_everything_beside_the_twin(seed: int) -> None:
    """The logs are equal, and where the twin waits for ever the engine says so too (E7)."""
    result = run_both(random_node(seed))
    assert result.difference is None
    assert_times(result)
    fails = result.play.state.counters[STOP.fault] == FAULT.waits_for_ever
    assert fails == bool(result.twin.failure)


def refusing(seed: int) -> dict[str, Any]:
    """Return a node by chance whose pool refuses: memory for some tensors alone, every coupling on."""
    values = random_node(seed)
    values["machine"]["pool"]["when_full"] = "refuse"
    for one in values["machine"]["cards"]:
        one["memory_bytes"] = 8 * MIB
    return values


def digest(values: dict[str, Any]) -> str:
    """Return the record of a node with its messages, in words that are compared: there NaN is NaN."""
    setup = setup_of(Node.of(alike(values)))
    record = Engine().simulate(setup, values["seed"], events=True)
    columns = record._asdict().items()
    return repr([(name, value.tolist() if isinstance(value, np.ndarray) else value) for name, value in columns])


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.parametrize("seed", [9, 29, *range(42)])
def test_skipping_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes by chance, in which everything acts on everything and the pool refuses or not, give equal records where
    every cycle is looked at, every part at every event, and every rate and draw is found anew; or where no part
    skips anything. In the first, failed rounds split groups; in the second the pool refuses all, so that means over
    time have no value."""
    for values in (random_node(seed), refusing(seed)):
        try:
            before = digest(values)
        except StarvedError:
            continue
        for engines in (("node",), ("dispatch", "malloc", "translation")):
            with monkeypatch.context() as patch:
                for engine in engines:
                    patch.setattr(f"workbench.engines.{engine}.prepare.SKIPS", 0)
                assert digest(values) == before


@pytest.mark.node
@pytest.mark.parametrize("seed", [56, 71, 170, 235, 264, 294, *seeds(2, 61)])
def test_nodes_that_refuse_beside_the_twin(seed: int) -> None:
    """All that was planned was put forward or refused, and the logs are equal, with every coupling on. The first six
    move a chunk that was given back, free what a refused application waited for, cancel groups that stand in their
    channel behind those of a later stream or before those of another application, move a chunk of another card."""
    result = run_both(refusing(seed))
    assert result.difference is None
    counts, programs = result.record.counts, result.twin.programs
    assert result.record.refused.tolist() == [program.refused for program in programs]
    assert counts["groups_refused"] == sum(program.refused_groups for program in programs)
    assert_times(result)


@pytest.mark.parametrize(("cycles", "spent"), [(0, [8, 0]), (1, [8, 0]), (2, [4, 4]), (4, [2, 6])])
def test_the_energy_of_instructions_lies_in_the_windows_in_which_they_run(cycles: int, spent: list[int]) -> None:
    """From the last cycle of a window of ten on, four instructions of 2 pJ each."""
    counters = np.zeros(len(STOP) + len(COUNT), np.int64)
    counters[COUNT.window] = 10
    state = SimpleNamespace(counters=counters, picojoules=np.array([2.0]), spent=np.zeros((2, 1)))
    run: Any = SimpleNamespace(rules=SimpleNamespace(power=1, modules=1), state=state)
    getattr(spend, "py_func", spend)(run, 0, 0, 0, 9, cycles, 4)
    assert state.spent[:, 0].tolist() == spent


@pytest.mark.node
def test_some_of_these_nodes_refuse() -> None:
    """Of their applications some are refused, of these some while their groups run."""
    records = [run_both(refusing(seed)).record for seed in (0, 1)]
    assert sum(int(record.refused.sum()) for record in records) > 0
    assert sum(record.counts["groups_refused"] for record in records) > 0
