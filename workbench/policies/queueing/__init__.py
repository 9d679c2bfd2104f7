"""Which waiting request is tried, and when is a refused one tried again?"""

from workbench.policies.queueing.queue import FifoHeadOnly, FifoLookahead, QueuePolicy
from workbench.policies.queueing.retry import AfterKCycles, NextCycle, OnRelease, RetryPolicy

__all__ = ["AfterKCycles", "FifoHeadOnly", "FifoLookahead", "NextCycle", "OnRelease", "QueuePolicy", "RetryPolicy"]
