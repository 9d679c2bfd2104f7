"""A memory snapshot replayed by PyTorch's own rules, and each of its cards ready to be looked at.

A replay begins where the recording began, and says how exact it is. The history of a card has its lives, its curves,
when it failed and what it held then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.advice.torch_memory.growth import Growth, growth_of
from workbench.advice.torch_memory.holdings import UNKNOWN_SITE, SegmentMap, free_of, segments_at
from workbench.advice.torch_memory.lives import Lives, Moment, lives_of, moment_of
from workbench.advice.torch_memory.trial import Need, OutOfMemory, need_of, replay_on_card, runs_out, steps_of
from workbench.engines.torch_allocator.initial_state import reserved_by_event
from workbench.engines.torch_allocator.recording import (
    RecordedBytes,
    Recording,
    recorded_bytes,
    summed,
    without_releases,
)
from workbench.engines.torch_allocator.replay import (
    NOTHING_TO_COMPARE,
    Exactness,
    Replay,
    ReplayInput,
    ReplayResult,
    asking_of,
    continuing,
    play,
    replay_of,
)
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import ROUND_LARGE, driver_bytes
from workbench.errors import InputError
from workbench.workloads.allocator_log import (
    ACTIONS,
    ALLOC,
    FREE_COMPLETED,
    OOM,
    AllocatorLog,
)
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_log import TorchLogs
from workbench.workloads.importers.torch_snapshot import read_snapshot
from workbench.workloads.importers.unreadable import as_one_sentence
from workbench.workloads.recorded import TraceFile, trace_in


class Recorded(NamedTuple):
    """What the recorded allocators did between the first and the last event, all cards together."""

    reserved_peak_bytes: int
    active_peak_bytes: int
    """Most bytes that were asked for and live at a time."""
    driver_calls: int
    refused: int
    cards: tuple[dict[str, int], ...] = ()
    """Of each card its device and both peaks of its own, which need not be at the same time."""


class CacheRow(NamedTuple):
    """What one cache did with the recorded requests, over the recorded window."""

    policy: str
    reserved_peak_bytes: int
    active_peak_bytes: int
    driver_calls: int
    refused: int


class SnapshotReplay(NamedTuple):
    """A snapshot's histories, each replayed as it was recorded."""

    replays: tuple[Replay, ...]
    exactness: Exactness
    recorded: Recorded

    @property
    def is_whole(self) -> bool:
        """Return whether every history begins with an allocator that held nothing."""
        return all(one.recording.is_whole for one in self.replays)


def snapshot_replay(logs: Sequence[AllocatorLog], where: str) -> SnapshotReplay:
    """Replay the histories of a snapshot as they were recorded.

    Parameters
    ----------
    logs : sequence of AllocatorLog
        One a card; cards without an event are left out.
    where : str
        How messages name the file.

    Raises
    ------
    InputError
        There is one event, or none: nothing that could be replayed.
    """
    telling = [log for log in logs if np.count_nonzero(log.events.action < len(ACTIONS))]
    check_events(telling, where, "; workbench advise says what its segments tell")
    replays = tuple(replay_of(log) for log in telling)
    exactness = sum((one.exactness for one in replays), NOTHING_TO_COMPARE)
    return SnapshotReplay(replays, exactness, recorded_of([one.recording for one in replays]))


@lru_cache(maxsize=4)
def replay_of_file(file: TraceFile, device: int = -1) -> SnapshotReplay | None:
    """Replay a trace file, or one card of it; None if it is no snapshot that tells what its allocator got."""
    trace = trace_in(file)
    logs = [log for log in trace.logs if device in (-1, log.device)]
    return snapshot_replay(logs, str(file.path)) if logs else None


def has_history(logs: Sequence[AllocatorLog]) -> bool:
    """Return whether histories hold two events of allocations at least, so that they can be replayed."""
    return sum(int(np.count_nonzero(log.events.action <= FREE_COMPLETED)) for log in logs) > 1


