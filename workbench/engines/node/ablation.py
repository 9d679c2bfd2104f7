"""One kind of delay removed, or one application by itself, all numbers by chance as they are (spec 6, section 7).

A lever that cannot be zero is made as small as it goes (N57). A module has space for 1,024 waves, a card dispatches 64
groups a cycle, a heap's section takes a cycle. An application by itself keeps the numbers by chance that it has among
the others (E6, N59).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.engines.kit import Given
from workbench.engines.node.options import NodeOptions
from workbench.levers import Spec
from workbench.machine.machine import Machine
from workbench.machine.node import NodeMachine
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import Policy
from workbench.streams import Streams
from workbench.workloads.application import Application, Applications, Kernel, Launch, Step

NOTHING = "nothing"
_TRANSLATION = ("private_cycles", "shared_cycles", "level_cycles", "hop_cycles", "link_cycles")
Case = Given[Any, NodeOptions, Any]


def most_of(spec: type[Spec], name: str) -> Any:
    """Return the most that a lever may be."""
    return spec.levers[name].most


def _memory(case: Case) -> Case:
    """Let the service of the pool take no time; who waits for space still does."""
    pool = case.options.pool
    times = [name for name in pool.levers if name.endswith("_ns") and name != "wait_limit_ns"]
    nothing = {**dict.fromkeys(times, 0), "driver_ns_per_mib": 0, "zero_gbps": 0.0}
    return _options(case, pool=pool.but(**nothing), release_ns=0)


def _channel(case: Case) -> Case:
    """Let modules have space for all groups, and a round come every cycle."""
    rooms = {name: most_of(Machine, name) for name in ("waves_a_unit", "workgroups_a_unit")} | {"barriers_a_module": 0}
    machine: NodeMachine = case.machine
    whole = machine.card.simds_a_unit * (rooms["waves_a_unit"] // machine.card.simds_a_unit)
    dispatch = case.options.dispatch
    dispatch = dispatch.but(dispatches_a_round=most_of(type(dispatch), "dispatches_a_round"), round_cycles=1)
    case = _options(case, dispatch=dispatch)
    return case._replace(machine=machine.but(card=machine.card.but(**rooms | {"waves_a_unit": whole})))


def _issue(case: Case) -> Case:
    """Let the touches of a phase be issued at once, and no miss wait for a register."""
    case = _options(case, issue_cycles=0)
    return _translation_machine(case, private_mshrs=most_of(TranslationMachine, "private_mshrs"))


def _walkers(case: Case) -> Case:
    """Let there be more walkers than walks."""
    return _translation_machine(case, walkers=most_of(TranslationMachine, "walkers"), walk_queue=0)


def _translation(case: Case) -> Case:
    """Let translation and local data take no time."""
    locate = case.slots.locate
    if "look_up_cycles" in locate.levers:
        case = _policy(case, "locate", locate.but(look_up_cycles=0))
    return _translation_machine(_options(case, local_cycles=0), **dict.fromkeys(_TRANSLATION, 0))


def _link(case: Case) -> Case:
    """Let what lies on another card be as near as on the own one."""
    return _options(case, remote="local")


def _malloc_lock(case: Case) -> Case:
    """Let a section take a cycle, and its answer come when the whole section would have ended."""
    lock = case.slots.lock
    case = _policy(case, "lock", lock.but(hold_cycles=1))
    return _options(case, heap_answer_cycles=case.options.heap_answer_cycles + lock.hold_cycles - 1)


def _malloc_service(case: Case) -> Case:
    """Let a section take a cycle, and nothing else of a call any time."""
    case = _policy(case, "lock", case.slots.lock.but(hold_cycles=1))
    heap = case.options.heap.but(split_cycles=0, scan_step_cycles=0, barrier_step_cycles=0)
    return _options(case, heap=heap, heap_answer_cycles=0)


def _heap_chunk(case: Case) -> Case:
    """Let heaps grow at once, without the pool."""
    return _options(case, chunks="at_once")


def _shoot_down(case: Case) -> Case:
    """Let shoot-downs stall no core."""
    return _options(case, shootdown_cycles=0)


def _unchanged(case: Case) -> Case:
    """Return the case: what is removed is in the workload."""
    return case


_REMOVES: dict[str, Callable[[Case], Case]] = {
    "memory": _memory,
    "channel": _channel,
    "compute": _unchanged,
    "issue": _issue,
    "walkers": _walkers,
    "translation": _translation,
    "link": _link,
    "malloc_lock": _malloc_lock,
    "malloc_service": _malloc_service,
    "heap_chunk": _heap_chunk,
    "shoot_down": _shoot_down,
}
"""By part of a group's time (spec 6, R18)."""


def removed(case: Case) -> Case:
    """Return a case without the kind of delay that its options name.

    >>> from workbench.engines.node.engine import Node
    >>> from workbench.experiments.plan import make_plan
    >>> from workbench.experiments.sweep import read_sweep
    >>> sweep = {"engine": "node", "workload": {"synthetic": "small_kernels"}, "measures": ["makespan_cycles"],
    ...          "machine": {"card": {"compute_units": 4}, "translation": {"cores": 4}}}
    >>> setup = make_plan(read_sweep({**sweep, "options": {"without": "walkers"}})).points[0].setup
    >>> removed(Node().given(setup, 1)).machine.translation.walkers
    4096
    """
    return case if case.options.without == NOTHING else _REMOVES[case.options.without](case)


def without(applications: Applications, part: str) -> Applications:
    """Return applications whose kernels compute for no time, or hold nothing but wave slots, where that is removed."""
    change = {"compute": _computing_nothing, "channel": _holding_nothing}.get(part)
    return applications if change is None else tuple(_with_kernels(one, change) for one in applications)


def _with_kernels(application: Application, change: Callable[[Kernel], Kernel]) -> Application:
    """Return an application with other kernels."""

    def changed(step: Step) -> Step:
        return Launch(change(step.kernel)) if isinstance(step, Launch) else step

    return replace(application, streams=tuple(tuple(map(changed, steps)) for steps in application.streams))


def _computing_nothing(kernel: Kernel) -> Kernel:
    phases = tuple(replace(phase, cycles=np.zeros_like(phase.cycles)) for phase in kernel.phases)
    return replace(kernel, phases=phases)


def _holding_nothing(kernel: Kernel) -> Kernel:
    return replace(kernel, demand={})


def _options(case: Case, **values: Any) -> Case:
    """Return a case with other options."""
    options = case.options.but(**values)
    return case._replace(options=options, setup=case.setup._replace(options=options))


def _translation_machine(case: Case, **values: Any) -> Case:
    machine: NodeMachine = case.machine
    return case._replace(machine=machine.but(translation=machine.translation.but(**values)))


def _policy(case: Case, slot: str, policy: Policy) -> Case:
    """Return a case with another policy of a slot."""
    policies = {**case.setup.policies, slot: policy}
    return case._replace(slots=case.slots._replace(**{slot: policy}), setup=case.setup._replace(policies=policies))


class SoloWorkload:
    """A workload of which one application runs: the others keep their numbers, and do nothing."""

    name = "alone"

    def __init__(self, applications: Applications, number: int) -> None:
        self._applications, self._number = applications, number

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the applications."""
        return tuple(
            one if number == self._number else replace(one, streams=()) for number, one in enumerate(self._applications)
        )


def solo_workloads(applications: Applications) -> Iterator[SoloWorkload]:
    """Yield a workload for each application, in the order of their numbers."""
    for number in range(len(applications)):
        yield SoloWorkload(applications, number)
