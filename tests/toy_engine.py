"""An engine that hands out toy records of a dispatcher, so that whole sweeps of them can be run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import workbench.mechanisms.mechanism as room
import workbench.policies.placement  # noqa: F401 - so that there are policies of that name
from tests.toy_dispatch import toy
from workbench.levers import Spec, lever
from workbench.machine import ClassPower, Machine, RcHeat
from workbench.mechanisms.mechanism import Mechanism
from workbench.metrics.dispatch import MEASURES, measure
from workbench.parts.registry import Registry
from workbench.records.dispatch import events

SWEEP: dict[str, Any] = {"engine": "dispatch", "workload": "large_uniform", "seeds": 3}


class ToyOptions(Spec):
    count: int = lever(20, least=0, most=1000, unit="groups", description="groups")
    levels: int = lever(3, least=1, most=8, unit="priorities", description="static priorities")
    round_cycles: int = lever(1, least=1, most=64, unit="cycles", description="cycles from one round to the next")


class Toy:
    name, revision, slots, options, workload_kind = "dispatch", 1, {"placement": "first_fit"}, ToyOptions, "workgroups"
    machine = Machine

    def question_of(self, slot: str) -> str:
        return slot

    def validate(self, setup: Any, seed: int) -> None:
        pass

    def simulate(self, setup: Any, seed: int, events: bool = False) -> Any:
        message = setup.options
        units = setup.machine.simds_a_unit
        made = toy(seed, message.count, 3, units, levels=message.levels, round_cycles=message.round_cycles, **WARM)
        return made if events else made._replace(takes=made.takes[:0], failures=made.failures[:0])


WARM = {"power": ClassPower(), "heat": RcHeat(step_cycles=5, capacity_j_per_k=1e-8)}


@contextmanager
def toy_engine() -> Iterator[None]:
    """For this time the engine `dispatch` is the toy."""
    before, known = room.MECHANISMS, dict(room._BUILT_IN)
    room._BUILT_IN.pop("dispatch")
    room.MECHANISMS = Registry("toy", "engine", later=room._BUILT_IN)
    room.enter(Mechanism(Toy(), MEASURES, measure, events))
    try:
        yield
    finally:
        room.MECHANISMS = before
        room._BUILT_IN.update(known)
