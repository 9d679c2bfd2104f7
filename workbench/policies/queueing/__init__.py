"""Which waiting request is tried, and when is a refused one tried again?"""

from workbench.policies.queueing.queue import (
    AfterKCycles,
    FifoHeadOnly,
    FifoLookahead,
    NextCycle,
    OnRelease,
    QueuePolicy,
    RetryPolicy,
)

__all__ = ["AfterKCycles", "FifoHeadOnly", "FifoLookahead", "NextCycle", "OnRelease", "QueuePolicy", "RetryPolicy"]
