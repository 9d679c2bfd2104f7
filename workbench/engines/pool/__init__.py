"""The engine `pool` (spec 5)."""

from workbench.engines.pool.engine import Pool
