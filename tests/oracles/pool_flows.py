"""Flows that share capacities max-min fairly, one by one (spec 5, E9)."""

import math
from collections import Counter
from itertools import pairwise


def limits(board):
    """What each shared thing of a board carries in GB/s, by a name that says what shares it.

    A pair of cards has a width in each direction, and one for the two together. So have the links of a channel, of
    which the fastest counts. A port has one in and one out.
    """
    carried, channels = Counter(), {}
    together, of_channel = Counter(), {}
    for link in board.links:
        a, b = link.between.split(" ")
        width = link.gbps * link.count
        for step in ((a, b), (b, a)):
            carried["link", *step] += width
        together[frozenset((a, b))] += width * link.duplex
        if link.channel:
            channels[link.channel] = max(channels.get(link.channel, 0), width)
            of_channel[link.channel] = max(of_channel.get(link.channel, 0), width * link.duplex)
    result = dict(carried)
    result |= {("pair", pair): gbps for pair, gbps in together.items()}
    result |= {("channel", name, way): gbps for name, gbps in channels.items() for way in "+-"}
    result |= {("whole channel", name): gbps for name, gbps in of_channel.items()}
    result |= {
        ("port", card.id, way): card.port_gbps for card in board.cards if card.port_gbps for way in ("in", "out")
    }
    return result


def uses(board, route):
    """How often a flow along these cards takes each shared thing: a channel that it goes up and down, twice as a whole.

    Each direction of a channel counts once, however many of its links the flow takes in that direction.
    """
    ways, result = {}, Counter()
    for link in board.links:
        a, b = link.between.split(" ")
        ways[a, b], ways[b, a] = (link.channel, "+"), (link.channel, "-")
    for a, b in pairwise(route):
        result["link", a, b] = result["port", a, "out"] = result["port", b, "in"] = 1
        result["pair", frozenset((a, b))] += 1
        name, way = ways[a, b]
        result["channel", name, way] = 1
    for name in {name for name, _ in ways.values()}:
        result["whole channel", name] = result["channel", name, "+"] + result["channel", name, "-"]
    return {thing: times for thing, times in result.items() if times and thing in limits(board)}


def rates(flows, capacity):
    """The rate of each flow, given as how often it takes each resource: raise all, stop those at a full resource."""
    result, left = [None] * len(flows), dict(capacity)
    while None in result:
        open_ = [k for k, rate in enumerate(result) if rate is None]
        shares = {r: left[r] / n for r in left if (n := sum(flows[k].get(r, 0) for k in open_))}
        least = min(shares.values())
        for k in open_:
            if any(shares[r] <= least * (1 + 1e-12) for r in flows[k]):
                result[k] = least
        for r in left:
            left[r] -= least * sum(flows[k].get(r, 0) for k in open_ if result[k] is not None)
    return result


def finishing_times(starts, amounts, uses, capacity):
    """When each flow is done, by going from one beginning or end to the next."""
    left, done, now = dict(enumerate(amounts)), {}, 0.0
    while len(done) < len(starts):
        running = [k for k in left if k not in done and starts[k] <= now]
        speeds = dict(zip(running, rates([uses[k] for k in running], capacity), strict=True))
        ends = [now + left[k] / speeds[k] for k in running]
        begins = [start for start in starts if start > now]
        until = min([*ends, *begins], default=math.inf)
        for k in running:
            left[k] -= speeds[k] * (until - now)
            if left[k] <= amounts[k] * 1e-9:
                done[k] = until
        now = until
    return [done[k] for k in range(len(starts))]
