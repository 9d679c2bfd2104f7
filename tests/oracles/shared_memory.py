"""A slow, obvious twin of the engine `shared_memory`: every cycle is walked, the memory is a list, nothing is skipped.

Written from the sentences of spec 1 (R3-R8, R29, E10, E11) and of the levers; shares no code with the workbench.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Choose = Callable[[list[bool], int], int | None]


@dataclass
class Happened:
    grant: dict[int, int] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)
    base: dict[int, int] = field(default_factory=dict)
    release: dict[int, int] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    blocked_cycles: int = 0
    attempts: int = 0
    queue: list[int] = field(default_factory=list)
    free: list[list[bool]] = field(default_factory=list)
    first_cycle: int = 0


def first_fit(free: list[bool], m: int) -> int | None:
    for start in range(len(free) - m + 1):
        if all(free[start : start + m]):
            return start
    return None


def last_fit(free: list[bool], m: int) -> int | None:
    for start in reversed(range(len(free) - m + 1)):
        if all(free[start : start + m]):
            return start
    return None


def nearest_boundary(free: list[bool], m: int) -> int | None:
    starts = [s for s in range(len(free) - m + 1) if all(free[s : s + m])]
    return min(starts, key=lambda s: (min(s, len(free) - m - s), s)) if starts else None


def run(
    jobs: list[tuple[int, int, int]],
    segments: int,
    choose: Choose,
    look_ahead: int = 0,
    retry: int = 1,
    release_first: bool = True,
    grants_a_cycle: int = 1,
    latency: int = 0,
    moving: int | None = None,
) -> Happened:
    """Walk every cycle; `jobs` are (arrival, length, duration) in queue order; retry 0 = on release only.

    `moving` are the cycles that compaction needs for each segment that it moves, None = it moves none.
    """
    out = Happened()
    now_at: dict[int, int] = {}
    busy_until = 0
    free = [True] * segments
    waiting: list[int] = []
    running: list[tuple[int, int]] = []
    to_come = list(range(len(jobs)))
    cycle = out.first_cycle = min((a for a, _, _ in jobs), default=0)
    next_try = cycle
    released_since_refusal = True
    head_refused = False

    def release(now: int) -> bool:
        due = [row for end, row in running if end == now]
        for row in due:
            running.remove((now, row))
            out.release[row] = now
            for k in range(jobs[row][1]):
                free[now_at[row] + k] = True
        return bool(due)

    def compact() -> int:
        to = copied = 0
        for row in sorted((row for _, row in running), key=now_at.__getitem__):
            length = jobs[row][1]
            if now_at[row] != to:
                now_at[row], copied = to, copied + length
            to += length
        free[:] = [segment >= to for segment in range(segments)]
        return copied

    while to_come or waiting or running:
        while to_come and jobs[to_come[0]][0] <= cycle:
            waiting.append(to_come.pop(0))
        if release_first:
            released_since_refusal |= release(cycle)
        may_try = (released_since_refusal or not head_refused) if retry == 0 else cycle >= next_try
        if may_try and cycle >= busy_until:
            out.attempts += bool(waiting)
            head_refused = False
            for _ in range(grants_a_cycle):
                granted = None
                for row in waiting[: look_ahead + 1]:
                    base, copied = choose(free, jobs[row][1]), 0
                    if base is None and moving is not None and sum(free) >= jobs[row][1]:
                        copied = compact()
                        base = free.index(True)
                    if base is not None:
                        granted = row
                        busy_until = cycle + copied * (moving or 0)
                        out.base[row] = now_at[row] = base
                        out.grant[row], out.start[row] = cycle, busy_until + latency
                        for k in range(jobs[row][1]):
                            free[base + k] = False
                        running.append((out.start[row] + jobs[row][2], row))
                        break
                    out.refused.add(row)
                if granted is None:
                    if waiting:
                        head_refused = True
                        released_since_refusal = False
                        next_try = cycle + max(retry, 1)
                    break
                waiting.remove(granted)
                if busy_until > cycle:
                    break
        if not release_first:
            released_since_refusal |= release(cycle)
        if waiting and waiting[0] in out.refused and sum(free) >= jobs[waiting[0]][1]:
            out.blocked_cycles += 1
        out.queue.append(len(waiting))
        out.free.append(list(free))
        cycle += 1
    return out
