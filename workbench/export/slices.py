"""Slices on tracks in the Trace Event Format, overlapping ones on lanes beside each other.

The slices of a node are read from its log of messages: who begins and who ends what, paired in order.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.records.node import KIND, Message, NodeRecord, Who, messages_of

Event = dict[str, Any]


class Track(NamedTuple):
    """A row of a timeline: the process that it stands under, and its name there."""

    process: str
    name: str


class Slice(NamedTuple):
    """Something that lasts, on a track."""

    track: Track
    begin: int
    """Cycles."""
    end: int
    name: str
    args: dict[str, Any]


class Laned(NamedTuple):
    """A slice and its lane: of its track the lowest that is free, from 0."""

    slice: Slice
    lane: int


def in_lanes(slices: Iterable[Slice]) -> list[Laned]:
    """Return slices in the order of their begins, none beside another on the same lane of its track.

    >>> track = Track("card", "module 0")
    >>> ones = [Slice(track, begin, end, "", {}) for begin, end in ((0, 5), (5, 9), (3, 7), (4, 6))]
    >>> [(laned.slice.begin, laned.lane) for laned in in_lanes(ones)]
    [(0, 0), (3, 1), (4, 2), (5, 0)]
    """
    free_from: dict[Track, list[int]] = defaultdict(list)
    result: list[Laned] = []
    for one in sorted(slices, key=lambda it: (it.begin, it.end)):
        ends = free_from[one.track]
        lane = next((k for k, end in enumerate(ends) if end <= one.begin), len(ends))
        ends[lane : lane + 1] = [one.end]
        result.append(Laned(one, lane))
    return result


class Numbers:
    """Which number each process and each lane of a track has; no thread has that of a process, for one that had would
    count as the process's main thread."""

    def __init__(self, processes: Iterable[str], laned: Iterable[Laned]) -> None:
        self.process = {name: number for number, name in enumerate(processes, start=1)}
        order = {name: place for place, name in enumerate(self.process)}
        lanes = dict.fromkeys((one.slice.track, one.lane) for one in laned)
        ordered = sorted(lanes, key=lambda it: (order[it[0].process], _natural(it[0].name), it[1]))
        self.thread = {lane: number for number, lane in enumerate(ordered, start=len(self.process) + 1)}

    def names(self) -> Iterator[Event]:
        """Yield what processes and threads are called, in the order in which they are shown."""
        threads = (
            (self.process[track.process], number, track.name, lane) for (track, lane), number in self.thread.items()
        )
        return names_of(self.process, threads)


