"""PyTorch's allocator from a memory snapshot: replayed to the byte, and under other settings."""

from workbench.engines.torch_allocator.recording import Recording, recording_of
from workbench.engines.torch_allocator.replay import Exactness, Replay, replay_of
from workbench.studies.torch_memory.advice import Advice, advice_or_still, advise
from workbench.studies.torch_memory.holdings import Still
from workbench.studies.torch_memory.snapshot import (
    EXACT_CACHES,
    CacheRow,
    Recorded,
    SnapshotReplay,
    exact_rows,
    replay_of_file,
    snapshot_replay,
)
from workbench.studies.torch_memory.trial import RunsOut, Trial
