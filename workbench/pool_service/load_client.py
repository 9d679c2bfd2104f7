"""A client that loads a service as it is told, line by line: `python -m workbench.pool_service.load_client FOLDER`.

A line is a JSON object with `sizes` (bytes, an allocation each) and `gap_ns`; the reply is a list of how many ns each
allocation waited. Beside each goes a release of the oldest region, for which nobody waits.
"""

from __future__ import annotations

import json
import sys
import time
from collections import deque

from workbench.pool_service.client import PoolClient, Region

KEPT = 32
"""Regions that the client holds."""


def serve(folder: str) -> None:
    """Do what each line says until there is none."""
    with PoolClient(folder) as client:
        held = deque(client.alloc_many([64] * KEPT))
        for line in sys.stdin:
            print(json.dumps(waits(client, held, **json.loads(line))), flush=True)


def waits(client: PoolClient, held: deque[Region], sizes: list[int], gap_ns: int) -> list[int]:
    """Return how long each allocation waited for its reply, in ns; `gap_ns` passes before each is asked for."""
    result = []
    for size in sizes:
        if gap_ns:
            time.sleep(gap_ns / 1e9)  # stands for the application's own work, during which it asks for nothing
        began = time.perf_counter_ns()
        held.append(client.alloc(size))
        result.append(time.perf_counter_ns() - began)
        client.free_later(held.popleft())
    return result


if __name__ == "__main__":
    serve(sys.argv[1])
