"""The storage service of the memory pool as real processes: how many allocations a second, and how long each waits.

Clients are processes of their own. Each keeps 128 regions of 64 B to 64 KiB (log-uniform) and goes on in rounds: so
many allocations sent together, and as many releases of its oldest regions, for which it does not wait: they go with
the next round. What is counted is allocations alone, each of which has a release beside it; how long an allocation
waits is from before its request is sent until the replies to the whole round are there. The bar: 20,000 allocations a
second from 4 clients on 2 cores, the 99th percentile below 1 ms.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import row
from workbench.pool_service import PoolClient, running_service
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import LogUniform

NAME = "pool_service"
CLIENTS = (1, 2, 4, 8, 16)
TOGETHER = (1, 4)
KEPT = 128
ALLOCATIONS = 24_000
"""Of all clients together."""
_CARD_BYTES = 1 << 26


def pool_service() -> list[dict[str, Any]]:
    """Of each number of clients: one allocation at a time, and four together."""
    with tempfile.TemporaryDirectory() as folder, running_service(folder, {"card_bytes": _CARD_BYTES}):
        return [_row(Path(folder), clients, together) for together in TOGETHER for clients in CLIENTS]


def _row(folder: Path, clients: int, together: int) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    rounds = ALLOCATIONS // (clients * together)
    start, results = context.Barrier(clients + 1), context.Queue()
    processes = [
        context.Process(target=_client, args=(folder, number, rounds, together, start, results))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    waits = np.concatenate([results.get() for _ in processes])
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    assert len(waits) == rounds * clients
    with PoolClient(folder) as client:
        assert client.state("gpu0")[0] == 0, "all that was allocated is back"
    result = row(NAME, f"{clients} clients, {together} together", rounds * clients * together, "allocations", seconds)
    return {**result, "p50_us": _microseconds(waits, 50), "p99_us": _microseconds(waits, 99)}


def _microseconds(waits: np.ndarray, percent: float) -> float:
    return round(float(np.percentile(waits, percent)) * 1e6, 1)


def _client(folder: Path, number: int, rounds: int, together: int, start: Any, results: Any) -> None:
    """One client's rounds."""
    drawn = LogUniform(low=64, high=65_536).draw(Streams(number).uniforms("sizes", rounds * together))
    sizes = drawn.reshape(rounds, together).tolist()
    kept: deque[Any] = deque()
    waits = np.zeros(rounds)
    with PoolClient(folder) as client:
        kept.extend(client.alloc_many([64] * KEPT))
        start.wait()
        for place, wanted in enumerate(sizes):
            began = time.perf_counter()
            kept.extend(client.alloc_many(wanted))
            waits[place] = time.perf_counter() - began
            for _ in range(together):
                client.free_later(kept.popleft())
    results.put(waits)
