"""The measures of a node beside plain ones, written from the sentences, and by hand (spec 6, section 7)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from tests.oracles.heat import conductances, step
from tests.oracles.node import measures as plain
from tests.oracles.node.description import MIB, Node
from tests.oracles.node.node import simulate
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, kernel, tensor
from tests.oracles.node_beside import CLASSES, Engine, alike, run_both, setup_of
from tests.slow import seeds
from workbench.engines.node import telemetry
from workbench.errors import PolicyError
from workbench.machine.power import ClassPower, RcHeat
from workbench.metrics.node import MEASURES, TIMES, measure, power_windows, speeds_of
from workbench.records.node import NodeRecord

pytestmark = pytest.mark.node

HEAT = RcHeat(step_cycles=256, resistance_k_per_w=5, capacity_j_per_k=1e-7)
POWER = ClassPower(idle_watts=0.2)
PICOJOULES = dict(zip(CLASSES, POWER.energies_pj().tolist()))


def record_of(node: Node, **options: Any) -> NodeRecord:
    """Run the engine on a description, with other options."""
    setup = setup_of(node)
    return Engine().simulate(setup._replace(options=setup.options.but(**options)), node.seed)


def described(cards: list[dict[str, Any]], *streams: list[dict[str, Any]], **couplings: Any) -> Node:
    """Return a node on which each application has one stream."""
    applications = [{"streams": [steps], "priority": 1 + n} for n, steps in enumerate(streams)]
    return Node.of(alike({"machine": {"cards": cards}, "applications": applications, "couplings": couplings}))


def alike_values(expected: float, found: float) -> bool:
    """Return whether two values of a measure are equal; shares by address are rounded to 2^-32."""
    return (math.isnan(found) and expected in (0.0, 1.0)) or found == pytest.approx(expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("seed", seeds(2, 58))
def test_measures_beside_the_plain_ones(seed: int) -> None:
    both = run_both(random_node(seed))
    found, expected = measure(both.record), plain.measures(both.twin)
    names = {"walker_share": "walkers_share", "shootdowns": "shoot_downs"}
    unframed = {"fragmentation_cards"} if both.record.frames_scattered.size == 0 else set()
    # who waits for memory has it, in the engine, from the release that frees it; in the twin from its own service
    waits = {"fragmentation_cards", "reserved_over_live"} if both.twin.node.machine.pool.when_full == "wait" else set()
    left_out = {"touches", "rounding_bytes", "group_p50_parts", "group_p99_parts"} | unframed | waits
    for name in set(expected) - left_out:
        assert alike_values(expected[name], found[names.get(name, name)]), name
    assert [name for name, one in MEASURES.items() if one.refusals and not math.isnan(found[name])] == [] or (
        "makespan_cycles" in expected
    )
    for percent in (50, 99):
        parts = expected.get(f"group_p{percent}_parts", {})
        assert list(parts.values()) == [found[f"group_p{percent}_{name}_cycles"] for name in TIMES if parts]


def test_the_plain_measures_have_something_to_say() -> None:
    """Of the nodes above some fragment everything, touch remotely, queue for walkers, shoot down."""
    found = [plain.measures(simulate(Node.of(alike(random_node(seed))))) for seed in (36,)]
    for name in ("fragmentation_shared", "fragmentation_registers", "fragmentation_cards", "remote_share"):
        assert max(one[name] for one in found) > 0
    for name in ("walker_share", "shootdowns", "stalled_modules"):
        assert max(one[name] for one in found) > 0


OUTLASTS = pytest.param(220, id="outlasts_its_windows", marks=pytest.mark.slow)
"""A node whose modules are idle when it outlasts the windows of its power: these had no windows until revision 7."""


@pytest.mark.parametrize("seed", [*seeds(2, 28), OUTLASTS])
def test_power_and_heat_beside_the_plain_ones(seed: int) -> None:
    node = Node.of(alike(random_node(seed)))
    twin = simulate(node)
    if twin.failure:
        return
    setup = setup_of(node)
    record = record_of(node, dispatch=setup.options.dispatch.but(power=POWER, heat=HEAT))
    found = measure(record)
    rows = plain.power_windows(twin, record.window_cycles, PICOJOULES, POWER.idle_watts)
    assert power_windows(record)[1] == pytest.approx(np.array(rows), rel=1e-9)
    if record.window_cycles == HEAT.step_cycles:  # a run that outlasts all windows has longer ones
        assert found["temperature_spread_k"] == pytest.approx(spread_of(node, rows, record.makespan), rel=1e-6)


def spread_of(node: Node, rows: list[list[float]], makespan: int) -> float:
    """Return the mean over steps and GPUs of hottest less coolest module, from the equations of the network."""
    modules, cards = node.machine.cards[0].dispatch.modules, len(node.machine.cards)
    shape = {1: (1, 1), 2: (1, 2), 4: (2, 2)}[modules]
    network = conductances(*shape, HEAT.resistance_k_per_w, HEAT.coupling_w_per_k)
    keeps, gains = step(network, HEAT.capacity_j_per_k, HEAT.step_cycles / node.machine.clock_mhz * 1e-6)
    heat, spreads = np.zeros((cards, modules)), []
    for k, row in enumerate(rows):
        part = min(HEAT.step_cycles, makespan - k * HEAT.step_cycles) / HEAT.step_cycles
        power = POWER.idle_watts + (np.array(row).reshape(cards, modules) - POWER.idle_watts) * part
        heat = np.array([keeps @ one + gains @ watts for one, watts in zip(heat, power)])
        spreads.append(float(np.mean([max(one) - min(one) for one in heat])))
    return float(np.mean(spreads))


@pytest.mark.parametrize("seed", seeds(2, 28))
def test_speeds_beside_the_plain_ones(seed: int) -> None:
    node = Node.of(alike(random_node(seed)))
    twin = simulate(node)
    if twin.failure:
        return
    try:
        record = record_of(node, alone=True)
    except PolicyError:  # one that is alone waits for ever
        return
    assert speeds_of(record).tolist() == pytest.approx(plain.speeds(twin))


def test_of_two_applications_on_one_module() -> None:
    """Both compute for 100 cycles; the second waits for the first."""
    record = record_of(described([card(1)], [kernel()], [kernel()]), alone=True)
    found = measure(record)
    assert record.alone.tolist() == [100, 100]
    assert (found["slowdown_mean"], found["slowdown_max"]) == (1.5, 2.0)
    assert found["fairness"] == pytest.approx((1 + 0.5) ** 2 / (2 * (1 + 0.25)))


def test_who_is_refused_has_no_speed() -> None:
    """The second application asks for more than all cards have, also alone; the first is as fast as alone."""
    cards = [card(memory_bytes=2 * MIB)]
    greedy = [tensor("a"), tensor("b"), kernel(tensors=("a", "b"))]
    record = record_of(described(cards, [kernel()], greedy, memory="wait"), alone=True)
    found = measure(record)
    assert (record.alone.tolist(), found["applications_refused"]) == ([100, -1], 1.0)
    assert found["fairness"] == 1.0


def two_of_a_card(memory_bytes: int) -> NodeRecord:
    """Run two applications, of one and three groups of 100 cycles, that need 2 and 4 MiB, on one module."""
    first, second = [tensor("a"), kernel(tensors=("a",))], [tensor("a", 2), kernel(3, tensors=("a",))]
    return record_of(described([card(1, memory_bytes=memory_bytes)], first, second, memory="wait"), alone=True)


def test_who_refuses_is_not_faster() -> None:
    """Of four groups one runs where the larger application is refused, in 100 cycles for 400: the times of that run are
    missing, and what was done and what was not are there."""
    every, fewer = measure(two_of_a_card(6 * MIB)), measure(two_of_a_card(4 * MIB))
    counts = ("applications_refused", "kernels_refused", "groups_refused", "groups_cancelled", "groups_ended")
    assert [every[name] for name in counts] == [0, 0, 0, 0, 4]
    assert [fewer[name] for name in counts] == [1, 1, 3, 0, 1]
    times = [name for name, one in MEASURES.items() if one.refusals]
    assert {"makespan_cycles", "groups_per_mcycle", "group_p99_cycles", "walkers_share"} < {*times}
    assert every["makespan_cycles"] == 400
    assert [name for name in times if not math.isnan(fewer[name])] == []


def test_refused_and_put_forward_are_all_that_was_planned() -> None:
    """An application that is refused while it runs: a kernel of two groups runs, one of five waits in its channel, two
    of three and one groups are never put forward."""
    streams = [
        [tensor("a"), kernel(2, tensors=("a",)), kernel(3)],
        [kernel(5)],
        [tensor("b"), kernel(1, tensors=("b",))],
    ]
    values = {
        "machine": {"cards": [card(1, memory_bytes=2 * MIB)], "pool": {"request_ns": 50}},
        "applications": [{"streams": streams}],
        "couplings": {"memory": "wait"},
    }
    counts = record_of(Node.of(alike(values))).counts
    assert (counts["kernels_refused"], counts["groups_refused"]) == (2, 4)
    assert counts["put_forward"] == 7 == counts["groups_ended"] + counts["groups_cancelled"]


def test_who_is_refused_after_its_last_step_is_refused() -> None:
    """The only step of the second ends when it asks; the pool answers later, that the first has all (E2)."""
    values = {
        "machine": {"cards": [card(memory_bytes=2 * MIB)], "pool": {"request_ns": 50}},
        "applications": [{"streams": [[tensor("a"), kernel(tensors=("a",))]]}, {"streams": [[tensor("a")]]}],
        "couplings": {"memory": "wait"},
    }
    both = run_both(values)
    assert both.difference is None
    assert both.record.refused.tolist() == [False, True]
    assert math.isnan(measure(both.record)["makespan_cycles"])


def test_without_runs_alone_there_is_no_slowdown() -> None:
    found = measure(record_of(described([card(1)], [kernel()])))
    assert all(math.isnan(found[name]) for name in ("slowdown_mean", "slowdown_max", "fairness", "power_cv"))


def test_v1_measures_by_hand() -> None:
    """Four groups of 100 cycles, two at a time: the others wait 100 cycles in their channel."""
    found = measure(record_of(described([card(2)], [kernel(4)])))
    assert (found["makespan_cycles"], found["groups_per_second"]) == (200, pytest.approx(4 / 200e-9))
    assert (found["group_p50_cycles"], found["group_p99_cycles"]) == (100, 200)
    assert (found["group_p99_channel_cycles"], found["group_p99_compute_cycles"]) == (100, 100)
    assert (found["channel_share"], found["compute_share"]) == (pytest.approx(200 / 600), pytest.approx(400 / 600))


def test_v2_measures_by_hand() -> None:
    """One walker: groups take 500, 900, 1,300, 1,700 cycles; the last waits 900 in its channel, 300 for the walker."""
    touch = {"compute": 100, "touches": [{"tensor": "a", "pattern": "slice"}]}
    found = measure(record_of(described([card()], [tensor("a", 4), kernel(4, touch)], touches_hold="group")))
    assert (found["group_p50_cycles"], found["group_p99_cycles"]) == (900, 1700)
    last = {name: found[f"group_p99_{name}_cycles"] for name in TIMES}
    assert {name: cycles for name, cycles in last.items() if cycles} == {
        "channel": 900, "compute": 100, "walkers": 300, "translation": 400
    }  # fmt: skip
    assert found["walkers_share"] == pytest.approx((0 + 400 + 300 + 300) / (500 + 900 + 1300 + 1700))
    assert {name: found[f"group_slowest_{name}_cycles"] for name in TIMES} == last, (
        "of four groups one is the slowest 5 %"
    )


def test_the_slowest_groups_are_a_twentieth_and_their_parts_a_mean() -> None:
    """Forty groups of 100 cycles, two at a time: the last two, which are the slowest 5 %, wait 1,900 cycles."""
    found = measure(record_of(described([card(2)], [kernel(40)])))
    assert found["group_slowest_channel_cycles"] == 1900 and found["group_slowest_compute_cycles"] == 100


def test_v5_measures_by_hand() -> None:
    """Two of four modules hold pages of the tensor: one shoot-down, two modules."""
    touches = {"compute": 100, "touches": [{"tensor": "a", "pattern": "shared"}]}
    node = described(
        [card(room=1, modules=4)], [tensor("a", 4), kernel(2, touches), {"free": "a"}, kernel(4)],
        shootdown_cycles=50, touches_hold="group",
    )  # fmt: skip
    found = measure(record_of(node))
    assert (found["shoot_downs"], found["stalled_modules"]) == (1, 2)


def test_a_mean_over_time_ends_with_the_makespan() -> None:
    """2 MiB are in use for 100 of 200 cycles and reserved for all; what the pool does afterwards is not counted."""
    steps = [tensor("a"), kernel(tensors=("a",)), {"free": "a"}, kernel()]
    node = described([card()], steps)
    found = measure(record_of(node))
    assert (found["live_mean_bytes"], found["reserved_mean_bytes"]) == (MIB, 2 * MIB)
    assert found["reserved_over_live"] == 2.0
    later = dataclasses.replace(
        node, machine=dataclasses.replace(node.machine, pool=dataclasses.replace(node.machine.pool, release_ns=1000))
    )
    assert plain.measures(simulate(later))["reserved_over_live"] == pytest.approx(
        measure(record_of(later))["reserved_over_live"]
    )


def test_windows_of_energy_double_where_a_run_outlasts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engines.node.engine.ROWS", 3)
    node = described([card()], [kernel(1, {"compute": 10 * telemetry.WINDOW, "instructions": {"load": 70}})])
    record = record_of(node, dispatch=setup_of(node).options.dispatch.but(power=POWER))
    assert record.window_cycles == 4 * telemetry.WINDOW
    assert record.spent is not None and record.spent.shape == (3, 1)
    assert record.spent[:, 0].tolist() == pytest.approx([28 * 706, 28 * 706, 14 * 706])


def test_every_measure_is_declared_and_computed() -> None:
    assert set(measure(record_of(described([card(1)], [kernel()])))) == set(MEASURES)
