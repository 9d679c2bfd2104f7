"""What vector packing looks at: shares of a module, by resource."""

from __future__ import annotations

from typing import Any

from workbench.compiled import kernel


@kernel
def share_left(module: int, resource: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the share of a resource that would be left in a module with the group in it."""
    return float((free[module * totals.size + resource] - demand[resource]) / totals[resource])


@kernel
def squared_length(module: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the square of the length of the vector of shares that would be left."""
    total = 0.0
    for resource in range(totals.size):
        left = share_left(module, resource, demand, free, totals)
        total += left * left
    return total
