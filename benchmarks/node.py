"""The whole node with everything acting on everything: groups a second, and the memory that they take.

Four cards of sixteen modules; each group is computed for a while, touches ten pages and asks its heap once (spec 6,
section 10). Data of four applications lie on all cards, so that walks and data pass the links.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import fastest, row
from workbench.engines.kit.engine import Setup, defaults_of, question_of
from workbench.engines.node.engine import Node
from workbench.engines.node.options import NodeOptions, Slots
from workbench.levers import lever
from workbench.machine.node import NodeMachine
from workbench.policies.policy import read_policy
from workbench.records.node import NodeRecord
from workbench.workloads.application import (
    Allocate,
    Application,
    Applications,
    Free,
    Kernel,
    Launch,
    Phase,
    Step,
    Touch,
)
from workbench.workloads.workload import Workload

CARDS, MODULES, TOUCHES = 4, 16, 10
GROUPS, FEW, MANY = 20_000, 20_000, 100_000
GROUPS_A_KERNEL = 500
PAGE = 1 << 16
PAGES = 64
"""Of a tensor."""
ROOT = Path(__file__).parent.parent
MOST_BYTES = 128
"""A group's row, at most."""


class Repeated(Workload):
    """On each card an application whose kernels follow each other; what one has written the next reads."""

    count: int = lever(GROUPS, least=CARDS * GROUPS_A_KERNEL, most=1 << 24, unit="groups", description="of all cards")

    def applications(self, machine: Any, streams: Any) -> Applications:
        return tuple(Application((tuple(self._steps()),), home=card) for card in range(CARDS))

    def _steps(self) -> Iterator[Step]:
        kernels = self.count // (CARDS * GROUPS_A_KERNEL)
        random = np.random.default_rng(1)
        yield Allocate(0, PAGES * PAGE)
        for kernel in range(kernels):
            yield Allocate(kernel + 1, PAGES * PAGE)
            cycles = random.integers(2_000, 10_000, GROUPS_A_KERNEL)
            yield Launch(Kernel(GROUPS_A_KERNEL, (_phase(kernel, cycles),), waves=1, demand={"vgpr": 4, "shared": 8}))
            yield Free(kernel)


def _phase(kernel: int, cycles: np.ndarray) -> Phase:
    """Four pages that a neighbour touches too, three at a distance and three by chance."""
    touches = (
        Touch(kernel, "stride", stride=1, count=4, element_bytes=PAGE, bytes=4 * 4096),
        Touch(kernel, "stride", stride=16, count=3, element_bytes=PAGE, bytes=3 * 4096),
        Touch(kernel + 1, "stride", stride=7, count=3, element_bytes=PAGE, bytes=3 * 4096),
    )
    return Phase(cycles, touches, (4096,), (100, 100, 50, 200, 20, 20))


def setup(groups: int) -> Setup:
    """Return a node in which everything acts on everything."""
    cards = [{"id": f"g{card}", "memory_bytes": (6 if card % 2 else 32) << 20} for card in range(CARDS)]
    ends = [f"g{one} g{other}" for one in range(CARDS) for other in range(one)]
    links = [{"between": both, "gbps": 50, "kind": "nvlink"} for both in ends]
    machine = NodeMachine.read(
        {
            "board": {"cards": cards, "links": links},
            "card": {"compute_units": MODULES, "simds_a_unit": 4, "waves_a_unit": 32, "segments": 128},
            "translation": {"cores": MODULES, "walkers": 8, "private_entries": 32, "shared_entries": 256},
        }
    )
    options = NodeOptions.read(
        {
            "memory": "wait", "pages": "64k", "shootdown_cycles": 50, "touches_hold": "group", "remote": "link",
            "malloc": "wait", "history": True, "heap": {"heap_bytes": 1 << 16},
            "pool": {"when_full": "wait", "service_ns": 100}, "translation": {"news": "free"},
        }
    )  # fmt: skip
    chosen = {
        **defaults_of(Slots), "choice": "least_recent_activity", "locate": "directory", "target": "max_bandwidth",
        "selection": "strict_priority", "shared_placement": "nearest_boundary",
    }  # fmt: skip
    policies = {slot: read_policy(question_of(Slots, slot), name, slot) for slot, name in chosen.items()}
    return Setup("node", machine, Repeated(count=groups), policies, options)


def simulated(groups: int) -> NodeRecord:
    """One run, which must have done all that was asked for."""
    record = Node().simulate(setup(groups), seed=1)
    assert record.counts["groups_ended"] == groups
    assert record.counts["touches"] == TOUCHES * groups
    assert record.counts["calls"] == groups
    return record


def node() -> list[dict[str, Any]]:
    """Speed, and how the memory grows with the number of groups."""
    ends = []
    simulated(4 * GROUPS_A_KERNEL)
    seconds = fastest(lambda: ends.append(simulated(GROUPS).makespan), 3)
    assert len(set(ends)) == 1
    shape = f"{CARDS} cards of {MODULES} modules, {TOUCHES} touches and a malloc a group"
    return [row("node", f"{shape}, makespan {ends[0]:,} cycles", GROUPS, "groups", seconds), _memory(shape)]


def _memory(shape: str) -> dict[str, Any]:
    """Return what a group more takes, by two processes that hold nothing else; the row says bytes a group."""
    few, many = (_peak_kib(count) for count in (FEW, MANY))
    a_group = 1024 * (many - few) / (MANY - FEW)
    return row("node", f"{shape}, peak memory in bytes a group: {a_group:,.0f}", MANY, "groups", 0.0)


def _peak_kib(groups: int) -> int:
    code = (
        "from benchmarks.node import simulated\n"
        f"simulated({groups})\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    return int(
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    )
