"""How points, levers and measures are called in figures."""

from __future__ import annotations

import pytest

from tests.figures.stand_ins import runs
from workbench.engines.kit.engine import Setup
from workbench.engines.shared_memory import SharedMemoryOptions
from workbench.figures.labels import LineNames, axis_label, measure_label, words_of
from workbench.figures.panels import panels
from workbench.machine import Machine
from workbench.metrics.shared_memory import MEASURES
from workbench.policies.placement import FirstFit
from workbench.policies.placement.queueing import FifoHeadOnly, FifoLookahead, NextCycle
from workbench.policies.translation import Directory, Message
from workbench.workloads.workload_key import read_workload

SETUP = Setup(
    "shared_memory",
    Machine(),
    read_workload({"synthetic": "random_workgroups", "size": {"uniform": [1, 16]}}),
    {"placement": FirstFit(), "queue": FifoLookahead(k=2), "retry": NextCycle()},
    SharedMemoryOptions(),
)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("machine.segments", "segments (segments)"),
        ("workload.count", "count (workgroups)"),
        ("workload.size.uniform[1]", "size, high (segments)"),
        ("workload.size.uniform.low", "size, low (segments)"),
        ("policy.queue.fifo_lookahead.k", "k (workgroups)"),
        ("options.latency_cycles", "latency cycles (cycles)"),
        ("workload.arrival.all_at_once", "arrival"),
        ("workload.of_no_lever", "of no lever"),
    ],
)
def test_axes_of_levers(path, label):
    assert axis_label(path, SETUP) == label


def test_a_lever_that_is_written_without_its_name_is_named_all_the_same():
    loaded = SETUP._replace(workload=SETUP.workload.but(arrival={"poisson_load": 0.5}))
    assert axis_label("workload.arrival.poisson_load", loaded) == "arrival, load"


def test_levers_with_values():
    assert words_of("workload.size.uniform[1]", SETUP, 16) == "size, high = 16"
    assert words_of("workload", SETUP, "large_uniform") == "large_uniform"
    assert words_of("machine.segments", SETUP, None) == ""


def test_axes_of_measures():
    assert measure_label(MEASURES["drain_cycles"]) == "drain time (cycles)"
    assert measure_label(MEASURES["wear_cv"]) == "wear cv"
    assert measure_label(MEASURES["mean_queue"]) == "mean queue (workgroups)"


def queues(*chosen):
    result = runs({f"size_segregated_ends(threshold={k + 1})": [{}] for k in range(len(chosen))})
    for point, queue in zip(result.points, chosen, strict=True):
        point.setup.policies.update(queue=queue, placement=FirstFit())
    return result


def test_a_lever_at_its_default_is_told_where_others_are_not():
    rows = queues(FifoHeadOnly(), FifoLookahead(k=4), FifoLookahead(k=8))
    names = LineNames(rows)
    assert [names.of(point) for point in rows.points] == [
        "fifo_head_only",
        "fifo_lookahead(k=4)",
        "fifo_lookahead(k=8)",
    ]
    apart = LineNames(rows, excluded="policy.queue.fifo_lookahead.k")
    assert [apart.of(point) for point in rows.points] == ["fifo_head_only", "fifo_lookahead", "fifo_lookahead"]


def test_of_a_part_with_the_lever_of_the_axis_inside_the_name_is_told():
    result = runs({"first_fit": [{}]})
    result.points[0].setup.policies.clear()
    result.points[0].setup.policies["locate"] = Directory(update=Message(delay=5))
    path = "policy.locate.directory.update.message.delay"
    assert LineNames(result).of(result.points[0]) == "directory(update=message(delay=5))"
    assert LineNames(result, excluded=path).of(result.points[0]) == "directory(update=message)"


def test_where_no_policy_differs_the_first_is_told():
    rows = queues(FifoHeadOnly())
    assert LineNames(rows).of(rows.points[0]) == "first_fit"


def test_varied_options_are_lines_not_panels():
    result = runs({"first_fit": [{}], "best_fit": [{}]})
    for point, order in zip(result.points, ("release_first", "allocate_first"), strict=True):
        point.coordinates["options.same_cycle_order"] = order
    (panel,) = panels(result)
    assert [line.name for line in panel.lines] == [
        "first_fit, same cycle order = release_first",
        "best_fit, same cycle order = allocate_first",
    ]


def test_a_choice_within_a_choice_is_told_once():
    result = runs({"first_fit": [{}]}, segments=[8, 16])
    for point in result.points:
        point.coordinates["machine"] = f"segments={point.setup.machine.segments}"
    assert [panel.title for panel in panels(result)] == ["segments=8", "segments=16"]
