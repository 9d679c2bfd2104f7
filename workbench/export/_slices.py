"""Slices on tracks in the Trace Event Format, overlapping ones on parallel lanes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

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
    """Return slices in the order of their begins, no two overlapping on the same lane of their track.

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
        """Yield the names of processes and threads, in the order in which they are shown."""
        threads = (
            (self.process[track.process], number, track.name, lane) for (track, lane), number in self.thread.items()
        )
        return names_of(self.process, threads)


def names_of(processes: Mapping[str, int], threads: Iterable[tuple[int, int, str, int]]) -> Iterator[Event]:
    """Yield the names of numbered processes and threads; a thread is its process, its number, its name and its lane."""
    for name, number in processes.items():
        yield _meta("process_name", number, 0, name=name)
        yield _meta("process_sort_index", number, 0, sort_index=number)
    for process, number, name, lane in threads:
        yield _meta("thread_name", process, number, name=name + (f", beside {lane}" if lane else ""))
        yield _meta("thread_sort_index", process, number, sort_index=number)


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return the key that sorts names by the whole numbers in them: module 2 before module 10."""
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
