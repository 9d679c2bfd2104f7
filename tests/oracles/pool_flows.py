"""Flows that share capacities max-min fairly, one by one (spec 5, E9)."""

import math


def rates(flows, capacity):
    """The rate of each flow, given as the set of resources that it uses: raise all, stop those at a full resource."""
    result, left = [None] * len(flows), dict(capacity)
    while None in result:
        open_ = [k for k, rate in enumerate(result) if rate is None]
        shares = {r: left[r] / n for r in left if (n := sum(r in flows[k] for k in open_))}
        least = min(shares.values())
        for k in open_:
            if any(shares[r] <= least * (1 + 1e-12) for r in flows[k]):
                result[k] = least
        for r in left:
            left[r] -= least * sum(r in flows[k] for k in open_ if result[k] is not None)
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
