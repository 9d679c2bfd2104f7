"""One measured figure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def row(name: str, variant: str, items: int, unit: str, seconds: float) -> dict[str, Any]:
    """A figure as `workbench bench --json` prints it."""
    rate = items / seconds if seconds else float("inf")
    return {
        "name": name,
        "variant": variant,
        "items": items,
        "unit": unit,
        "seconds": seconds,
        "items_per_second": rate,
    }


def fastest(call: Callable[[], Any], times: int) -> float:
    """The shortest time of a call: what the machine can do when nothing else disturbs it."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
