"""What the engine `pool` leaves to policies."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import Given, slot
from workbench.engines.pool.options import PoolOptions
from workbench.machine import Board
from workbench.policies.placement.question import Placement
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.fit import CacheFit
from workbench.policies.pool.idle import IdleRelease
from workbench.policies.pool.residency import Residency
from workbench.policies.pool.target.question import Target


class Slots(NamedTuple):
    """What is decided."""

    cache: Cache = slot("split_and_coalesce")
    cache_fit: CacheFit = slot("best_fit")
    target: Target = slot("max_bandwidth")
    idle_release: IdleRelease = slot("keep_all")
    driver: Placement = slot("byte_counter")
    residency: Residency = slot("stay")


Case = Given[Slots, PoolOptions, Board]
