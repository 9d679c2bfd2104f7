"""A recorded profile as an application of a node: its order, the rule of what kernels touch, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.public_traces import needs_public_traces
from tests.slow import compiled_only
from workbench.api import run
from workbench.errors import InputError
from workbench.machine import Board, Card, Machine, NodeMachine, TranslationMachine
from workbench.streams import Streams
from workbench.workloads.application import Allocate, Free, Kernel, Launch
from workbench.workloads.trace_applications import TraceApplications

NODE = NodeMachine(
    board=Board(cards=(Card(id="gpu0", kind="gpu", memory_bytes=1 << 35),), links=()),
    card=Machine(compute_units=4, wave_size=32),
    translation=TranslationMachine(cores=4),
)
PROFILE = "hta_v100_memory_events"


def event(name: str, category: str, at: int, **more: Any) -> dict[str, Any]:
    lasts = more.pop("dur", 1)
    return {"ph": "X", "cat": category, "name": name, "tid": more.pop("tid", 1), "ts": at, "dur": lasts, "args": more}


def kernel(number: int, at: int, stream: int = 7, dur: int = 2) -> dict[str, Any]:
    grid = {"grid": [6, 1, 1], "block": [64, 1, 1], "registers per thread": 16, "shared memory": 1024}
    return event(f"k{number}", "kernel", at, device=0, stream=stream, correlation=number, dur=dur, **grid)


def launch(number: int, at: int, tid: int = 1) -> dict[str, Any]:
    return event("cudaLaunchKernel", "cuda_runtime", at, tid=tid, correlation=number)


def memory(at: int, address: int, size: int, tid: int = 1) -> dict[str, Any]:
    args = {"Device Type": 1, "Device Id": 0, "Addr": address, "Bytes": size}
    return {"ph": "i", "name": "[memory]", "tid": tid, "ts": at, "args": args}


EVENTS = [
    event("A", "cpu_op", 100, dur=100), memory(110, 1, 4096), event("B", "cpu_op", 120, dur=40), memory(130, 2, 8192),
    launch(1, 150), kernel(1, 400),
    launch(2, 300), kernel(2, 500), memory(310, 2, -8192), launch(3, 320), kernel(3, 600),
    memory(330, 9, -512),
    event("C", "cpu_op", 340, dur=20, tid=2), memory(345, 3, 2048, tid=2), launch(4, 350, tid=2), kernel(4, 700, 14),
]  # fmt: skip
"""Operator A with B in it, a kernel in B, two outside of all; another thread on another stream; a release of what was
live before."""


def profile(folder: Path, events: list[dict[str, Any]] = EVENTS, **levers: Any) -> TraceApplications:
    path = folder / "profile.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return TraceApplications(trace=str(path), **levers)


def told(workload: TraceApplications) -> list[list[tuple[Any, ...]]]:
    """Return the steps of each stream in short."""

    def step(one: Any) -> tuple[Any, ...]:
        if isinstance(one, Launch):
            return ("launch", *(touch.tensor for touch in one.kernel.phases[0].touches))
        return ("allocate", one.tensor, one.bytes) if isinstance(one, Allocate) else ("free", one.tensor)

    (application,) = workload.applications(NODE, Streams(1))
    return [[step(one) for one in steps] for steps in application.streams]


def test_the_order_is_the_hosts_and_kernels_touch_what_their_operator_allocated(tmp_path: Path) -> None:
    """Tensor 0 was live before; of kernel 1 B is the innermost operator; then the youngest that live count."""
    assert told(profile(tmp_path)) == [
        [
            ("allocate", 0, 512), ("allocate", 1, 4096), ("allocate", 2, 8192), ("launch", 2),
            ("launch", 2, 1, 0), ("free", 2), ("launch", 1, 0), ("free", 0),
        ],
        [("allocate", 3, 2048), ("launch", 3)],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("levers", "touched"),
    [
        ({"touched": "youngest"}, [(2, 1, 0), (2, 1, 0), (1, 0), (3,)]),
        ({"touched": "youngest", "most_tensors": 1}, [(2,), (2,), (1,), (3,)]),
        ({"touched": "none"}, [(), (), (), ()]),
        ({"before": "leave_out"}, [(1,), (1, 0), (0,), (2,)]),
        ({"skip": 1, "count": 2}, [(2, 1, 0), (1, 0)]),
    ],
)
def test_the_rule_can_be_chosen(tmp_path: Path, levers: dict[str, Any], touched: list[tuple[int, ...]]) -> None:
    streams = told(profile(tmp_path, **levers))
    assert [step[1:] for steps in streams for step in steps if step[0] == "launch"] == touched


def test_groups_are_those_of_the_kernels(tmp_path: Path) -> None:
    (application,) = profile(tmp_path, malloc_bytes=8).applications(NODE, Streams(1))
    kernels = [step.kernel for step in application.steps(Launch)]
    assert {(it.groups, it.waves, len(it.phases)) for it in kernels} == {(6, 2, 1)}
    assert kernels[0].demand == {"vgpr": 4, "sgpr": 0, "shared": 2}
    assert kernels[0].phases[0].mallocs == (8,)
    limited = profile(tmp_path, most_a_kernel=2, count=1).applications(NODE, Streams(1))[0]
    assert [it.kernel.groups for it in limited.steps(Launch)] == [2]


def test_ranks_do_the_same_one_after_the_other(tmp_path: Path) -> None:
    two = NODE.but(board=Board.read("dgx_1v"))
    ranks = profile(tmp_path, ranks=3, rank_shift_us=2).applications(two, Streams(1))
    assert [(it.home, it.arrival) for it in ranks] == [(0, 0), (1, 2000), (2, 4000)]
    with pytest.raises(InputError, match=r"ranks must be at most the GPUs of the board \(1\)\. Got 3\. Nearest: 1\."):
        profile(tmp_path, ranks=3).applications(NODE, Streams(1))


def test_facts_say_by_which_rule_kernels_touch(tmp_path: Path) -> None:
    assert profile(tmp_path).facts(NODE) == {
        "streams": 2, "kernels": 4, "kernels_by_operator": 2, "kernels_by_youngest": 2, "kernels_touching_nothing": 0,
        "kernels_left_out": 0, "groups": 24, "allocations": 4, "frees": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([one for one in EVENTS if one["name"] != "[memory]"], "holds no memory events of device 0; record it with"),
        ([{**one, "args": {k: v for k, v in one["args"].items() if k != "Addr"}} for one in EVENTS], "no addresses"),
        ([memory(1, 1, 5)], "holds no kernels"),
    ],
)
def test_other_profiles_are_refused(tmp_path: Path, events: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(InputError) as refusal:
        profile(tmp_path, events).applications(NODE, Streams(1))
    assert says in str(refusal.value)


EVERYTHING = {
    "memory": "wait", "pages": "largest", "touches_hold": "group", "remote": "link", "malloc": "wait", "history": True,
    "shootdown_cycles": 50, "touches_a_phase": 4,
}  # fmt: skip


def simulated(machine: dict[str, Any] | str, **levers: Any) -> Any:
    """Run the profile on a node in which everything acts on everything."""
    sweep = {
        "engine": "node", "machine": machine, "workload": {"trace": PROFILE, **levers}, "options": EVERYTHING,
        "measures": ["makespan_cycles"],
    }  # fmt: skip
    plan = wb.plan(sweep)
    return plan.sweep.mechanism.engine.simulate(plan.points[0].setup, 1), plan.points[0].setup.workload


def assert_all_ran(record: Any, facts: dict[str, int]) -> None:
    """All steps and groups have ended, and each mechanism had something to do."""
    counts = record.counts
    assert counts["groups_ended"] == facts["groups"]
    assert counts["steps"] == facts["kernels"] + facts["allocations"] + facts["frees"]
    assert min(counts["touches"], counts["calls"], counts["shoot_downs"]) > 0
    assert (record.times.sum(axis=1) >= record.ended - record.began).all()
    assert record.live_bytes > 0


@needs_public_traces
@pytest.mark.slow
def test_the_public_profile_is_an_application() -> None:
    facts = TraceApplications(trace=PROFILE, most_a_kernel=8).facts(NodeMachine.read("dgx_1v"))
    assert facts == {
        "streams": 2, "kernels": 19370, "kernels_by_operator": 10900, "kernels_by_youngest": 6445,
        "kernels_touching_nothing": 2025, "kernels_left_out": 0, "groups": 113395, "allocations": 13385, "frees": 13385,
    }  # fmt: skip


@pytest.mark.slow
@needs_public_traces
@pytest.mark.node
def test_the_beginning_of_a_training_step_runs_through_all_five_mechanisms() -> None:
    node = {
        "board": {"cards": [{"id": "gpu0", "kind": "gpu", "memory_bytes": 1 << 35}], "links": []},
        "card": {"preset": "v100", "compute_units": 2},
        "translation": {"preset": "v100_tlb", "cores": 2},
    }
    record, workload = simulated(node, skip=404, count=12, most_a_kernel=2, malloc_bytes=16)
    assert_all_ran(record, workload.facts(NodeMachine.read("dgx_1v")))


@pytest.mark.slow
@compiled_only
@needs_public_traces
def test_a_training_step_runs_through_all_five_mechanisms() -> None:
    """26,770 requests of a card to the pool, 19,370 kernels."""
    record, workload = simulated("dgx_1v", most_a_kernel=4, malloc_bytes=16)
    assert_all_ran(record, workload.facts(NodeMachine.read("dgx_1v")))


@pytest.mark.node
def test_results_that_rest_on_the_rule_say_so(tmp_path: Path) -> None:
    workload = {"trace": profile(tmp_path).trace, "touched": "youngest"}
    machine = {"card": {"compute_units": 1, "wave_size": 32}, "translation": {"cores": 1}}
    sweep = {"engine": "node", "workload": workload, "machine": machine, "measures": ["makespan_cycles"]}
    (note,) = run({**sweep, "policy": {"eviction": "lru"}}, workers=0).notes
    assert note.endswith("what translation and links do rests on the rule `touched: youngest`.")


def test_a_sweep_takes_it_by_the_key_trace(tmp_path: Path) -> None:
    workload = profile(tmp_path)
    sweep = {
        "engine": "node", "workload": {"trace": workload.trace, "pattern": "shared"}, "measures": ["makespan_cycles"],
        "machine": {"card": {"compute_units": 4, "wave_size": 32}, "translation": {"cores": 4}},
    }  # fmt: skip
    setup = wb.plan(sweep).points[0].setup
    steps = setup.workload.applications(setup.machine, Streams(1))[0].streams[0]
    assert isinstance(steps[-1], Free) and isinstance(steps[3].kernel, Kernel)
    assert steps[3].kernel.phases[0].touches[0].pattern == "shared"
