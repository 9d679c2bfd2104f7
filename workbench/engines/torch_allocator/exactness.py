"""How exact a replay is: which segments and addresses came out as they were recorded."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.play import Played, play
from workbench.engines.torch_allocator.recording import Recording


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
        return (
            f"segment allocations reproduced {self.segment_allocs_reproduced:,} of {self.segment_allocs:,}, "
            f"addresses {self.addresses_reproduced:,} of {self.allocs:,}"
        )

    @property
    def is_exact(self) -> bool:
        """Whether everything was reproduced."""
        return self.segment_allocs == self.segment_allocs_reproduced and self.allocs == self.addresses_reproduced

    def __add__(self, other: object) -> Exactness:
        if not isinstance(other, Exactness):
            return NotImplemented
        return Exactness(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


NOTHING_TO_COMPARE = Exactness(0, 0, 0, 0)


def replay_as_recorded(recording: Recording) -> Played:
    """Replay a history from its own beginning under its own settings."""
    rules = recording.settings.rules(recording.private)
    return play(recording.requests, rules, recording.start, recording.supply)


def exactness_of(recording: Recording, played: Played) -> Exactness:
    """Compare a replay with what was recorded."""
    asked = recording.expected >= 0
    grown = played.calls[played.calls[:, 2] > 0][:, :3]
    own = Counter(map(tuple, grown.tolist()))
    told = Counter(
        zip(*(c.tolist() for c in (recording.supply.row, recording.supply.address, recording.supply.size)), strict=True)
    )
    return Exactness(
        segment_allocs=len(recording.supply.row),
        segment_allocs_reproduced=(own & told).total(),
        allocs=int(asked.sum()),
        addresses_reproduced=int(np.count_nonzero(played.placed[asked] == recording.expected[asked])),
    )
