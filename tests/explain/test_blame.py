"""Blame by removal with common random numbers: beside the twin's, by hand, as a table and as a command."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import yaml

import workbench as wb
from tests.oracles.node import blame as plain
from tests.oracles.node.description import Node
from tests.oracles.node.measures import at_rank, time_of
from tests.oracles.node.node import simulate
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, kernel, tensor
from tests.oracles.node_beside import Engine, alike, setup_of
from tests.slow import seeds
from workbench.cli.main import main
from workbench.engines.node.options import NodeOptions
from workbench.errors import InputError
from workbench.metrics.node import TIMES, measure

pytestmark = pytest.mark.node

HEAP = ("malloc_lock", "malloc_service")
"""Kinds of delay that the engine makes as small as its levers go, the twin nothing of."""
SWEEP: dict[str, Any] = {
    "engine": "node",
    "workload": {
        "synthetic": "stencil_steps",
        "count": 2,
        "steps": 1,
        "kernel_groups": 6,
        "cycles": {"exponential": 200},
        "grid_bytes": 1 << 23,
    },
    "machine": {"card": {"compute_units": 2}, "translation": {"cores": 2, "walkers": 1}},
    "options": {"touches_hold": "group"},
    "measures": ["makespan_cycles"],
    "seeds": 3,
}


def p99(node: Node, part: str = "nothing") -> float:
    """Return p99 of a group's time without a kind of delay."""
    setup = setup_of(node)
    record = Engine().simulate(setup._replace(options=setup.options.but(without=part)), node.seed)
    return measure(record)["group_p99_cycles"]


def test_every_part_of_a_groups_time_can_be_removed() -> None:
    assert NodeOptions.levers["without"].choices == ("nothing", *TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*seeds(2, 22), 197])
def test_what_is_removed_beside_the_twin(seed: int) -> None:
    """A policy that looks at free slots may choose other modules where there are more of them: without `channel`.

    In 197 stalls of a few cycles come so thick that a window of the past has no room for them at first.
    """
    node = Node.of(alike(random_node(seed)))
    if simulate(node).failure:
        return
    by_room = node.policies.choice in ("affinity", "balanced", "most_residual")
    for name, part in zip(TIMES, plain.PARTS):
        twin = simulate(plain.without(node, part))
        group = None if twin.failure or name in HEAP or (name == "channel" and by_room) else at_rank(twin, 99)
        if group is not None and any(program.refused for program in twin.programs):
            assert math.isnan(p99(node, name)), name  # the times of a run with a refusal are missing
        elif group is not None:
            assert p99(node, name) == time_of(group), name


def test_blame_of_one_walker_by_hand() -> None:
    """Four walks of 400 cycles one after the other: with many walkers the last group ends 1,200 cycles sooner."""
    touch = {"compute": 100, "touches": [{"tensor": "a", "pattern": "slice"}]}
    values = {
        "machine": {"cards": [card(4)]},
        "applications": [{"streams": [[tensor("a", 4), kernel(4, touch)]]}],
        "couplings": {"touches_hold": "group"},
    }
    node = Node.of(alike(values))
    assert p99(node) == 1700
    assert [p99(node) - p99(node, part) for part in ("walkers", "translation", "compute", "link")] == [
        1200,
        1600,
        100,
        0,
    ]


@pytest.mark.parametrize(("part", "ends"), [("nothing", 140), ("malloc_lock", 113), ("malloc_service", 104)])
def test_blame_of_a_heap_by_hand(part: str, ends: int) -> None:
    """Four sections of 10 cycles from cycle 100: 110 ... 140; sections of a cycle end at 101 ... 104, those of the lock
    alone are answered 9 cycles later."""
    phase = {"compute": 100, "mallocs": [8]}
    values = {
        "machine": {"cards": [card(4, heap={"hold_cycles": 10, "split_cycles": 0})]},
        "applications": [{"streams": [[kernel(4, phase)]]}],
        "couplings": {"malloc": "wait"},
    }
    assert p99(Node.of(alike(values)), part) == ends


@pytest.mark.slow
def test_the_table_has_paired_intervals_over_the_seeds() -> None:
    """At six seeds, the fewest at which the median has an interval of 95 %."""
    found = wb.blame(SWEEP | {"seeds": 6}, parts=["walkers", "compute", "link"], workers=0)
    table = found.table.set_index("part")
    assert sorted(table.index) == ["compute", "link", "walkers"] and set(table["pairs"]) == {6}
    base = [Engine().simulate(point.setup, seed) for point in found.results.points[:1] for seed in found.results.seeds]
    mean = sum(measure(record)["group_p99_cycles"] for record in base) / 6
    assert table["mean"].tolist() == pytest.approx([mean] * 3)
    assert table.loc["link", "blame"] == 0
    walkers = table.loc["walkers"]
    assert walkers["low"] < walkers["blame"] < walkers["high"] and walkers["blame"] > 0
    assert walkers["better"] == 6 and 0 < walkers["share"] < 1
    assert found.table["blame"].is_monotonic_decreasing


@pytest.mark.slow
def test_a_sweep_of_several_points_is_blamed_point_by_point() -> None:
    varied = {**SWEEP, "options": {"touches_hold": {"vary": ["group", "none"]}}}
    table = wb.blame(varied, parts=["walkers"], measure=None, workers=0).table
    assert table["options.touches_hold"].tolist() == ["group", "none"]
    assert table["measure"].tolist() == ["makespan_cycles"] * 2


@pytest.mark.parametrize(
    ("change", "choices", "says"),
    [
        ({}, {"parts": ["walker"]}, "unknown kind of delay 'walker'"),
        ({}, {"measure": "group_p98_cycles"}, "unknown measure 'group_p98_cycles'"),
        ({}, {"measure": "compute_share"}, "blame needs a measure of which less or more is better. Got compute_share."),
        ({"options": {"without": "link"}}, {}, "blame varies options.without itself; leave it out."),
    ],
)
def test_what_cannot_be_blamed_is_refused(change: dict[str, Any], choices: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        wb.blame({**SWEEP, **change}, **choices)
    assert says in str(refusal.value)


def test_other_engines_have_no_kinds_of_delay() -> None:
    sweep = {"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}
    with pytest.raises(InputError, match=r"blame needs an engine whose groups wait for several things: node\. Got"):
        wb.blame(sweep, measure="drain_cycles")


def test_the_command(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stencil.yaml"
    path.write_text(json.dumps(SWEEP))
    words = [
        "explain",
        "blame",
        str(path),
        "--parts",
        "walkers",
        "--out",
        str(tmp_path / "out"),
        "--workers",
        "1",
        "--json",
    ]
    assert main([*words, "--seeds", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["part"] for row in told["blame"]] == ["walkers"] and told["runs"] == 4
    assert main([*words, "--measure", "nothing_like_it"]) == 2


def test_the_command_reads_and_plans_its_sweep_once(readings, tmp_path, capsys):
    file = tmp_path / "node.yaml"
    file.write_text(yaml.safe_dump(SWEEP | {"seeds": 1}))
    words = ("explain", "blame", file, "--parts", "walkers", "--workers", 0, "--out", tmp_path / "blame", "--json")
    assert main([str(word) for word in words]) == 0
    assert readings == {"read": 1, "planned": 1}