def check_events(logs: Sequence[AllocatorLog], where: str, further: str = "") -> None:
    """Refuse a history in which there is nothing to replay.

    Parameters
    ----------
    further : str
        What else can be done, for the end of the sentence.

    Raises
    ------
    InputError
        It holds one event of an allocation, or none.
    """
    count = sum(int(np.count_nonzero(log.events.action <= FREE_COMPLETED)) for log in logs)
    if count <= 1:
        tally = "one event" if count else "no event"
        raise InputError(
            f"{where}: its history holds {tally} of an allocation, which is nothing to replay; record it with a larger "
            f"max_entries, torch.cuda.memory._record_memory_history(max_entries=100000){further}."
        )


def recorded_of(recordings: Sequence[Recording]) -> Recorded:
    """Return the figures of histories on their own allocators, together in the order of time, and card by card."""
    logs = [recording.log for recording in recordings]
    held = [recorded_bytes(recording) for recording in recordings]
    return Recorded(
        reserved_peak_bytes=_together(logs, [one.reserved for one in held]),
        active_peak_bytes=_together(logs, [one.allocated for one in held]),
        driver_calls=sum(int(np.count_nonzero(reserved_by_event(log))) for log in logs),
        refused=sum(int(np.count_nonzero(log.events.action == OOM)) for log in logs),
        cards=tuple(
            {
                "device": log.device,
                "reserved_peak_bytes": int(one.reserved.max()),
                "active_peak_bytes": int(one.allocated.max()),
                "driver_calls": int(np.count_nonzero(reserved_by_event(log))),
                "refused": int(np.count_nonzero(log.events.action == OOM)),
            }
            for log, one in zip(logs, held, strict=True)
        ),
    )


def _together(logs: Sequence[AllocatorLog], curves: Sequence[np.ndarray]) -> int:
    """Return the most that curves of several cards, each with its value before the first event, come to at a time."""
    return sum(int(one[0]) for one in curves) + summed_peak(logs, [np.diff(one) for one in curves])


def summed_peak(logs: Sequence[AllocatorLog], changes: Sequence[np.ndarray]) -> int:
    """Return the most that changes on several cards add up to, in the order of time."""
    if len(logs) == 1:
        return max(int(np.cumsum(changes[0]).max(initial=0)), 0)
    times = [np.maximum.accumulate(log.events.time_us) for log in logs]
    order = np.argsort(np.concatenate([np.zeros(0, np.int64), *times]), kind="stable")
    whole = np.concatenate([np.zeros(1, np.int64), *changes])
    return max(int(np.cumsum(whole[1:][order]).max(initial=0)), 0)


EXACT_CACHES = {"pytorch_caching": False, "expandable_segments": True}
"""PyTorch's two caches by their names in the pool, and whether each grows page by page."""


def exact_rows(replay: SnapshotReplay) -> dict[str, CacheRow]:
    """Return the results of PyTorch's two caches from the beginning of the recording: the recorded settings, and both
    ways to grow.

    `pytorch_caching` gets its memory segment by segment, `expandable_segments` page by page; all other settings are
    those of the recording.
    """
    return {name: cache_row(name, replay, grows) for name, grows in EXACT_CACHES.items()}


def cache_row(name: str, replay: SnapshotReplay, expandable: bool) -> CacheRow:
    """Return the results of the recorded settings, with or without expandable segments, from the recorded beginning."""
    played = [_played(one, expandable) for one in replay.replays]
    logs = [one.recording.log for one in replay.replays]
    start = sum(one.reserved_at_start for one, _ in played)
    return CacheRow(
        policy=name,
        reserved_peak_bytes=start + summed_peak(logs, [by_event(*it) for it in zip(logs, played, strict=True)]),
        active_peak_bytes=replay.recorded.active_peak_bytes,
        driver_calls=sum(len(one.calls) for one, _ in played),
        refused=sum(one.refused for one, _ in played),
    )


def _played(one: Replay, expandable: bool) -> tuple[ReplayResult, np.ndarray]:
    """Return the actions of the allocator, and the event of each row that it served."""
    recording = one.recording
    if expandable == recording.settings.expandable_segments:
        return one.played, recording.event
    settings: AllocatorSettings = recording.settings.but(expandable_segments=expandable)
    requests, event = without_releases(recording)
    return play(requests, settings.rules(recording.private), recording.start), event


