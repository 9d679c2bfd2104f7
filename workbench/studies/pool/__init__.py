"""What recorded memory says of the pool's policies: a trace's own reserved bytes beside those of a replay."""

from workbench.studies.pool.recorded_memory import MemoryReplay, replayed_memory

__all__ = ["MemoryReplay", "replayed_memory"]
