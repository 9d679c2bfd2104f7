"""PyTorch's allocator from a memory snapshot: replayed to the byte, and under other settings."""

from workbench.studies.torch_memory.exactness import Exactness, Replay, replay_of
from workbench.studies.torch_memory.recording import Recording, recording_of
from workbench.studies.torch_memory.replay import (
    CacheRow,
    Recorded,
    SnapshotReplay,
    exact_rows,
    replay_of_file,
    snapshot_replay,
)

__all__ = [
    "CacheRow",
    "Exactness",
    "Recorded",
    "Recording",
    "Replay",
    "SnapshotReplay",
    "exact_rows",
    "recording_of",
    "replay_of",
    "replay_of_file",
    "snapshot_replay",
]
