"""The record of a dispatcher's run, enough to replay every dispatch, and the event log derived from it.

The kinds of events: give, dispatch, take, round_failed, split. The record holds nothing that can be derived from it.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import numpy as np


class PowerModel(Protocol):
    """What a record keeps of the machine's power model."""

    simulated: ClassVar[bool]
    """Whether there is a power to speak of."""

    def energies_pj(self) -> np.ndarray:
        """Return the energy of one instruction of each class: float64[6], picojoules."""

    def idle(self) -> float:
        """Return the watts of a module that does nothing, which it draws at work too."""


class HeatModel(Protocol):
    """What a record keeps of the machine's thermal model."""

    simulated: ClassVar[bool]
    """Whether there is heat to speak of."""

    def cycles(self) -> int:
        """Return the length of a step in cycles; during a step the power counts as constant."""

    def ambient(self) -> float:
        """Return the temperature of the ambient, degrees Celsius."""

    def matrices(self, modules: int, clock_mhz: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the matrices of one step: `heat = keeps @ heat + gains @ power`, both float64[modules, modules]."""


class Lacking(NamedTuple):
    """What the groups lack that wait when a run hangs, on the module that lacks least: a row a group and resource."""

    group: np.ndarray
    """int64[rows]."""
    why: np.ndarray
    """int64[rows], a place in `WHY`."""
    module: np.ndarray
    """int64[rows], -1 where the group lacks nothing."""
    resource: np.ndarray
    """int64[rows], -1 where the group lacks nothing."""
    amount: np.ndarray
    """int64[rows], blocks that are missing; of the longest run where a grant must be contiguous."""
    die: np.ndarray
    """int64[rows], the die that a group was told to wait for, -1 = none."""


WHY = ("lacks", "not_admitted", "told_to_wait", "behind")
"""Why a group waits: it lacks resources; no module admits it; it was told to wait; it lacks nothing but its turn."""


class Between(NamedTuple):
    """What stood between queue and unit in a run (spec 7)."""

    die_of: np.ndarray
    """int64[modules]."""
    kernel: np.ndarray
    """int64[groups]."""
    barrier: np.ndarray
    """int64[groups], -1 = none."""
    endless: np.ndarray
    """bool[groups]."""
    start: np.ndarray
    """int64[dispatches], when each took its resources, -1 = never."""
    begin: np.ndarray
    """int64[dispatches], when its duration began, -1 = never: after its start where it waited at a barrier."""
    end: np.ndarray
    """int64[dispatches], when it gave its resources back, -1 = never."""
    hung_at_cycle: int
    """The cycle of the last arrival, start, end or split of a run that hangs; -1 of one that ended."""
    never_started: np.ndarray
    """int64[...], the groups that never started, or not with all sub-groups, in a run that hangs."""
    at_barrier: np.ndarray
    """int64[...], the groups that started and still wait at a barrier, in a run that hangs."""
    lacking: Lacking
    pace: np.ndarray
    """int64[changes, 4], where rates are shared: module, first cycle, the one after the last, and the rate of each
    resident in 2^-20; no rows else."""

    @property
    def hung(self) -> bool:
        """Return whether the run hangs: groups have not ended and nothing can happen any more."""
        return self.hung_at_cycle >= 0


class DispatchRecord(NamedTuple):
    """One run of the engine `dispatch`: the groups as they were asked for, one row a dispatch, and totals of the run.

    A group that was split has one dispatch a sub-group; every other group has one.
    """

    modules: int
    units: int
    """Units of a module."""
    levels: int
    """Static priorities; sub-groups may have one more (`below_all`)."""
    channels: int
    resources: tuple[str, ...]
    """The resources' names: those of units first."""
    of_unit: np.ndarray
    """bool[resources], whether each unit has its own."""
    contiguous: np.ndarray
    """bool[resources]."""
    blocks: np.ndarray
    """int64[resources], blocks of each unit, or of each module."""
    arrival: np.ndarray
    """int64[groups], the cycle at which each joined its channel's queue."""
    channel: np.ndarray
    """int64[groups]."""
    priority: np.ndarray
    """int64[groups], static priority, 1 = highest."""
    waves: np.ndarray
    """int64[groups]."""
    duration: np.ndarray
    """int64[groups], cycles from a dispatch to its release."""
    demand: np.ndarray
    """int64[groups, resources]: blocks a wave of a unit's resource (1 of `waves`), blocks a group of a module's (1 of
    `workgroups`). Of `barriers` it is 1 for more than one wave; a sub-group of one wave takes none."""
    instructions: np.ndarray
    """int64[groups, 6], of each class, over the whole group."""
    group: np.ndarray
    """int32[dispatches], the group of each, in the order of the dispatches."""
    cycle: np.ndarray
    """int64[dispatches], when; the release is `duration[group]` later."""
    module: np.ndarray
    """int32[dispatches]."""
    sent: np.ndarray
    """int32[dispatches, units], waves on each unit of the module."""
    level: np.ndarray
    """int32[dispatches], the static priority under which it was dispatched; that of a sub-group may differ."""
    shared_out: np.ndarray
    """bool[dispatches], whether a sub-group asked for its share of the module's resources instead of all."""
    refused: np.ndarray
    """int64[groups], rounds in which each, or a part of it, stood at its channel's head and fitted no module."""
    round_cycles: int
    """Cycles from one round to the next."""
    history_cycles: int
    """How many of the latest cycles the choice of a module looks back over, 0 = none."""
    rounds: int
    """Rounds in which a group waited."""
    failed_rounds: int
    """Rounds in which a group waited and nothing was dispatched."""
    head_rounds: int
    """Sum over the rounds of the groups that waited at heads of channels."""
    over_promised: int
    """Dispatches that failed at allocation: a report was stale, or the placement refused what it promised."""
    refused_by_fragmentation: int
    """Sum over the rounds of heads that fit no module, although in some module as many blocks of every resource are
    free, all units together, as the group takes in all: they lie apart, in one unit or in several."""
    placement_searches: int
    """Questions to placement policies."""
    pieces: int
    """Separate ranges given; more than the searches that succeeded where grants are scattered."""
    splits: np.ndarray
    """int64[splits, 3]: cycle, group, parts."""
    takes: np.ndarray
    """int64[takes, 5]: dispatch, unit (-1 = the module's own), resource, start (-1 = countable), amount; a scattered
    grant has a row a run of blocks; empty unless events were asked for."""
    clock_mhz: float
    power: PowerModel | None
    """The power model, None or one that says so where power is not simulated."""
    heat: HeatModel | None
    """The thermal model, None or one that says so where heat is not simulated."""
    failures: np.ndarray
    """int64[failures, 2]: first cycle and how many rounds failed in a row without a change; empty unless events were
    asked for."""
    between: Between | None = None
    """What stood between queue and unit (spec 7); None where nothing did."""

    def starts(self) -> np.ndarray:
        """Return the cycle at which each dispatch took its resources: int64[dispatches], -1 = never."""
        return self.cycle if self.between is None else self.between.start

    def ends(self) -> np.ndarray:
        """Return the cycle at which each dispatch gave its resources back: int64[dispatches], -1 = never."""
        return self.cycle + self.duration[self.group] if self.between is None else self.between.end


KINDS = ("give", "dispatch", "take", "round_failed", "split")
_GIVE, _DISPATCH, _TAKE, _FAILED, _SPLIT = range(5)
_RANK = np.array([0, 1, 1, 2, 3])
"""Of each kind within a cycle."""
_NUMBERS = ("group", "channel", "priority", "module", "unit", "start", "amount", "parts")
COLUMNS = ("cycle", "serial", "kind", "group", "channel", "priority", "module", "unit", "resource", "start", "amount",
           "parts")  # fmt: skip


def events(record: DispatchRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (cycle, rank, serial), as columns.

    Within a cycle comes first what is given back, in the order of the dispatches; then each dispatch with what it
    takes, resource by resource; then the round that failed; then the groups that are split because of it.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, and the fields of the kind: dispatch has group, channel,
        priority (under which it was dispatched) and module. Take and give have group, module, unit (-1 = the module's
        own), resource, start (-1 = countable) and amount; split has group and parts. What does not belong to a kind is
        -1, or an empty name.
    """
    parts = [_dispatches(record), *_takes(record), _failures(record), _splits(record)]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    rank = _RANK[joined["kind"]]
    place = np.lexsort((joined["kind"], joined["order"], rank, joined["cycle"]))
    result = {name: column[place] for name, column in joined.items()}
    result["serial"] = np.arange(len(place))
    result["kind"] = np.array(KINDS)[result["kind"]]
    result["resource"] = np.array([*record.resources, ""])[result["resource"]]
    return {name: result[name] for name in COLUMNS}


def _part(
    kind: int, cycle: np.ndarray, order: np.ndarray, resource: object = -1, **message: object
) -> dict[str, np.ndarray]:
    """Return the events of one kind; `order` is the dispatch that they belong to, or their place among those of their
    kind."""
    columns = {
        "kind": kind,
        "cycle": cycle,
        "order": order,
        "resource": resource,
        **dict.fromkeys(_NUMBERS, -1),
        **message,
    }
    return {name: np.broadcast_to(np.asarray(value, np.int64), cycle.shape) for name, value in columns.items()}


def _dispatches(record: DispatchRecord) -> dict[str, np.ndarray]:
    group = record.group
    columns = {"channel": record.channel[group], "priority": record.level, "module": record.module}
    return _part(_DISPATCH, record.cycle, np.arange(len(group)), group=group, **columns)


def _takes(record: DispatchRecord) -> list[dict[str, np.ndarray]]:
    """Return the columns of what is taken, and the same given back."""
    order, unit, resource, start, amount = record.takes.T
    group, begin, end = record.group[order], record.starts()[order], record.ends()[order]
    columns = {"group": group, "module": record.module[order], "unit": unit, "start": start, "amount": amount}
    given = end >= 0  # a group that hangs gives nothing back
    back = {name: column[given] for name, column in columns.items()}
    return [
        _part(_TAKE, begin, order, resource, **columns),
        _part(_GIVE, end[given], order[given], resource[given], **back),
    ]


def _failures(record: DispatchRecord) -> dict[str, np.ndarray]:
    first, times = record.failures.T
    which = np.repeat(np.arange(len(times)), times)
    after = np.arange(len(which)) - (times.cumsum() - times)[which]
    return _part(_FAILED, first[which] + after * record.round_cycles, which)


def _splits(record: DispatchRecord) -> dict[str, np.ndarray]:
    cycle, group, parts = record.splits.T
    return _part(_SPLIT, cycle, np.arange(len(cycle)), group=group, parts=parts)
