"""How is a warp's set of requests served?"""

from workbench.policies.malloc.serve.block_aggregated import BlockAggregated
from workbench.policies.malloc.serve.per_thread import PerThread
from workbench.policies.malloc.serve.question import Serve, Served
from workbench.policies.malloc.serve.warp_aggregated import WarpAggregated

__all__ = ["BlockAggregated", "PerThread", "Serve", "Served", "WarpAggregated"]