def by_event(log: AllocatorLog, played: tuple[ReplayResult, np.ndarray]) -> np.ndarray:
    """Return the bytes that each event adds to those that the driver gave in a replay: int64[events]."""
    result, (did, event) = np.zeros(len(log.events.action), np.int64), played
    np.add.at(result, event[did.calls[:, 0]], did.calls[:, 2])
    return result


class Failure(NamedTuple):
    """A request that the recorded allocator could not serve."""

    event: int
    """Its place among the events of its card's history, the first is 0."""
    asked_bytes: int
    reserved_bytes: int
    """What the allocator held then, after all that was free had gone back."""
    driver_free_bytes: int
    """What the driver still had, -1 = not told."""
    device: int = 0
    site: str = UNKNOWN_SITE
    """The line that asked."""
    is_caught: bool = False
    """Whether the card served an allocation after it: the program went on."""
    needed_bytes: int = 0
    """The segment or the pages that the allocator wanted from the driver for it."""

    @property
    def room_bytes(self) -> int | None:
        """Return the most bytes that the allocator could have had, None = not told."""
        return None if self.driver_free_bytes < 0 else self.reserved_bytes + self.driver_free_bytes

    @property
    def lacked_bytes(self) -> int | None:
        """Return the bytes that the driver lacked, 0 = it had enough and refused all the same, None = not told."""
        return None if self.driver_free_bytes < 0 else max(self.needed_bytes - self.driver_free_bytes, 0)


