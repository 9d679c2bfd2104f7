"""The event log of a dispatcher, derived from its record: dispatch, take, give, round_failed, split."""

from __future__ import annotations

import numpy as np

from workbench.records.dispatch import DispatchRecord

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
        cycle, serial (0, 1, 2, ... in the total order), kind, and what belongs to the kind: dispatch has group,
        channel, priority (under which it was dispatched) and module; take and give have group, module, unit (-1 = the
        module's own), resource, start (-1 = countable) and amount; split has group and parts. What does not belong to
        a kind is -1, or an empty name.
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
    """Return what is taken, and the same given back."""
    order, unit, resource, start, amount = record.takes.T
    group, begin = record.group[order], record.cycle[order]
    columns = {"group": group, "module": record.module[order], "unit": unit, "start": start, "amount": amount}
    given = begin + record.duration[group]
    return [_part(kind, at, order, resource, **columns) for kind, at in ((_TAKE, begin), (_GIVE, given))]


def _failures(record: DispatchRecord) -> dict[str, np.ndarray]:
    first, times = record.failures.T
    which = np.repeat(np.arange(len(times)), times)
    after = np.arange(len(which)) - (times.cumsum() - times)[which]
    return _part(_FAILED, first[which] + after * record.round_cycles, which)


def _splits(record: DispatchRecord) -> dict[str, np.ndarray]:
    cycle, group, parts = record.splits.T
    return _part(_SPLIT, cycle, np.arange(len(cycle)), group=group, parts=parts)
