"""What recorded memory says of the pool's policies: a trace under each of them, beside its own allocator."""

from workbench.studies.pool.recorded_memory import MemoryReplay, replayed_memory
from workbench.studies.pool.replay import Replayed, recorded_allocator, replay_sweep, replayed

__all__ = [
    "MemoryReplay",
    "Replayed",
    "cached_before",
    "recorded_allocator",
    "replay_sweep",
    "replayed",
    "replayed_memory",
]
