"""What can be said of the pool beside its runs: bounds for every policy, recorded memory, what it means for others."""

from workbench.studies.pool.replay import replay_sweep, replayed, replayed_memory

__all__ = ["replay_sweep", "replayed", "replayed_memory"]
