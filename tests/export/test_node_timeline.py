"""The timeline of a node as Perfetto and Chrome read it: tracks, slices beside the twin's log, valid JSON, its size."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.node.description import Node
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, kernel, tensor
from tests.oracles.node_beside import Both, Engine, alike, run_both, setup_of
from tests.slow import seeds
from workbench.export._node_events import node_events
from workbench.export.timeline import write_timeline
from workbench.records.node import NodeRecord

pytestmark = pytest.mark.node


def of_phase(events: list[dict[str, Any]], phase: str) -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == phase]


def named(events: list[dict[str, Any]]) -> dict[int, str]:
    """Return the name of every thread, with its process."""
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    threads = [e for e in events if e["name"] == "thread_name"]
    return {e["tid"]: f"{processes[e['pid']]}: {e['args']['name']}" for e in threads}


def by_thread(events: list[dict[str, Any]]) -> dict[str, list[tuple[int, int]]]:
    """Return begin and end of the slices of each thread, nanoseconds."""
    names, result = named(events), dict[str, list[tuple[int, int]]]()
    for e in of_phase(events, "X"):
        begin = round(1000 * e["ts"])
        result.setdefault(names[e["tid"]], []).append((begin, begin + round(1000 * e["dur"])))
    return result


@pytest.mark.parametrize("seed", seeds(2, 28))
def test_slices_of_a_thread_do_not_overlap_and_every_thread_has_a_name(seed: int) -> None:
    events = list(node_events(run_both(random_node(seed)).record))
    for slices in by_thread(events).values():
        assert all(end <= following for (_, end), (following, _) in pairwise(slices))
    names = named(events)
    used = {e["tid"] for e in events if e["ph"] in "Xi"}
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    assert used == set(names) and not used & processes
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("seed", seeds(2, 28))
def test_as_many_slices_as_the_twin_logs(seed: int) -> None:
    both = run_both(random_node(seed))
    events, log = list(node_events(both.record)), both.twin.log
    found = Counter(event["name"].partition(" ")[0] for event in of_phase(events, "X"))
    assert found["group"] == len(log.of("dispatch", "release"))
    assert found["walk"] == len(log.of("translation", "walked"))
    assert found["step"] == len(log.of("node", "step"))
    assert found["transfer"] == len(log.of("link", "arrive"))
    assert found["allocate"] + found["refuse"] == len(log.of("pool", "answer"))
    assert found["release"] == len(log.of("pool", "released"))
    assert len(of_phase(events, "i")) == len(log.of("translation", "shootdown"))
    if not both.twin.failure:
        assert found["section"] == len(log.of("malloc", "acquire"))


@pytest.mark.parametrize("seed", seeds(2, 28))
def test_no_more_walks_at_a_time_than_walkers(seed: int) -> None:
    both = run_both(random_node(seed))
    threads = [name for name in by_thread(list(node_events(both.record))) if ": walkers" in name]
    walkers = both.twin.node.machine.cards[0].translation.walkers
    assert max(Counter(name.partition(":")[0] for name in threads).values(), default=0) <= walkers


@pytest.mark.parametrize("seed", seeds(2, 28))
def test_counters_are_never_below_zero_and_end_with_what_is_left(seed: int) -> None:
    both = run_both(random_node(seed))
    counted = of_phase(list(node_events(both.record)), "C")
    assert min(event["args"]["count"] for event in counted) >= 0
    if not both.twin.failure:
        last = {(event["pid"], event["name"]): event["args"]["count"] for event in counted}
        assert set(last.values()) == {0}


def of_steps(*steps: dict[str, Any], **couplings: Any) -> NodeRecord:
    values = {"machine": {"cards": [card()]}, "applications": [{"streams": [list(steps)]}], "couplings": couplings}
    node = Node.of(alike(values))
    return Engine().simulate(setup_of(node), node.seed, events=True)


def test_the_walks_of_v2_by_hand() -> None:
    touch = {"compute": 100, "touches": [{"tensor": "a", "pattern": "slice"}]}
    threads = by_thread(list(node_events(of_steps(tensor("a", 4), kernel(4, touch), touches_hold="group"))))
    assert threads["card 0: walkers"] == [(100, 500), (500, 900), (900, 1300), (1300, 1700)]
    assert threads["card 0: module 0"] == [(0, 500), (500, 1300)]
    assert threads["card 0: module 0, beside 1"] == [(0, 900), (900, 1700)]
    assert threads["applications: application 0 stream 0"] == [(0, 0), (0, 1700)]


def test_a_span_shows_what_lasts_in_it() -> None:
    record = of_steps(tensor("a", 4), kernel(4, {"compute": 100}))
    groups = [e for e in node_events(record, (120, 180)) if e["ph"] == "X" and e["name"].startswith("group")]
    assert [event["ts"] for event in groups] == [0.1, 0.1]


@pytest.mark.slow
def test_the_file_is_json_and_as_large_as_is_stated(tmp_path: Path) -> None:
    """A group with a touch and a page of its own: slices of group and walk, and the counters' values."""
    touch = {"compute": 100, "touches": [{"tensor": "a", "pattern": "slice"}]}
    sizes = []
    for groups in (20, 220):
        record = of_steps(tensor("a", groups), kernel(groups, touch))
        path = write_timeline(record, tmp_path / f"{groups}.json")
        content = json.loads(path.read_text())
        assert content["traceEvents"] == list(node_events(record))
        sizes.append(path.stat().st_size)
    assert (sizes[1] - sizes[0]) / 200 == pytest.approx(520, abs=40)


def test_both_kinds_of_records_are_written(tmp_path: Path) -> None:
    both: Both = run_both(random_node(4))
    paths = [write_timeline(both.record, tmp_path / name) for name in ("a.json", "b.json")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
