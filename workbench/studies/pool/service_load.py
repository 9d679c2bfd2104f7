"""How long do allocations of the real storage service take, by how many clients ask at once? Measured in blocks.

In each block every number of clients has its turn, in an order that is drawn, so that what else the machine does falls
on all of them alike, and blocks are pairs. Times are of this machine and of what it did meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import WorkbenchError
from workbench.pool_service import running_service
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import LogUniform

CARD_BYTES = 1 << 26
SIZES = LogUniform(low=64, high=65_536)
"""Bytes of an allocation."""


class ServiceLoad(NamedTuple):
    """A design: which numbers of clients, how many blocks, and what each client does in its turn."""

    clients: Sequence[int] = (1, 2, 4, 8, 16)
    gap_ns: int = 0
    """From a reply to the client's next request."""
    blocks: int = 30
    allocations: int = 200
    """Of every client in every turn."""
    seed: int = 0

    def measure(self) -> dict[int, list[float]]:
        """Run the service and its clients; the mean wait of an allocation, in ns, one a block, by number of clients.

        Raises
        ------
        WorkbenchError
            The service or a client does not start, or a client ended.
        """
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "service"
            with running_service(folder, {"card_bytes": CARD_BYTES}), _clients(folder, max(self.clients)) as processes:
                self._turn(processes, 0)  # what is loaded and connected at the first request
                return self._blocks(processes)

    def _blocks(self, processes: Sequence[subprocess.Popen[str]]) -> dict[int, list[float]]:
        result: dict[int, list[float]] = {count: [] for count in self.clients}
        for block in range(self.blocks):
            order = np.argsort(Streams(self.seed).uniforms(f"order {block}", len(self.clients)))
            for place in order.tolist():
                count = self.clients[place]
                result[count].append(float(np.mean(self._turn(processes[:count], block + 1))))
        return result

    def _turn(self, processes: Sequence[subprocess.Popen[str]], block: int) -> np.ndarray:
        """Let some clients work at once; the waits of them all, in ns."""
        for number, process in enumerate(processes):
            assert process.stdin is not None
            drawn = SIZES.draw(Streams(self.seed).uniforms(f"sizes {block} {number}", self.allocations))
            process.stdin.write(json.dumps({"sizes": drawn.tolist(), "gap_ns": self.gap_ns}) + "\n")
            process.stdin.flush()
        return np.concatenate([_reply(process) for process in processes])


def _reply(process: subprocess.Popen[str]) -> np.ndarray:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise WorkbenchError("a client of the storage service ended before it was told to.")
    return np.array(json.loads(line), float)


@contextmanager
def _clients(folder: Path, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Run so many clients as processes, which end with the block."""
    with ExitStack() as ending:
        processes = []
        for _ in range(count):
            words = [sys.executable, "-m", "workbench.pool_service.load_client", str(folder)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            processes.append(ending.enter_context(subprocess.Popen(words, **pipes)))
        yield processes
