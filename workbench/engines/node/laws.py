"""What holds in every run, whatever its policies are: nothing is lost and nothing is made (spec 6, R18).

Looked at in the end of a run, in Python, where the environment variable `WORKBENCH_CHECK_LAWS` is set, as in all tests;
where it is not, a run costs nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.engines.node.pages import OF, SHIFTS
from workbench.engines.node.parts import Members
from workbench.engines.node.state import APPLICATION, COUNT, GROUP, KERNEL, Run
from workbench.engines.pool.driver import LENGTHS
from workbench.errors import WorkbenchError

VARIABLE = "WORKBENCH_CHECK_LAWS"
BY_APPLICATION, BY_CLASS = 48, 44
"""Bits of a tag below which application and class of a page lie (N28)."""


class BrokenLawError(WorkbenchError):
    """A run has lost or made something: a fault of this package."""


def check_laws(run: Run, members: Members) -> None:
    """Raise the laws that a run breaks, where they are looked at.

    Raises
    ------
    BrokenLawError
        Groups, times, bytes or pages do not add up.
    """
    if os.environ.get(VARIABLE) and (laws := [*broken(run, members)]):
        raise BrokenLawError("; ".join(laws))


def broken(run: Run, members: Members) -> Iterator[str]:
    """Yield the laws that a run breaks, a sentence each."""
    yield from _groups(run)
    yield from _times(run)
    yield from _bytes(members)
    yield from _stale(run, members)


def _groups(run: Run) -> Iterator[str]:
    """Yield what is wrong unless groups put forward = ended + cancelled + under way."""
    counters = run.state.counters
    put, ended = int(counters[COUNT.put_forward]), int(counters[COUNT.groups_ended])
    cancelled, live = int(counters[COUNT.groups_cancelled]), int(run.state.application[:, APPLICATION.live].sum())
    if put != ended + cancelled + live:
        yield f"{put} groups were put forward; {ended} ended, {cancelled} were cancelled and {live} are under way"
    planned, refused = int(run.plan.groups.sum()), int(counters[COUNT.groups_refused])
    if planned != put + refused and run.state.application[:, APPLICATION.ended].all():
        yield f"{planned} groups are planned; {put} were put forward and {refused} refused"


def _times(run: Run) -> Iterator[str]:
    """Yield groups whose time is not the sum of its parts."""
    group = run.state.group
    since = run.state.kernel[run.plan.kernel_of, KERNEL.since]
    lost = np.where(group[:, GROUP.ended] >= 0, group[:, GROUP.ended] - since - run.state.times.sum(axis=1), 0)
    for one in np.flatnonzero(lost)[:3].tolist():
        yield f"of the time of group {one}, {int(lost[one])} cycles are in none of its parts"
    for one in np.flatnonzero((run.state.times < 0).any(axis=1))[:3].tolist():
        yield f"a part of the time of group {one} is negative: {run.state.times[one].tolist()}"


def _bytes(members: Members) -> Iterator[str]:
    """Yield cards with bytes that are neither with the driver, nor cached, nor in use, nor rounding of the driver's."""
    pool: Any = members.each[-1].part  # type: ignore[union-attr]
    state, capacity = pool.jobs.service.state, pool.jobs.service.tables.capacity
    lost = capacity - state.physical - state.cached - state.held
    for card in np.flatnonzero(lost).tolist():
        if lost[card] < 0 or not _rounds(state.driver, card):
            yield f"card {card} has {int(lost[card])} bytes that are neither free, cached nor in use"


def _rounds(driver: Any, card: int) -> bool:
    """Return whether the driver's placement takes more granules than it is asked for, as buddies do."""
    footprints = driver.footprints[driver.first[LENGTHS, card] : driver.first[LENGTHS, card + 1]]
    return bool(driver.granule > 0 and (footprints != np.arange(footprints.size)).any())


def _stale(run: Run, members: Members) -> Iterator[str]:
    """Yield TLBs that hold a page that is not mapped."""
    if run.rules.memory == 0:
        return
    mapped = set(_ranges(run))
    for card in range(run.rules.cards):
        state = members.each[run.rules.cards + card].part.lent.state  # type: ignore[union-attr]
        count = int(state.numbers.given[0])
        held = state.held.reshape(-1, max(state.held.size // max(state.numbers.pages.size, 1), 1))[:count]
        for tag in state.numbers.pages[:count][held.any(axis=1)].tolist():
            if not any(first <= tag < end for first, end in mapped):
                yield f"a TLB of card {card} holds page {tag}, which is not mapped"


def _ranges(run: Run) -> Iterator[tuple[int, int]]:
    """Yield the tags of the stretches of pages that are mapped, as half-open ranges."""
    pages = run.pages
    for mapping in np.flatnonzero(pages.count).tolist():
        first, count = int(pages.first[mapping]), int(pages.held[mapping])
        rows, left = pages.stretches[first : first + count], int(pages.count[mapping])
        ends = [*rows[1:, OF.first_page].tolist(), left]
        for row, end in zip(rows, ends):
            shift = SHIFTS[int(row[OF.size])]
            tag = (int(pages.application[mapping]) << BY_APPLICATION) + (int(row[OF.size]) << BY_CLASS)
            tag += int(row[OF.address]) >> shift
            yield tag, tag + end - int(row[OF.first_page])
