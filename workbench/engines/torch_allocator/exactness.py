"""How exact a replay is: which segments and addresses came out as they were recorded."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.play import Played, play
from workbench.engines.torch_allocator.recording import Recording, recording_of
from workbench.engines.torch_allocator.sizes import rounded_sizes
from workbench.engines.torch_allocator.state import MIN_BLOCK, SMALL_SIZE
from workbench.workloads.allocator_log import AllocatorLog


class Exactness(NamedTuple):
    """How much of a recording a replay reproduced."""

    segment_allocs: int
    """Segments (and mapped ranges) that the recorded allocator got from its driver."""
    segment_allocs_reproduced: int
    """Those that the replay got too: for the same request, as large, at the same address."""
    allocs: int
    addresses_reproduced: int
    """Allocations that the replay put where they were recorded."""

    def __str__(self) -> str:
        segments = (
            f"segment allocations reproduced {self.segment_allocs_reproduced:,} of {self.segment_allocs:,}, addresses"
            if self.segment_allocs
            else "no segment was allocated in the history; addresses reproduced"
        )
        return f"{segments} {self.addresses_reproduced:,} of {self.allocs:,}"

    @property
    def is_exact(self) -> bool:
        """Return whether everything was reproduced."""
        return self.segment_allocs == self.segment_allocs_reproduced and self.allocs == self.addresses_reproduced

    @property
    def share(self) -> float:
        """Return the share of segments and addresses that was reproduced, 1 = there was none."""
        count = self.segment_allocs + self.allocs
        return (self.segment_allocs_reproduced + self.addresses_reproduced) / count if count else 1.0

    def __add__(self, other: object) -> Exactness:
        if not isinstance(other, Exactness):
            return NotImplemented
        return Exactness(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


NOTHING_TO_COMPARE = Exactness(0, 0, 0, 0)


class Replay(NamedTuple):
    """A recording replayed as it was recorded."""

    recording: Recording
    played: Played
    exactness: Exactness


MOST_GUESSES = 64


def replay_of(log: AllocatorLog) -> Replay:
    """Replay a history, exactly if that is possible.

    The size of a block from before the history is not always told: it keeps up to 1 MiB more than was asked. It is
    taken for what was asked until the replay puts a block behind it that was not there; then it was larger, by as much
    as keeps that block from fitting.
    """
    assumed: dict[int, int] = {}
    for _ in range(MOST_GUESSES):
        recording = recording_of(log, assumed)
        played = replay_as_recorded(recording)
        raised = _raised(recording, played, assumed)
        if raised is None:
            break
        assumed |= raised
    return Replay(recording, played, exactness_of(recording, played))


def _raised(recording: Recording, played: Played, assumed: dict[int, int]) -> dict[int, int] | None:
    """Return the end of the block behind which the first wrong address lies, so that what was put there does not
    fit."""
    wrong = np.flatnonzero((recording.expected >= 0) & (played.placed != recording.expected))
    if not len(wrong) or not recording.doubtful:
        return None
    row, place = int(wrong[0]), int(played.placed[wrong[0]])
    for address, (least, following) in recording.doubtful.items():
        if least <= place < following:
            requested = recording.requests.size[row : row + 1]
            size = int(rounded_sizes(recording.settings.rules(recording.private), requested)[0])
            end = following - size + MIN_BLOCK
            known = assumed.get(address, least)
            return {address: end} if known < end <= least + SMALL_SIZE else None
    return None


def replay_as_recorded(recording: Recording) -> Played:
    """Replay a history from its own beginning under its own settings."""
    rules = recording.settings.rules(recording.private)
    return play(recording.requests, rules, recording.start, recording.supply)


def exactness_of(recording: Recording, played: Played) -> Exactness:
    """Compare a replay with what was recorded."""
    requested = recording.expected >= 0
    grown = played.calls[played.calls[:, 2] > 0][:, :3]
    own = Counter(map(tuple, grown.tolist()))
    supply = recording.supply
    columns = (column[recording.implied :].tolist() for column in (supply.row, supply.address, supply.size))
    counter = Counter(zip(*columns, strict=True))
    return Exactness(
        segment_allocs=counter.total(),
        segment_allocs_reproduced=(own & counter).total(),
        allocs=int(requested.sum()),
        addresses_reproduced=int(np.count_nonzero(played.placed[requested] == recording.expected[requested])),
    )
