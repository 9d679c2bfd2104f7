"""The bit-serial scan: a shift register of the state, a counter of the run so far, the longest so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, number_of, states
from workbench.circuits.registry import Maker
from workbench.circuits.vectors import Case, Step
from workbench.gates.netlist import ZERO
from workbench.policies.probes.circuit.serial import step
from workbench.structures.bitmaps import packed


def build(probe: Any, blocks: int) -> Circuit:
    """Build the hardware of one cycle, which serves all: with `load` the state is copied and the scan begins anew."""
    net, state = begun(probe, blocks)
    net.latency, net.started_by = int(blocks), "load"
    width, load = int(blocks).bit_length(), net.input("load")
    waiting = net.register("waiting", blocks)
    run, longest = net.register("run", width), net.register("longest", width)
    new_run, new_longest = step(net, waiting[:1], run, longest)
    idle = net.not_(load)
    net.follow("waiting", net.select(load, state, np.append(waiting[1:], np.int32(ZERO))))
    net.follow("run", net.and_(idle, new_run))
    net.follow("longest", net.and_(idle, new_longest))
    net.output("report", new_longest)
    return net


def cases(probe: Any, blocks: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random states: loaded in the first step, the report after as many steps as there are blocks."""
    for free in states(blocks, count, seed):
        given = {"state": number_of(free), "load": 0}
        loaded = Step({**given, "load": 1}, {})
        report = Step(given, {"report": probe.ask(packed(free), blocks)})
        yield [loaded, *[Step(given, {})] * (blocks - 1), report]


MAKERS = [Maker("probe.bit_serial", build, cases)]