class CardHistory:
    """What a snapshot tells of one card, moment by moment."""

    def __init__(self, log: AllocatorLog, file: str = "") -> None:
        self.log = log
        self.file = file
        self.replay: Replay = replay_of(log)
        self.recorded: RecordedBytes = recorded_bytes(self.replay.recording)

    @property
    def name(self) -> str:
        """Return the name of the card."""
        return f"GPU {self.log.device}"

    @property
    def events(self) -> int:
        """Return the number of events of the history, 0 = it has none."""
        return len(self.log.events.action)

    @property
    def own(self) -> AllocatorSettings:
        """Return the settings that the program was recorded with."""
        return self.replay.recording.settings

    @cached_property
    def failures(self) -> list[Failure]:
        """Return the requests that the recorded allocator could not serve."""
        events, held = self.log.events, self.recorded.reserved
        last = int(np.flatnonzero(events.action == ALLOC).max(initial=-1))
        return [
            Failure(
                event=at,
                asked_bytes=int(events.size[at]),
                reserved_bytes=int(held[at]),
                driver_free_bytes=int(events.address[at]),
                device=self.log.device,
                site=self.site(at),
                is_caught=at < last,
                needed_bytes=driver_bytes(self.own.rules(self.replay.recording.private), int(events.size[at])),
            )
            for at in self.replay.recording.failed.tolist()
        ]

    @property
    def failure(self) -> Failure | None:
        """Return the last of them, with which a program that does not catch it ends."""
        return self.failures[-1] if self.failures else None

    def site(self, event: int) -> str:
        """Return the line of the program that an event is of."""
        site = int(self.log.events.site[event])
        return self.log.sites[site] if site >= 0 else UNKNOWN_SITE

    @cached_property
    def need(self) -> Need:
        """Return the need of the recorded settings, from the beginning of the recording; if a request failed, the last
        one is served too.

        After an early flush a replay may lay out memory better than PyTorch did. Still the smallest card is no smaller
        than what was live and pinned when memory was tightest. It is larger than the card that failed.
        """
        segments, failure = self.segments(self.decisive), self.failure
        free = free_of(segments)
        least = sum(segment.size for segment in segments) - free.returns - free.pooled
        if failure is not None and failure.lacked_bytes:
            least = max(least, (failure.room_bytes or 0) + 1)
        peak, smallest, out = self._replayed_need
        smallest = max(smallest, -(-least // ROUND_LARGE) * ROUND_LARGE)
        return Need(peak, min(smallest, peak), out) if failure is None else Need(max(peak, smallest), smallest, out)

    @cached_property
    def _replayed_need(self) -> Need:
        recording, refused = self.replay.recording, self._last_refused
        replay = self.requests if recording.is_whole else continuing(recording, refused)
        peak = int(self.recorded.reserved.max())
        if refused:
            peak = max(peak, replay_on_card(replay, self.own).reserved_peak)
        need = need_of(replay, self.own, peak, steps_of(replay))
        if need.runs_out is not None or not need.smallest_card_bytes:
            return need
        refusing = replay_on_card(replay, self.own, need.smallest_card_bytes - ROUND_LARGE)
        return need._replace(runs_out=runs_out(replay, refusing) if refusing.refused else None)

    @cached_property
    def tightest(self) -> OutOfMemory:
        """Return the request that a card of 2 MiB less than the smallest does not serve; the last that was refused, if
        one was."""
        failure = self.failure
        if failure is None:
            return self._replayed_need.runs_out or OutOfMemory(-1, 0, 0, 0)
        live = int(self.recorded.allocated[failure.event])
        return OutOfMemory(failure.event, failure.asked_bytes, live, failure.reserved_bytes)

    @property
    def decisive(self) -> int:
        """Return after how many events memory is tightest: before the request that was refused or, where none was,
        after that of `tightest`."""
        return self.tightest.event + (self.failure is None)

    def moment(self, after: int) -> Moment:
        """Return the bytes after so many events."""
        return moment_of(self.lives, after)

    def segments(self, after: int) -> list[SegmentMap]:
        """Return the segments with their live blocks after so many events."""
        return segments_at(self.moment(after), self.log)

    def reserved(self, settings: AllocatorSettings | None = None) -> np.ndarray:
        """Return the bytes that a replay reserves after each event, under the recorded settings or others: int64[events
        + 1].

        Under its own settings it starts from the recorded segments, so that where the replay is exact it is the
        recorded curve. Under others it first requests what was live before the first event, laid out again.
        """
        recording = self.replay.recording
        if settings is None:
            played = self.replay.played
            return summed(played.reserved_at_start, by_event(self.log, (played, recording.event)))
        played = replay_on_card(self.requests, settings)
        change = np.zeros(self.events + 1, np.int64)
        np.add.at(change, self.requests.event[played.calls[:, 0]] + 1, played.calls[:, 2])
        result: np.ndarray = np.cumsum(change)
        return result

    @cached_property
    def lives(self) -> Lives:
        """Return every block and every segment with its time."""
        return lives_of(self.replay)

    @cached_property
    def growth(self) -> Growth | None:
        """Return the lines that hold more memory after every step; None = nothing grows."""
        return growth_of(self.lives, self.log, None if self.failure is None else self.failure.event)

    @cached_property
    def requests(self) -> ReplayInput:
        """Return the requests of the program, whatever the settings; of those refused, the last one alone."""
        return asking_of(self.replay.recording, self._last_refused)

    @property
    def _last_refused(self) -> list[int]:
        return self.replay.recording.failed[-1:].tolist()


def failed_first(cards: Sequence[CardHistory]) -> list[CardHistory]:
    """Return the cards that ran out of memory, those whose program ended first and of these the earliest, then the
    others, the most reserved first."""
    return sorted(cards, key=lambda card: (_failed_at(card), -int(card.recorded.reserved.max())))


def _failed_at(card: CardHistory) -> tuple[bool, bool, int]:
    failure = card.failure
    if failure is None:
        return True, False, 0
    return False, failure.is_caught, int(card.log.events.time_us[failure.event])


Read = Callable[[Source], TorchLogs]
"""How a snapshot is read."""


def card_histories(path: str | Path, read: Read = read_snapshot) -> list[CardHistory]:
    """Return the history of each card of a memory snapshot; cards without a segment and an event are left out.

    Parameters
    ----------
    path : str or Path
        A file, or a public trace by name.
    read : callable
        Reads it; who has read it already hands over what came of that.

    Raises
    ------
    InputError
        The file is no memory snapshot of PyTorch.

    Examples
    --------
    >>> (card,) = card_histories("data/made_up_snapshot.pickle.gz")
    >>> card.events, card.decisive, len(card.moment(card.decisive).segment_size)
    (1842, 1788, 56)
    """
    source = Source(trace_file(str(path)))
    with as_one_sentence(source, "torch_memory_snapshot"):
        logs = read(source)
    if not logs.of_allocator:
        return []
    return [CardHistory(log, str(path)) for log in logs.logs if len(log.events.action) or len(log.segments.size)]
