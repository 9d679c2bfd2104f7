"""How fast each transfer moves: equal shares of each link, the remainder to whoever entered first (spec 6, R13)."""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.node.link_state import EARLY_FIRST, FIRST, MOVING, NONE, OF, OTHERS, WAY_FIRST, Links
from workbench.structures.timetable import NEVER, set_time


@kernel
def count(links: Links, way: int, one: int) -> None:
    links.running[way] += one
    for k in range(links.ways.first[way], links.ways.first[way + 1]):
        links.users[links.ways.resource[k]] += one


@kernel
def settle(links: Links, way: int, now: int) -> None:
    """Note what has moved on a way up to now."""
    passed, first = now - links.since[way], links.lists[way, WAY_FIRST]
    links.since[way] = now
    if first != NONE:
        links.moved[way] += passed * links.rate[way, OTHERS]
        links.rows[first, OF.left] -= passed * links.rate[way, FIRST]


@kernel
def settle_near(links: Links, way: int, now: int) -> None:
    for k in range(links.near_first[way], links.near_first[way + 1]):
        settle(links, links.near[k], now)


@noinline
def share(links: Links, way: int) -> None:
    """Find the rates anew of all that share a link with a way."""
    for k in range(links.near_first[way], links.near_first[way + 1]):
        other = links.near[k]
        if links.running[other] > 0:
            _find_rates(links, other)
        set_turn(links, other)


@noinline
def look_at_links(links: Links, cycle: int) -> None:
    """Note what has moved up to a cycle, and find all rates and turns anew: what is there changes by none of it."""
    for way in range(links.running.size):
        settle(links, way, cycle)
    for way in range(links.running.size):
        if links.running[way] > 0:
            _find_rates(links, way)
        set_turn(links, way)


@kernel
def _find_rates(links: Links, way: int) -> None:
    """Find the least share of the first transfer on a way, and that of the others."""
    first, others, slot = NEVER, NEVER, links.lists[way, WAY_FIRST]
    for k in range(links.ways.first[way], links.ways.first[way + 1]):
        it = links.ways.resource[k]
        share = links.ways.capacity[it] // links.users[it]
        others = min(others, share)
        if _is_eldest(links, way, it, links.rows[slot, OF.entered]):
            share += links.ways.capacity[it] - share * links.users[it]
        first = min(first, share)
    links.rate[way, FIRST], links.rate[way, OTHERS] = first, others


@kernel
def _is_eldest(links: Links, way: int, resource: int, entered: int) -> bool:
    """Return whether none on a resource entered before one that is the first of its way."""
    ways = links.ways
    for k in range(links.near_first[way], links.near_first[way + 1]):
        other = links.near[k]
        slot = links.lists[other, WAY_FIRST]
        if slot != NONE and links.rows[slot, OF.entered] < entered:
            for place in range(ways.first[other], ways.first[other + 1]):
                if ways.resource[place] == resource:
                    return False
    return True


@kernel
def set_turn(links: Links, way: int) -> None:
    """Note when something happens on a way next."""
    rows, lists, time = links.rows, links.lists, NEVER
    early, first = lists[way, EARLY_FIRST], lists[way, WAY_FIRST]
    if early != NONE:
        time = rows[early, OF.at]
    if first != NONE and rows[first, OF.phase] == MOVING:
        time = min(time, _end(links.since[way], rows[first, OF.left], links.rate[way, FIRST]))
    if links.held[way] > 0:
        left = rows[links.heap[way, 0], OF.target] - links.moved[way]
        time = min(time, _end(links.since[way], left, links.rate[way, OTHERS]))
    set_time(links.turns, way, time)


@kernel
def _end(since: int, left: int, rate: int) -> int:
    """Return the first cycle at which so many units have moved."""
    if left <= 0:
        return since
    return NEVER if rate == 0 else since - (-left // rate)
