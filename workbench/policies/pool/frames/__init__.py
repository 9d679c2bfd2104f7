"""Which frames does memory get that the driver gives? (spec 6, R10)"""

from workbench.policies.pool.frames.longest import Longest
from workbench.policies.pool.frames.lowest import Lowest
from workbench.policies.pool.frames.question import Frames

__all__ = ["Frames", "Longest", "Lowest"]
