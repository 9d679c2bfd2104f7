"""Where theory says what a part must do, the twin does it: to the cycle where it can be (spec 6, R20)."""

from __future__ import annotations

import heapq
import math
from typing import Any

import pytest

from tests.oracles.node.draws import drawn
from tests.oracles.node.log import Row
from tests.oracles.node.node import Simulation
from tests.oracles.node.small import card, ends, groups_of, kernel, run, tensor
from tests.oracles.node.times import parts_of

pytestmark = pytest.mark.slow

CUSTOMERS = 800


def waits_of(arrivals: list[int], services: list[int], servers: int) -> list[int]:
    """Return the waits of a first-come queue: each customer takes the server that is free first (Kiefer, Wolfowitz)."""
    free, waits = [0] * servers, []
    for arrival, service in zip(arrivals, services):
        begin = max(arrival, heapq.heappop(free))
        heapq.heappush(free, begin + service)
        waits.append(begin - arrival)
    return waits


def poisson(mean: int, count: int = CUSTOMERS) -> list[int]:
    """Return arrivals of a Poisson process, in whole cycles."""
    gaps, arrivals = [drawn({"exponential": mean}, 0, 5, k) for k in range(count)], [0]
    for gap in gaps[1:]:
        arrivals.append(arrivals[-1] + gap)
    return arrivals


def queue(arrivals: list[int], phase: dict[str, Any], room: int, **couplings: Any) -> Simulation:
    """Run one group an application, each at its arrival."""
    applications = [{"arrival": arrival, "streams": [kernel(1, phase)]} for arrival in arrivals]
    return run([card(room)], applications, couplings, seed=11)


def part_times(result: Simulation, part: str) -> list[int]:
    return [parts_of(result, group)[part] for group in groups_of(result)]


@pytest.mark.parametrize("servers", [1, 3])
def test_groups_in_a_channel_are_a_queue_of_the_room(servers: int) -> None:
    arrivals = poisson(1000 // servers)
    result = queue(arrivals, {"compute": {"exponential": 800}}, servers)
    services = [group.compute[0] for group in groups_of(result)]
    assert part_times(result, "channel") == waits_of(arrivals, services, servers)


def erlang_c(servers: int, load: float) -> float:
    """Return the chance to wait in M/M/c with this load (arrival rate x mean service)."""
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last)


@pytest.mark.parametrize("servers", [1, 3])
def test_the_mean_wait_is_that_of_m_m_c(servers: int) -> None:
    """Check the laws too: mean wait within four standard errors of 16 batches."""
    mean_gap, mean_service = 2000 // servers, 1200
    result = queue(poisson(mean_gap), {"compute": {"exponential": mean_service}}, servers)
    load = mean_service / mean_gap
    expected = erlang_c(servers, load) * mean_service / (servers - load)
    waits = part_times(result, "channel")
    batches = [sum(waits[k : k + 50]) / 50 for k in range(0, CUSTOMERS, 50)]
    mean = sum(batches) / len(batches)
    error = math.sqrt(sum((batch - mean) ** 2 for batch in batches) / (len(batches) - 1) / len(batches))
    assert abs(mean - expected) < 4 * error


def test_walkers_are_a_queue() -> None:
    arrivals = poisson(500, 150)
    applications = [
        {"arrival": at, "streams": [tensor("a"), kernel(1, {"compute": 0, "touches": ({"tensor": "a"},)})]}
        for at in arrivals
    ]
    machine = card(10**6, translation={"registers": 10**6, "walk_cycles": 400})
    result = run([machine], applications)
    assert part_times(result, "walkers") == waits_of(arrivals, [400] * 150, 1)


def test_a_heap_lock_is_a_queue() -> None:
    arrivals = poisson(50, 150)
    streams = [[kernel(1, {"compute": arrival, "mallocs": (8,)})] for arrival in arrivals]
    machine = card(10**6, heap={"hold_cycles": 40, "split_cycles": 0})
    result = run([machine], [{"streams": streams}], {"malloc": "wait"})
    assert part_times(result, "malloc lock") == waits_of(arrivals, [40] * 150, 1)


@pytest.mark.parametrize(("groups", "room"), [(1, 4), (4, 4), (5, 4), (17, 4), (12, 5), (31, 1)])
def test_the_makespan_steps_with_the_groups(groups: int, room: int) -> None:
    result = run([card(room)], [{"streams": [kernel(groups, {"compute": 70})]}])
    assert max(end for end in ends(result) if end is not None) == -(-groups // room) * 70


def area(begins: list[int], ends_at: list[int]) -> int:
    """Return the integral over time of how many are there: of a count that steps, cycle by cycle of its events."""
    steps = sorted([(at, 1) for at in begins] + [(at, -1) for at in ends_at])
    total = there = since = 0
    for at, step in steps:
        total += there * (at - since)
        there, since = there + step, at
    assert there == 0
    return total


def cycles(rows: list[Row]) -> list[int]:
    return [row.cycle for row in rows]


def test_littles_law_between_the_parts() -> None:
    """Mean number in a part x time = sum of the times spent there, for every part that passes something on."""
    touches = ({"tensor": "a", "pattern": "gather", "count": 6},)
    phases = ({"compute": {"exponential": 90}, "touches": touches, "mallocs": (64, 64)}, {"compute": 30})
    streams = [[tensor("a", 40), kernel(30, *phases, waves=2)], [tensor("b", 3), kernel(9, *phases, tensors=("b",))]]
    result = run([card(4, 2, {"walkers": 2})], [{"streams": streams}], {"touches_hold": "group", "malloc": "wait"})
    log, groups = result.log, groups_of(result)
    channel = sum(group.parts[0].dispatched_at - group.put_forward_at for group in groups)
    assert area(cycles(log.of("dispatch", "enter")), cycles(log.of("dispatch", "dispatch"))) == channel
    latencies = sum(row.value("latency") for row in log.of("translation", "answer"))
    assert area(cycles(log.of("translation", "request")), cycles(log.of("translation", "answer"))) == latencies
    items = [item for group in groups for phase in group.parts[0].phases for item in phase.items if item.call]
    in_heap = sum(item.call.answered_at - item.call.requested_at for item in items)
    assert area(cycles(log.of("malloc", "call")), cycles(log.of("malloc", "answer"))) == in_heap
    assert min(channel, latencies, in_heap) > 0


def test_no_schedule_is_shorter_than_its_work() -> None:
    """The makespan lies between work over room and that plus the longest group (Graham)."""
    result = run([card(3)], [{"streams": [kernel(40, {"compute": {"uniform": [10, 300]}})]}])
    times = [group.compute[0] for group in groups_of(result)]
    last = max(end for end in ends(result) if end is not None)
    assert -(-sum(times) // 3) <= last <= sum(times) / 3 + max(times)
