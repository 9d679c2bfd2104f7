"""What every engine is built from: columns of its state, names of its counters and faults, room for its logs."""

from workbench.engines.kit.columns import column, made
from workbench.engines.kit.names import numbered

__all__ = ["column", "made", "numbered"]
