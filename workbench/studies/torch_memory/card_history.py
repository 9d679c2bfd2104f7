"""One card of a snapshot, ready to be looked at: its lives, its curves, when it failed and what it held then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.recording import RecordedBytes, recorded_bytes, summed
from workbench.engines.torch_allocator.replay import Asking, Replay, asking_of, replay_of
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.studies.torch_memory.holdings import SegmentMap, segments_at
from workbench.studies.torch_memory.lives import Lives, lives_of
from workbench.studies.torch_memory.moment import Moment, moment_of
from workbench.studies.torch_memory.trial import played_on
from workbench.workloads.allocator_log import AllocatorLog
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers.source import Source, as_one_sentence
from workbench.workloads.importers.torch_log import TorchLogs
from workbench.workloads.importers.torch_snapshot import read_snapshot


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

    @property
    def room_bytes(self) -> int | None:
        """Return what the allocator could have had at most, None = not told."""
        return None if self.driver_free_bytes < 0 else self.reserved_bytes + self.driver_free_bytes


class CardHistory:
    """What a snapshot tells of one card, moment by moment."""

    def __init__(self, log: AllocatorLog, file: str = "") -> None:
        self.log = log
        self.file = file
        self.replay: Replay = replay_of(log)
        self.recorded: RecordedBytes = recorded_bytes(self.replay.recording)

    @property
    def name(self) -> str:
        """Return what the card is called."""
        return f"GPU {self.log.device}"

    @property
    def events(self) -> int:
        """Return how many events the history has, 0 = it has none."""
        return len(self.log.events.action)

    @property
    def own(self) -> AllocatorSettings:
        """Return the settings that the program was recorded with."""
        return self.replay.recording.settings

    @cached_property
    def failures(self) -> list[Failure]:
        """Return the requests that the recorded allocator could not serve."""
        events, held = self.log.events, self.recorded.reserved
        columns = (events.size, events.address)
        return [
            Failure(at, int(columns[0][at]), int(held[at]), int(columns[1][at]), self.log.device)
            for at in self.replay.recording.failed.tolist()
        ]

    @property
    def failure(self) -> Failure | None:
        """Return the last of them, with which a program that does not catch it ends."""
        return self.failures[-1] if self.failures else None

    @property
    def decisive(self) -> int:
        """Return after how many events it was decided: those before it failed; else those after which most was reserved
        and, of these, most was live, the first time."""
        if self.failure is not None:
            return self.failure.event
        allocated, reserved = self.recorded
        return int(np.argmax(np.where(reserved == reserved.max(), allocated, -1)))

    def moment(self, after: int) -> Moment:
        """Return what there is after so many events."""
        return moment_of(self.lives, after)

    def segments(self, after: int) -> list[SegmentMap]:
        """Return the segments with their live blocks after so many events."""
        return segments_at(self.moment(after), self.log.sites)

    def reserved(self, settings: AllocatorSettings | None = None) -> np.ndarray:
        """Return what a replay reserves after each event, under the recorded settings or others: int64[events + 1].

        Under its own settings it starts from the recorded segments, so that where the replay is exact it is the
        recorded curve; under others what was live before the first event is asked for first, laid out anew.
        """
        recording = self.replay.recording
        if settings is None:
            change = np.zeros(self.events, np.int64)
            played = self.replay.played
            np.add.at(change, recording.event[played.calls[:, 0]], played.calls[:, 2])
            return summed(played.reserved_at_start, change)
        played = played_on(self.requests, settings)
        change = np.zeros(self.events + 1, np.int64)
        np.add.at(change, self.requests.event[played.calls[:, 0]] + 1, played.calls[:, 2])
        result: np.ndarray = np.cumsum(change)
        return result

    @cached_property
    def lives(self) -> Lives:
        """Return every block and every segment with its time."""
        return lives_of(self.replay.recording)

    @cached_property
    def requests(self) -> Asking:
        """Return what the program asks for, whatever the settings."""
        return asking_of(self.replay.recording)


def failed_first(cards: Sequence[CardHistory]) -> list[CardHistory]:
    """Return the cards that ran out of memory, the earliest first, then the others, the most reserved first."""
    return sorted(cards, key=lambda card: (_failed_at(card), -int(card.recorded.reserved.max())))


def _failed_at(card: CardHistory) -> tuple[bool, int]:
    failure = card.failure
    return failure is None, 0 if failure is None else int(card.log.events.time_us[failure.event])


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
