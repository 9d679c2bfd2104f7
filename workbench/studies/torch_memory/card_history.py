"""One card of a snapshot, ready to be looked at: its lives, its curves, and what settings would have reserved."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from workbench.engines.torch_allocator.asking import Asking, asking_of
from workbench.engines.torch_allocator.exactness import Replay, replay_of
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.studies.torch_memory.lives import Lives, lives_of
from workbench.studies.torch_memory.moment import Moment, moment_of
from workbench.studies.torch_memory.over_time import (
    RecordedBytes,
    recorded_bytes,
    reserved_as_recorded,
    reserved_under,
)
from workbench.workloads.allocator_log import AllocatorLog
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers.bad_line import as_one_sentence
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot


class CardHistory:
    """What a snapshot tells of one card, moment by moment."""

    def __init__(self, log: AllocatorLog) -> None:
        self.log = log
        self.replay: Replay = replay_of(log)
        self.lives: Lives = lives_of(self.replay.recording)
        self.recorded: RecordedBytes = recorded_bytes(self.replay.recording)

    @property
    def events(self) -> int:
        """Return how many events the history has, 0 = it has none."""
        return self.lives.events

    @property
    def own(self) -> AllocatorSettings:
        """Return the settings that the program was recorded with."""
        return self.replay.recording.settings

    @property
    def fullest(self) -> int:
        """Return after how many events most bytes were reserved, the first time."""
        return int(np.argmax(self.recorded.reserved))

    def moment(self, after: int) -> Moment:
        """Return what there is after so many events."""
        return moment_of(self.lives, after)

    def reserved(self, settings: AllocatorSettings | None = None) -> np.ndarray:
        """Return what a replay reserves after each event, under the recorded settings or others: int64[events + 1]."""
        if settings is None:
            return reserved_as_recorded(self.replay)
        return reserved_under(self._requests, settings, self.events)

    @cached_property
    def _requests(self) -> Asking:
        return asking_of(self.replay.recording)


def card_histories(path: str | Path) -> list[CardHistory]:
    """Return the history of each card of a memory snapshot; cards without a segment and an event are left out.

    Parameters
    ----------
    path : str or Path
        A file, or a public trace by name.

    Raises
    ------
    InputError
        The file is no memory snapshot of PyTorch.

    Examples
    --------
    >>> (card,) = card_histories("data/made_up_snapshot.pickle.gz")
    >>> card.events, card.fullest, len(card.moment(card.fullest).segment_size)
    (1842, 561, 68)
    """
    source = Source(trace_file(str(path)))
    with as_one_sentence(source, "torch_memory_snapshot"):
        logs = read_snapshot(source)
    if not logs.of_allocator:
        return []
    return [CardHistory(log) for log in logs.logs if len(log.events.action) or len(log.segments.size)]
