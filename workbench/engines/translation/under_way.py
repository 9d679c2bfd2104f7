"""What is known of a miss under way and of an access that waits: a row of whole numbers each, its fields by name."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import numbered


class Miss(NamedTuple):
    """A row of `State.misses`."""

    core: int
    page: int
    """Its short number."""
    key: int
    """What its entry is found by."""
    ordinal: int
    """The row of the trace."""
    name: int
    """The page of the trace."""
    since: int
    """The cycle from which its latency counts."""
    place: int
    """Among its core's registers."""
    dead: int
    """The first unmapping of its page since, by number; 0 = none. A walk is as dead as the miss that opened it."""
    tries: int
    """Peers that were asked."""
    in_shared: int
    """Whether the shared TLB held the page when the directory was read."""
    source: int
    """Who answers."""
    queued: int
    """When it came to the walkers."""
    holders: int
    """How many are left to ask."""
    peer: int
    """The one that is asked, -1 = none."""
    joined: int
    """The first access that joined it, -1 = none."""
    last_joined: int
    next: int
    """The next miss that waits for the same walk, -1 = none."""
    last: int
    """Of one that opened a walk: the last that waits for it, at first itself; -1 = it opened none."""
    behind: int
    """The next in the queue of walks, or before it, -1 = none."""
    batch: int
    """Of one whose walk is under way: its number in its batch, 0 = its core walks."""
    begun: int
    """When its walk began, or its wait at the walkers ended; -1 = not yet."""
    read: int
    """When its walk was read, -1 = not yet, and where nobody asks."""
    ended: int
    """When the bytes of its walk have come, as is known from outside; -1 = not yet."""


class Waiting(NamedTuple):
    """A row of `State.parking`."""

    since: int
    """The cycle from which its latency counts."""
    name: int
    """The page of the trace."""
    page: int
    """Its short number."""
    key: int
    """What its entry is found by."""
    ordinal: int
    """The row of the trace."""
    next: int
    """The next that waits, or the next free place."""
    why: int
    """What it waits for."""
    known: int
    """The cycle at which its look-up is done."""
    dead: int
    """Of one that waits for a register: the first unmapping of its page since, by number; 0 = none."""


class Told(NamedTuple):
    """A row of `State.answers`.

    Its last four fields are equal where no walk has a part in the answer.
    """

    kind: int
    """One of `telling.SAYS`."""
    ticket: int
    """Of the access; of a walk, the one that opened it."""
    cycle: int
    what: int
    """Of an access that is issued `telling.WAY`, of one that is answered who served it; of a walk, its number."""
    core: int
    tag: int
    queued: int
    """When the access, or the miss that it joined, came to the walkers."""
    begun: int
    """When its walk began, or when it was answered or joined another walk after a wait for a place."""
    read: int
    """When the page tables were read."""
    ended: int
    """When the walk ended."""


OF = numbered(Miss)
WAITING = numbered(Waiting)
TOLD = numbered(Told)
