"""Where the time of a group goes: the parts of its critical path, which sum to its time exactly (spec 6, R18)."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracles.node.groups import Group, Item, Part, PhaseRecord
from tests.oracles.node.node import Simulation

PARTS = (
    *("memory", "channel", "compute", "issue", "walkers", "translation", "link"),
    *("malloc lock", "malloc service", "heap chunk", "shoot-down"),
)
"""Wait for memory, wait in channel, compute, issue and miss-register wait, wait for walkers, other translation, link,
malloc lock, malloc service, wait for a heap chunk, shoot-down."""

Spans = list[tuple[int, int, str]]


def parts_of(run: Simulation, group: Group) -> dict[str, int]:
    """Return the cycles of each part of a group's time, from the end of the step before its kernel to its own end."""
    totals = dict.fromkeys(PARTS, 0)
    for begin, end, kind in path(run, group):
        totals[kind] += end - begin
    return totals


def path(run: Simulation, group: Group) -> Spans:
    """Return the critical path of a group, span by span."""
    part = _last(group)
    waits = [
        (group.reached_at, group.put_forward_at, "memory"),
        (group.put_forward_at, part.dispatched_at, "channel"),
    ]
    return [span for span in [*waits, *_phases(run, part)] if span[1] > span[0]]


def _last(group: Group) -> Part:
    """Return the part that ended last, the first of equals."""
    return next(part for part in group.parts if part.ended_at == group.ended_at)


def _phases(run: Simulation, part: Part) -> Spans:
    """Return the path through the phases: up to the item that is answered at the end, if there is one."""
    critical = _first_answered_at(part.ended_at, part.phases)
    spans: Spans = []
    for record in part.phases:
        spans.append((record.begin, record.compute_end, "compute"))
        if critical in record.items:
            return [*spans, *_tail(run, part, record, critical)]
        holding = [item for item in record.items if item.holds]
        if holding:
            spans += _tail(run, part, record, _critical(record.end, holding))
    return spans


def _first_answered_at(cycle: int | None, phases: Iterable[PhaseRecord]) -> Item | None:
    answered = [item for record in phases for item in record.items if item.answered_at == cycle]
    return min(answered, key=lambda item: item.key, default=None)


def _critical(cycle: int | None, items: list[Item]) -> Item | None:
    """Return the item that ended the phase, the earliest in the order of equals; None if compute did."""
    return min((item for item in items if item.answered_at == cycle), key=lambda item: item.key, default=None)


def _tail(run: Simulation, part: Part, record: PhaseRecord, item: Item | None) -> Spans:
    """Return the spans from the end of compute to the answer of an item."""
    if item is None or item.answered_at is None:
        return []
    asked, spans = _own(item)
    stalls = run.translations[part.card].cores[part.module].stalls
    return [*_issue(record.compute_end, asked, stalls), *spans]


def _own(item: Item) -> tuple[int, Spans]:
    """Return when an item was issued, and its spans from then on."""
    assert item.answered_at is not None
    if item.call is not None:
        return item.call.requested_at, item.call.spans()
    access = item.access
    assert access is not None
    data = (access.answered_at, item.answered_at, "link" if access.remote else "translation")
    return access.issued_at, [*access.spans(), data]


def _issue(begin: int, end: int, stalls: list[tuple[int, int]]) -> Spans:
    """Cut the wait to be issued by the stalls of the module."""
    spans: Spans = []
    for first, until in stalls:
        first, until = max(first, begin), min(until, end)
        if until > first:
            spans += [(begin, first, "issue"), (first, until, "shoot-down")]
            begin = until
    return [*spans, (begin, end, "issue")]
