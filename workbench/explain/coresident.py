"""Will a set of kernels start? Under which module choices it can hang, and how many modules to keep free (spec 7, R26).

coresident(kernels, machine)       every shipped choice, and the smallest number of closed modules   -> CoResidence
read_kernels(FILE.csv)             kernels and grids from a file                                     -> [KernelGroups]

All groups are present at cycle 0. The groups of a kernel run on once all groups that name the same barrier have
started: those of the kernel, and of each kernel that names the barrier too. A set can hang under a choice if one run
hangs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, unreadable, wrong_value
from workbench.experiments.setups import read_machine
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.machine.occupancy import occupancy_of
from workbench.mechanisms.mechanism import mechanism
from workbench.metrics.dispatch import hang_sentence
from workbench.policies.dispatch.admission import PartitionByKernel
from workbench.policies.policy import Policy, policies, read_policy
from workbench.units import waves_for
from workbench.workloads.csv_columns import column_names, read_columns
from workbench.workloads.workload import MOST_CHANNELS, Groups

DRAWS = 20
"""Runs of a choice that draws: it can hang if one of them does."""
MOST_GROUPS = 1 << 20
"""Of all kernels together."""


class KernelGroups(NamedTuple):
    """One kernel: its grid, and what a group asks for; 0 = nothing is asked or known."""

    groups: int
    threads: int
    vgprs: int = 0
    """Vector registers of a thread (NVIDIA: registers)."""
    sgprs: int = 0
    """Scalar registers of a wave."""
    shared_bytes: int = 0
    """Of a group."""
    cluster: int = 1
    barrier: int = -1
    """Kernels that name the same one wait for each other; -1 = the groups of the kernel wait for themselves alone."""


class KernelRow(Spec):
    """What a row of a file of kernels says; a file may leave out all columns but the first two."""

    groups: int = lever(least=1, most=MOST_GROUPS, unit="groups", description="groups of the grid")
    threads: int = lever(least=1, most=1 << 16, unit="threads", description="threads of a group")
    vgprs: int = lever(least=0, most=4096, unit="registers", description="vector registers of a thread")
    sgprs: int = lever(least=0, most=4096, unit="registers", description="scalar registers of a wave")
    shared_bytes: int = lever(least=0, most=1 << 30, unit="bytes", description="shared memory of a group")
    cluster: int = lever(least=1, most=1 << 16, unit="groups", description="how many groups start together, 1 = alone")
    barrier: int = lever(least=-1, most=1 << 20, description="the barrier that its groups name, -1 = one of its own")


NEEDED = ("groups", "threads")


class Outcome(NamedTuple):
    """What becomes of the kernels under one choice of a module."""

    rule: str
    hangs: bool
    never_started: int
    """Groups that never start, in the first run that hangs; 0 where none does."""
    groups: int
    """Groups of the kernels of which some never start."""
    why: str
    """When that run hangs, and what the groups lack; empty where none does."""
    runs: int = 1
    """Runs that were tried; of a choice that draws, others may hang where none of these does."""


class CoResidence(NamedTuple):
    """Under which choices a set of kernels can hang."""

    outcomes: tuple[Outcome, ...]
    closed: int | None
    """The smallest number of last modules which, closed to all but the last kernel, let no choice hang; None = there is
    no such number."""
    modules: int
    kernels: tuple[KernelGroups, ...]

    @property
    def sentence(self) -> str:
        """Return the answer in one sentence."""
        hanging = [one.rule for one in self.outcomes if one.hangs]
        if not hanging:
            return f"The kernels start under each of the {len(self.outcomes)} module choices."
        each, one = len(hanging) == len(self.outcomes), len(self.kernels) == 1
        under = f"each of the {len(hanging)}" if each else f"{len(hanging)} of {len(self.outcomes)}"
        can = f"The {'kernel hangs' if one and each else 'kernels can hang'} under {under} module choices."
        if one:
            return can
        if self.closed is None:
            return f"{can} No number of modules kept for the last kernel prevents it."
        return f"{can} Keep the last {self.closed} of {self.modules} modules for the last kernel, and none hangs."


def coresident(
    kernels: str | Path | Sequence[KernelGroups],
    machine: str | Machine,
    dispatches_a_round: int = 1,
    choices: Sequence[str] = (),
) -> CoResidence:
    """Return under which shipped module choices kernels can hang, and how many modules to keep for the last one.

    Parameters
    ----------
    kernels : path or sequence of KernelGroups
        A CSV file with a row a kernel, or the kernels. Each has a channel of its own, in this order; channels are
        served in turn.
    machine : str or Machine
        A preset, a preset's file, or a machine.
    dispatches_a_round : int
        Most groups, or clusters, that are dispatched in one round.
    choices : sequence of str
        Names of module choices; without any, every shipped one that needs no levers and no heat.

    Raises
    ------
    InputError
        The file, a kernel, the machine or a choice cannot be used.

    References
    ----------
    spec 7, R26 and V18.

    Examples
    --------
    >>> small, large = KernelGroups(2, 64, barrier=0), KernelGroups(3, 128, barrier=0)
    >>> two_slots = Machine(compute_units=4, simds_a_unit=1, waves_a_unit=2)
    >>> answer = coresident([small, large], two_slots, 64, choices=("first_module", "round_robin"))
    >>> [(one.rule, one.hangs) for one in answer.outcomes], answer.closed
    ([('first_module', False), ('round_robin', True)], 2)
    """
    is_file = isinstance(kernels, str | Path)
    given = read_kernels(kernels) if isinstance(kernels, str | Path) else list(kernels)
    hardware = read_machine(Machine, machine, Path()) if isinstance(machine, str) else machine
    if not given:
        raise InputError("coresident needs at least one kernel.")
    for number, one in enumerate(given):
        _check(one, hardware, f"{kernels}: row {number + 1}" if is_file else f"kernel {number}")
    run = _Runs(given, hardware, dispatches_a_round)
    rules = [read_policy("choice", name) for name in choices] or _rules()
    outcomes = tuple(run.outcome(rule, 0) for rule in rules)
    hanging = [rule for rule, one in zip(rules, outcomes, strict=True) if one.hangs]
    return CoResidence(outcomes, _smallest(run, rules, hanging), hardware.compute_units, tuple(given))


def read_kernels(path: str | Path) -> list[KernelGroups]:
    """Return the kernels of a CSV file, one a row; columns that it leaves out are 0, a cluster of 1, no barrier.

    Raises
    ------
    InputError
        The file is not there, or a column or field is not as it must be.
    """
    where = str(path)
    try:
        text = Path(path).read_bytes()
    except OSError as problem:
        raise unreadable(path, problem) from None
    names = column_names(text)
    levers = {name: one for name, one in KernelRow.levers.items() if name in NEEDED or name in names}
    also = f"; there may be {', '.join(name for name in KernelRow.levers if name not in NEEDED)}"
    columns = read_columns(text, levers, where, also)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [KernelGroups(**dict(zip(columns, row, strict=True))) for row in rows]


def _check(kernel: KernelGroups, machine: Machine, where: str) -> None:
    """Refuse a kernel of which a unit holds no group, or whose groups are not whole clusters."""
    known = {name: count for name in ("vgprs", "sgprs", "shared_bytes") if (count := getattr(kernel, name))}
    held = occupancy_of(machine, kernel.threads, **known)
    if not held.groups:
        demands = [f"{name} {count}" for name, count in (held.lifts or held.together).items()]
        nearest = (" or " if held.lifts else " and ").join(demands)
        raise InputError(f"{where}: no unit holds a workgroup of it. Nearest: {nearest}.")
    if left := kernel.groups % kernel.cluster:
        path, multiple = f"{where}: groups", kernel.groups - left + kernel.cluster
        raise wrong_value("", path, f"must be a multiple of its cluster of {kernel.cluster}", kernel.groups, multiple)


def _rules() -> list[Policy]:
    """Return every shipped module choice that needs nothing but its defaults, by name."""
    shipped = [cls for cls in policies("choice").values() if cls.__module__.startswith("workbench.")]
    each: list[Any] = [cls() for cls in shipped]
    return [rule for rule in each if not rule.needs_heat() and len(rule.terms()) == 1]


def _smallest(run: _Runs, rules: Sequence[Policy], hanging: Sequence[Policy]) -> int | None:
    """Return the smallest number of closed modules for which no choice hangs; those that hang already come first."""
    if not hanging:
        return 0
    if len(run.kernels) == 1 or run.is_too_much():
        return None
    others = [rule for rule in rules if rule not in hanging]
    for closed in range(1, run.machine.compute_units):
        if not any(run.outcome(rule, closed).hangs for rule in [*hanging, *others]):
            return closed
    return None


class _Table:
    """A workload that is a table of groups."""

    name = "kernels"

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    def groups(self, machine: Any, streams: Any) -> Groups:
        return self._groups


class _Runs:
    """The runs of a set of kernels."""

    def __init__(self, kernels: Sequence[KernelGroups], machine: Machine, dispatches_a_round: int) -> None:
        self.machine, self.kernels = machine, kernels
        self.engine = mechanism("dispatch").engine
        self.options = self.engine.options(dispatches_a_round=dispatches_a_round)
        self.workload = _Table(_groups(kernels, machine))
        named = {**self.engine.slots, "selection": "channel_round_robin", "priority": "no_priority"}
        read = {
            slot: read_policy(self.engine.question_of(slot), name) for slot, name in named.items() if name not in named
        }
        self.policies = {slot: read.get(slot) or read[name] for slot, name in named.items()}

    def is_too_much(self) -> bool:
        """Return whether the groups of a barrier ask for more than all modules have, so that every run hangs."""
        groups, machine = self.workload.groups(self.machine, None), self.machine
        for resource in machine.resources():
            of_unit, always = resource.level == "unit", machine.taken_always(resource.label, groups.waves)
            blocks = groups.demand.get(resource.label, 0) if always is None else always
            demand = np.broadcast_to(blocks, groups.waves.shape) * (groups.waves if of_unit else 1)
            there = resource.blocks * machine.compute_units * (machine.simds_a_unit if of_unit else 1)
            if groups.barrier is not None and np.bincount(groups.barrier, demand).max() > there:
                return True
        return False

    def outcome(self, rule: Policy, closed: int) -> Outcome:
        """Return the outcome of the kernels under a choice, with so many last modules closed to all but the last."""
        chosen = {**self.policies, "choice": rule}
        if closed:
            part = f"0-{self.machine.compute_units - closed - 1}"
            chosen["admission"] = PartitionByKernel(parts=" | ".join([part] * (len(self.kernels) - 1)))
        setup = Setup("dispatch", self.machine, self.workload, chosen, self.options)
        tried = DRAWS if rule.draws else 1
        for seed in range(tried):
            record = self.engine.simulate(setup, seed)
            between = record.between
            if between.hung:
                lacking, never = np.isin(between.kernel, between.kernel[between.never_started]), between.never_started
                return Outcome(rule.name, True, len(never), int(lacking.sum()), hang_sentence(record), seed + 1)
        return Outcome(rule.name, False, 0, 0, "", tried)


def _groups(kernels: Sequence[KernelGroups], machine: Machine) -> Groups:
    """Return the groups of the kernels, all there at cycle 0, each kernel in a channel of its own."""
    for number, one in enumerate(kernels):
        if one.threads > machine.threads_a_workgroup:
            most, path = machine.threads_a_workgroup, f"kernel {number}: threads"
            raise wrong_value("", path, f"must be at most {most}, all that a group of this machine has", one.threads)
    if len(kernels) > MOST_CHANNELS:
        raise InputError(f"there must be at most {MOST_CHANNELS} kernels, each with its channel. Got {len(kernels)}.")
    if (every := sum(one.groups for one in kernels)) > MOST_GROUPS:
        raise InputError(f"the kernels must have at most {MOST_GROUPS} groups in all. Got {every}.")
    own = 1 + max(one.barrier for one in kernels)
    barriers = [one.barrier if one.barrier >= 0 else own + number for number, one in enumerate(kernels)]
    counts = [one.groups for one in kernels]

    def each(values: Sequence[int]) -> np.ndarray:
        return np.repeat(np.array(values, np.int64), counts)

    demand = {
        "vgpr": each([-(-one.vgprs // machine.vgpr_granule) for one in kernels]),
        "shared": each([_segments(machine, one.shared_bytes) for one in kernels]),
    }
    if machine.sgprs_a_unit:
        demand["sgpr"] = each([-(-one.sgprs // machine.sgpr_granule) for one in kernels])
    return Groups(
        arrival=np.zeros(every, np.int64),
        channel=each(range(len(kernels))),
        priority=np.ones(every, np.int64),
        waves=each([int(waves_for(np.array(one.threads), machine.wave_size)) for one in kernels]),
        independent=np.zeros(every, bool),
        duration=np.ones(every, np.int64),
        demand=demand,
        instructions=np.zeros((every, 6), np.int64),
        kernel=each(range(len(kernels))),
        cluster=each([one.cluster for one in kernels]),
        barrier=each(barriers),
    )


def _segments(machine: Machine, shared_bytes: int) -> int:
    return int(machine.request_segments(shared_bytes)) if shared_bytes or machine.reserved_bytes else 0
