"""A slow, obvious twin of the engine `malloc`: lists of bools, lists of requests, every cycle with an event looked for.

Written from the sentences of spec 2 (R1-R21, E1-E13) and of the levers; shares no code with the workbench.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Call = tuple[int, int, int, int]
"""(arrival, thread, bytes, free_at; -1 = never)"""


def rounded_up(number: int, to: int) -> int:
    return -(-number // to) * to


def piece(requested: int, least: int, align: int) -> int:
    return rounded_up(max(requested, least), align)


def offsets(sizes: list[int], rule: str) -> list[int]:
    """Spec 2, R10-R12: offset[k] = offset[k-1] + req[k-1]; as written + req[k]; inclusive req[0] + .. + req[k]."""
    if rule == "exclusive":
        return [sum(sizes[:k]) for k in range(len(sizes))]
    if rule == "inclusive":
        return [sum(sizes[: k + 1]) for k in range(len(sizes))]
    result = [0]
    for size in sizes[1:]:
        result.append(result[-1] + size)
    return result


@dataclass
class Request:
    rows: list[int]
    sizes: list[int]
    offsets: list[int]
    leader: int
    came: int = 0
    arena: int = 0
    arenas_tried: int = 0
    entered: int = 0
    acquired: int = 0
    ended: int = 0
    ready: int = 0


@dataclass
class Block:
    base: int
    granules: int
    size: int
    request: int
    rows: list[int]
    granted: int
    returned: int = -1
    live: int = 0


@dataclass
class Happened:
    requests: list[Request] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    address: dict[int, int] = field(default_factory=dict)
    nobody_asked: set[int] = field(default_factory=set)
    nothing: set[int] = field(default_factory=set)
    acquisitions: int = 0
    in_vain: int = 0
    atomics: int = 0
    rereads: int = 0
    log: list[tuple[int, int, int]] = field(default_factory=list)
    refused: list[tuple[int, int, int]] = field(default_factory=list)


def cut(calls: list[Call], out: Happened, serve: dict[str, Any]) -> None:
    """The rows of one arrival and one group of threads are one call; a call becomes one request, or one a thread."""
    unit, together = serve["unit"], serve["together"]
    groups: dict[tuple[int, int], list[int]] = {}
    for row, (arrival, thread, _, _) in enumerate(calls):
        groups.setdefault((arrival, thread // unit), []).append(row)
    for (arrival, group), rows in groups.items():
        served = [r for r in rows if calls[r][2] > 0 or serve["zero"] == "expand"]
        out.nothing |= set(rows) - set(served)
        if not served:
            continue
        if together and serve["leader"] == "first" and (rows[0] != served[0] or calls[rows[0]][1] != group * unit):
            out.nobody_asked |= set(served)
            continue
        for part in [served] if together else [[row] for row in served]:
            sizes = [piece(calls[r][2], serve["least"], serve["align"]) for r in part]
            out.requests.append(Request(part, sizes, offsets(sizes, serve["prefix"]), part[0], came=arrival))


Place = Callable[[list[bool], int], int | None]


class NextFit:
    def __init__(self) -> None:
        self.after = 0

    def __call__(self, free: list[bool], granules: int) -> int | None:
        starts = [s for s in range(len(free) - granules + 1) if all(free[s : s + granules])]
        match = next((s for s in starts if s >= self.after), starts[0] if starts else None)
        self.after = self.after if match is None else match + granules
        return match


class Bitmap:
    def __init__(self, granules: int, place: Place) -> None:
        self.free, self.place = [True] * granules, place

    def take(self, granules: int) -> tuple[int, int] | None:
        start = self.place(self.free, granules) if granules <= len(self.free) else None
        if start is None:
            return None
        for k in range(granules):
            self.free[start + k] = False
        return start, granules

    def give(self, start: int, granules: int) -> None:
        for k in range(granules):
            assert not self.free[start + k]
            self.free[start + k] = True


class Bump:
    def __init__(self, granules: int) -> None:
        self.granules, self.top = granules, 0

    def take(self, granules: int) -> tuple[int, int] | None:
        if self.top + granules > self.granules:
            return None
        self.top += granules
        return self.top - granules, granules


class Classes(Bump):
    def __init__(self, granules: int, chunk: int) -> None:
        super().__init__(granules)
        self.chunk = chunk
        self.freed: dict[int, list[int]] = {}
        self.carved: dict[int, list[int]] = {}

    def take(self, granules: int) -> tuple[int, int] | None:
        if granules > self.granules:
            return None
        size = 1
        while size < granules:
            size *= 2
        if self.freed.get(size):
            return self.freed[size].pop(), size
        if size >= self.chunk:
            return super().take(size)
        if not self.carved.get(size):
            chunk = super().take(self.chunk)
            if chunk is None:
                return None
            self.carved[size] = list(range(chunk[0], chunk[0] + self.chunk, size))
        return self.carved[size].pop(0), size

    def give(self, start: int, granules: int) -> None:
        self.freed.setdefault(granules, []).append(start)


def tries_before(waited: int, first: int, most: int) -> tuple[int, int]:
    """The first try not before so many cycles of waiting, and how many came before: gaps f, 2f, 4f ... up to most."""
    at, gap, tries = 0, first, 0
    while at < waited:
        at, gap, tries = at + gap, min(2 * gap, most), tries + 1
    return at, tries


def run(
    calls: list[Call],
    serve: dict[str, Any],
    lock: dict[str, Any],
    heap: Callable[[], Any],
    arenas: dict[str, Any] | None = None,
    granule: int = 1,
    region: int = 64,
    scan: int = 0,
    barrier: int = 0,
    split: int = 0,
    latency: tuple[int, int, int] = (0, 0, 0),
    draw: Callable[[int], int] | None = None,
) -> Happened:
    out, arenas = Happened(), arenas or {"count": 1, "by": "warp", "tries": 1}
    cut(calls, out, serve)
    together, when = serve["together"], serve["when"]
    scan, split = (scan, split) if together else (0, 0)
    heaps = [heap() for _ in range(arenas["count"])]
    lines: list[list[int]] = [[] for _ in heaps]
    inside: list[int | None] = [None] * len(heaps)
    starts: list[int | None] = [None] * len(heaps)
    to_come = list(range(len(out.requests)))
    returns: list[tuple[int, int, Any]] = []
    kind = lock["kind"]

    def comes_at(number: int) -> int:
        return out.requests[number].came + barrier + (0 if when == "during_lock_wait" else scan)

    def home(number: int) -> int:
        request = out.requests[number]
        warp, size = calls[request.leader][1] // serve["unit"], sum(request.sizes)
        if arenas["by"] == "warp":
            return warp % len(heaps)
        if arenas["by"] == "hash":
            return ((7 * warp + size) * 2654435761 % 2**32) // 2**16 % len(heaps)
        takes = rounded_up(serve["header"] + size, granule) // granule
        return min(next(k for k in range(64) if 2**k >= takes), len(heaps) - 1)

    def come(number: int, arena: int, now: int) -> None:
        lines[arena].append(number)
        out.requests[number].entered = now
        if inside[arena] is not None:
            out.in_vain += kind in ("each_section", "cas")
            out.atomics += kind == "cas"
        elif kind == "back_off" or starts[arena] is None:
            starts[arena] = now

    def give_back(now: int) -> None:
        for entry in sorted((e for e in returns if e[0] <= now), key=lambda e: e[:2]):
            returns.remove(entry)
            for block in entry[2]:
                at = block.base // region
                heaps[at].give(block.base - at * region, block.granules)

    def ask(number: int, rows: slice, arena: int, now: int) -> bool:
        request = out.requests[number]
        mine, sizes, places = request.rows[rows], request.sizes[rows], request.offsets[rows]
        size = serve["header"] + sum(sizes)
        out.atomics += 1
        got = heaps[arena].take(max(rounded_up(size, granule) // granule, 1))
        if got is None:
            out.refused.append((now, number, size))
            return False
        start = arena * region + got[0]
        origin = 0 if rows.start == 0 else places[0]
        for row, place in zip(mine, places, strict=True):
            out.address[row] = start * granule + serve["header"] + place - origin
        if serve["frees"] != "piecewise":
            out.blocks.append(Block(start, got[1], size, number, mine, now))
        else:
            for row, s, place in zip(mine, sizes, places, strict=True):
                base = start + (place - origin) // granule
                out.blocks.append(Block(base, s // granule, s, number, [row], now))
        return True

    def parts(number: int, first: int, end: int, arena: int, now: int) -> int:
        """The range was refused: try what the policy says, and count the tries."""
        if serve["on_failure"] == "all_null" or end - first < 2:
            return 0
        if serve["on_failure"] == "per_thread_fallback":
            for k in range(first, end):
                ask(number, slice(k, k + 1), arena, now)
            return end - first
        middle, tries = first + (end - first + 1) // 2, 2
        for low, high in ((first, middle), (middle, end)):
            if not ask(number, slice(low, high), arena, now):
                tries += parts(number, low, high, arena, now)
        return tries

    def free_times(number: int, ready: int) -> None:
        if not hasattr(heaps[0], "give"):
            return
        for block in (b for b in out.blocks if b.request == number):
            gives = [calls[row][3] for row in block.rows]
            if serve["frees"] != "arena" and min(gives) >= 0:
                block.returned = max(ready, *gives)
                returns.append((block.returned, now_serial[0], [block]))
                now_serial[0] += 1
        if serve["frees"] == "arena":
            warp_done(calls[out.requests[number].leader][1] // serve["unit"], ready)

    now_serial = [0]
    served: set[int] = set()

    def warp_done(warp: int, ready: int) -> None:
        numbers = {n for n, r in enumerate(out.requests) if calls[r.leader][1] // serve["unit"] == warp}
        blocks = [b for b in out.blocks if b.request in numbers]
        if not numbers <= served or not blocks:
            return
        times = [(calls[row][3], out.requests[b.request].ready) for b in blocks for row in b.rows]
        if min(gives for gives, _ in times) < 0:
            return
        until = max(ready, *(max(pair) for pair in times))
        for block in blocks:
            block.returned = until
        returns.append((until, now_serial[0], blocks[::-1]))
        now_serial[0] += 1

    def start(arena: int, now: int) -> None:
        line = lines[arena]
        starts[arena] = None
        if kind == "back_off":
            first, most = lock["back_off"]
            polls = [
                out.requests[n].entered + tries_before(now - out.requests[n].entered, first, most)[0] for n in line
            ]
            if min(polls) > now:
                starts[arena] = min(polls)
                return
            number = line.pop(polls.index(now))
            out.in_vain += tries_before(now - out.requests[number].entered, first, most)[1]
        else:
            among = min(lock.get("among", 1), len(line))
            number = line.pop(draw(among) if draw and lock.get("among", 1) > 1 else 0)
            out.in_vain += len(line) if kind in ("each_section", "cas") else 0
            out.atomics += len(line) if kind == "cas" else 0
        if kind not in ("cas", "fetch_add"):
            out.acquisitions += 1
        request = out.requests[number]
        inside[arena], request.arena, request.acquired = number, arena, now
        out.log.append((now, number, arena))
        give_back(now)
        holds = lock["hold"] + latency[0] + latency[1] * min(latency[2], len(line))
        done = ask(number, slice(0, len(request.rows)), arena, now)
        request.arenas_tried += 1
        goes_on = not done and request.arenas_tried < arenas["tries"]
        lasts = holds
        if not done and not goes_on:
            lasts += holds * parts(number, 0, len(request.rows), arena, now)
        if when == "during_lock_wait":
            lasts += max(request.came + barrier + scan - now, 0)
        request.ended, request.ready = now + lasts, -1
        if not goes_on:
            request.ready = request.ended + split + (scan if when == "after_grant" else 0)
            request.ended = request.ended if serve["overlap"] else request.ready
            served.add(number)
            free_times(number, request.ready)

    def end(arena: int, now: int) -> None:
        number = inside[arena]
        assert number is not None
        inside[arena] = None
        if lines[arena]:
            waits = len(lines[arena])
            starts[arena] = now
            if kind == "in_line":
                starts[arena] = now + lock["handoff"][0] + lock["handoff"][1] * waits
                out.rereads += waits * lock["rereads"]
        if out.requests[number].ready < 0:
            come(number, (arena + 1) % len(heaps), now)

    cycle = 0
    while True:
        times = [comes_at(n) for n in to_come[:1]]
        times += [out.requests[n].ended for n in inside if n is not None] + [s for s in starts if s is not None]
        if not times:
            break
        cycle = min(times)
        for arena, busy in enumerate(inside):
            if busy is not None and out.requests[busy].ended == cycle:
                end(arena, cycle)
        while to_come and comes_at(to_come[0]) == cycle:
            number = to_come.pop(0)
            come(number, home(number), cycle)
        for arena in range(len(heaps)):
            if starts[arena] == cycle:
                start(arena, cycle)
    return out