def names_of(processes: Mapping[str, int], threads: Iterable[tuple[int, int, str, int]]) -> Iterator[Event]:
    """Yield what numbered processes and threads are called; a thread is its process, its number, its name and its
    lane."""
    for name, number in processes.items():
        yield _meta("process_name", number, 0, name=name)
        yield _meta("process_sort_index", number, 0, sort_index=number)
    for process, number, name, lane in threads:
        yield _meta("thread_name", process, number, name=name + (f", beside {lane}" if lane else ""))
        yield _meta("thread_sort_index", process, number, sort_index=number)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return what sorts names by the whole numbers in them: module 2 before module 10."""
    return [(1, int(word), "") if word.isdigit() else (0, 0, word) for word in name.split()]


def _meta(kind: str, process: int, thread: int, /, **args: Any) -> Event:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": args}


def slice_event(one: Laned, numbers: Numbers, category: str, clock_mhz: float) -> Event:
    """Return the event of a slice; times are microseconds, whole nanoseconds of them."""
    begin, end = nanoseconds(one.slice.begin, clock_mhz), nanoseconds(one.slice.end, clock_mhz)
    return {
        "name": one.slice.name,
        "cat": category,
        "ph": "X",
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
        "pid": numbers.process[one.slice.track.process],
        "tid": numbers.thread[one.slice.track, one.lane],
        "args": one.slice.args,
    }


def nanoseconds(cycle: int, clock_mhz: float) -> int:
    """Return the time of a cycle, rounded to whole nanoseconds, which is what Perfetto keeps."""
    return round(cycle * 1000 / clock_mhz)


LINKS, POOL, APPLICATIONS = "links", "pool", "applications"


class Pair(NamedTuple):
    """What begins, and what ends it."""

    begin: Message
    end: Message


def paired(messages: list[Message], begins: int, ends: int, key: Callable[[Message], Hashable]) -> Iterator[Pair]:
    """Yield the messages of one kind with those that end them: of the same key the first with the first."""
    waiting: dict[Hashable, deque[Message]] = defaultdict(deque)
    for message in messages:
        if message.kind == begins:
            waiting[key(message)].append(message)
        elif message.kind == ends and waiting[key(message)]:
            yield Pair(waiting[key(message)].popleft(), message)


def card_name(card: int) -> str:
    """Return the process of a GPU."""
    return f"card {card}"


def slices_of(record: NodeRecord) -> list[Slice]:
    """Return everything that lasts: steps, kernels, groups, walks, sections of heaps, transfers, jobs of the pool."""
    messages = messages_of(record)
    tracks = (_steps, _kernels, _groups, _walks, _sections, _transfers, _jobs)
    return [one for track in tracks for one in track(messages)]


def _steps(messages: list[Message]) -> Iterator[Slice]:
    """Yield the steps of streams, each from the end of the one before it."""
    since: dict[tuple[int, int], int] = {}
    arrived = {message.who.application: message.cycle for message in messages if message.kind == KIND.arrive}
    for message in messages:
        if message.kind == KIND.step:
            who = message.who
            begin = since.get((who.application, who.stream), arrived.get(who.application, 0))
            since[who.application, who.stream] = message.cycle
            track = Track(APPLICATIONS, f"application {who.application} stream {who.stream}")
            yield Slice(track, begin, message.cycle, f"step {who.step}", who.words())


def _kernels(messages: list[Message]) -> Iterator[Slice]:
    """Yield kernels, from being put forward to the end of their steps."""
    for begin, end in paired(messages, KIND.put_forward, KIND.step, lambda it: it.who[1:4]):
        args = {**begin.who.words(), "groups": begin.values[0]}
        yield Slice(Track(card_name(begin.card), "kernels"), begin.cycle, end.cycle, _name("kernel", begin.who), args)


def _name(noun: str, who: Who) -> str:
    """Return a short name: the noun, then application, stream and step."""
    return f"{noun} {who.application}.{who.stream}.{who.step}"


def _groups(messages: list[Message]) -> Iterator[Slice]:
    """Yield groups, and sub-groups, for as long as they hold resources of a module."""
    for begin, end in paired(messages, KIND.dispatch, KIND.release, lambda it: (it.card, it.who[1:6])):
        module, waves = begin.values[:2]
        name = f"{_name('group', begin.who)}.{begin.who.group}"
        args = {**begin.who.words(), "waves": waves}
        yield Slice(Track(card_name(begin.card), f"module {module}"), begin.cycle, end.cycle, name, args)


def _walks(messages: list[Message]) -> Iterator[Slice]:
    """Yield walks of the page tables, once each: who joined one is told of it too, from the cycle of joining on."""
    first: dict[tuple[int, int, int], Message] = {}
    for message in messages:
        if message.kind == KIND.walk_times:
            page, begun, _, ended = message.values[:4]
            known = first.setdefault((message.card, page, ended), message)
            if begun < known.values[1]:
                first[message.card, page, ended] = message
    for message in first.values():
        page, begun, read, ended = message.values[:4]
        args = {**message.who.words(), "page": page, "read_cycles": read - begun, "link_cycles": ended - read}
        yield Slice(Track(card_name(message.card), "walkers"), begun, ended, "walk", args)


def _sections(messages: list[Message]) -> Iterator[Slice]:
    """Yield the sections of device heaps; one ends where the next begins, its answer may come later."""
    of_heap: dict[Track, list[Message]] = defaultdict(list)
    for message in messages:
        if message.kind == KIND.section and message.values[1] >= 0:
            of_heap[Track(card_name(message.card), f"heap lock of application {message.who.application}")].append(
                message
            )
    for track, sections in of_heap.items():
        sections.sort(key=lambda it: it.values[1])
        following = [*(section.values[1] for section in sections[1:]), sections[-1].values[3]]
        for section, until in zip(sections, following, strict=True):
            request, acquired, chunk, answered = section.values[:4]
            args = {**section.who.words(), "request": request, "chunk_cycles": chunk}
            yield Slice(track, acquired, max(min(answered, until), acquired), "section", args)


def _transfers(messages: list[Message]) -> Iterator[Slice]:
    """Yield transfers over the links, from card to card of the board."""
    for begin, end in paired(messages, KIND.send, KIND.arrive_link, lambda it: (it.card, it.who)):
        source, size = begin.values[:2]
        args = {**begin.who.words(), "bytes": size}
        yield Slice(Track(LINKS, f"{source} to {begin.card}"), begin.cycle, end.cycle, "transfer", args)


def _jobs(messages: list[Message]) -> Iterator[Slice]:
    """Yield the jobs of the pool's service, which does one after the other, none before it is asked."""
    pairs = [
        *paired(messages, KIND.pool_request, KIND.pool_answer, lambda it: it.who[1:]),
        *paired(messages, KIND.pool_release, KIND.pool_released, lambda it: it.who[1:]),
    ]
    free_at = 0
    for begin, end in sorted(pairs, key=lambda pair: (pair.end.cycle, pair.begin.cycle)):
        allocates = begin.kind == KIND.pool_request
        name = "release" if not allocates else "allocate" if end.values[0] else "refuse"
        args = {**begin.who.words(), "bytes": begin.values[0 if allocates else 1], "asked_cycle": begin.cycle}
        yield Slice(Track(POOL, "service"), max(begin.cycle, min(free_at, end.cycle)), end.cycle, name, args)
        free_at = end.cycle
