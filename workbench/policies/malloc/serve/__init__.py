"""How is a warp's set of requests served?"""

from workbench.policies.malloc.serve.aggregation import BlockAggregated, PerThread, WarpAggregated
from workbench.policies.malloc.serve.question import Serve, Served

__all__ = ["BlockAggregated", "PerThread", "Serve", "Served", "WarpAggregated"]
