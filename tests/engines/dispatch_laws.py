"""What holds of every run of a dispatcher, whoever ran it: nothing is lost, given twice, or given too early."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tests.engines.dispatch_cases import Case
from workbench.records.dispatch import DispatchRecord


def assert_lawful(case: Case, record: DispatchRecord) -> None:
    conserves_waves(case, record)
    gives_what_was_asked(case, record)
    never_gives_twice(record)
    if case.chosen()["stuck"].look_ahead() == 0:
        keeps_the_order_of_channels(record)
    if case.options.get("dispatches_a_round", 1) == 1:
        assert len(set(record.cycle.tolist())) == record.cycle.size
        if not record.splits.size:
            counts_every_waiting_cycle(case, record)


def conserves_waves(case: Case, record: DispatchRecord) -> None:
    sent = np.zeros(len(case.rows), np.int64)
    np.add.at(sent, record.group, record.sent.sum(axis=1))
    assert sent.tolist() == [row.waves for row in case.rows]
    assert np.all(record.cycle >= record.arrival[record.group])
    once = np.bincount(record.group, minlength=len(case.rows))
    assert set(np.flatnonzero(once > 1)) <= set(record.splits[:, 1].tolist())


def gives_what_was_asked(case: Case, record: DispatchRecord) -> None:
    """All or nothing, zero demands without a grant, every wave a slot; rounded-up demands are the placement's."""
    if any(case.chosen()[slot].footprint(3, 16) != 3 for slot in ("placement", "shared_placement")):
        return
    given: dict[tuple[int, int, int], int] = defaultdict(int)
    for dispatch, unit, resource, _, amount in record.takes.tolist():
        given[dispatch, unit, resource] += amount
    for d, group in enumerate(record.group.tolist()):
        waves = int(record.sent[d].sum())
        for r, need in enumerate(record.demand[group].tolist()):
            if record.of_unit[r]:
                wanted = {unit: need * count for unit, count in enumerate(record.sent[d].tolist())}
            else:
                share = -(-need * waves // int(record.waves[group]))
                wanted = {-1: share if record.shared_out[d] else need}
                if record.resources[r] == "barriers":
                    wanted = {-1: int(waves > 1)}
            for unit, amount in wanted.items():
                assert given.pop((d, unit, r), 0) == amount
    assert not given


def never_gives_twice(record: DispatchRecord) -> None:
    """Every range lies in its map and is free when it is given; amounts never exceed what there is."""
    owner: dict[tuple[int, int, int, int], int] = {}
    used: dict[tuple[int, int, int], int] = defaultdict(int)
    end = record.cycle + record.duration[record.group]
    messages = [(int(end[row[0]]), 0, row) for row in record.takes.tolist()]
    messages += [(int(record.cycle[row[0]]), 1, row) for row in record.takes.tolist()]
    for _, is_take, (dispatch, unit, resource, start, amount) in sorted(messages, key=lambda e: e[:2]):
        place = (int(record.module[dispatch]), unit, resource)
        used[place] += amount if is_take else -amount
        assert 0 <= used[place] <= record.blocks[resource]
        assert (start >= 0) == bool(record.contiguous[resource])
        for block in range(start, start + amount) if start >= 0 else ():
            assert block < record.blocks[resource]
            assert ((*place, block) in owner) == (not is_take)
            if is_take:
                owner[(*place, block)] = dispatch
            else:
                assert owner.pop((*place, block)) == dispatch
    assert not owner and not any(used.values())


def keeps_the_order_of_channels(record: DispatchRecord) -> None:
    """R2: a channel is a FIFO; the parts of a group stand in its place."""
    for channel in range(record.channels):
        served = record.group[record.channel[record.group] == channel]
        assert np.all(np.diff(served) >= 0)


def counts_every_waiting_cycle(case: Case, record: DispatchRecord) -> None:
    """Little's law, channel by channel: rounds are cycles in which somebody waits, heads are channels that wait."""
    step = record.round_cycles
    waits = [
        (int(record.channel[g]), a, c) for g, a, c in zip(record.group, record.arrival[record.group], record.cycle)
    ]
    each = [
        {t for ch, a, c in waits if ch == channel for t in range(a, c + 1) if t % step == 0}
        for channel in range(record.channels)
    ]
    assert record.head_rounds == sum(map(len, each))
    assert record.rounds == len(set().union(*each))
    assert record.failed_rounds == record.rounds - record.cycle.size
    assert failed(record) == record.failed_rounds


def failed(record: DispatchRecord) -> int:
    return int(record.failures[:, 1].sum())


def keeps_units_even(record: DispatchRecord) -> None:
    """R68: the cumulative counts of a module's units differ by at most 1, at all times."""
    for module in range(record.modules):
        sent = record.sent[record.module == module].cumsum(axis=0)
        assert sent.size == 0 or np.ptp(sent, axis=1).max() <= 1
