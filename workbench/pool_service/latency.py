"""The real storage service, measured: its latency by the number of clients, and an application that uses it.

How long allocations take, by how many clients ask at once, is measured in blocks. In each block every number of clients
has its turn, in an order that is drawn, so that what else the machine does falls on all of them alike, and blocks are
pairs. Times are of this machine and of what it did meanwhile. The application allocates, writes, reads back and frees,
whatever policy lends.
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
from workbench.pool_service import OutOfMemory, PoolClient, Region, running_service
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import LogUniform

LOAD_CARD_BYTES = 1 << 26
_LOAD = "import sys; from workbench.pool_service.client import load_service; load_service(sys.argv[1])"
SIZES = LogUniform(low=64, high=65_536)
"""Bytes of an allocation, and of a region."""


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
            with (
                running_service(folder, {"card_bytes": LOAD_CARD_BYTES}),
                _clients(folder, max(self.clients)) as processes,
            ):
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
            words = [sys.executable, "-c", _LOAD, str(folder)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            processes.append(ending.enter_context(subprocess.Popen(words, **pipes)))
        yield processes


CARD, CARD_BYTES = "gpu0", 1 << 22
"""The application's own card, and how large every card is."""


class Application(NamedTuple):
    """A program that knows nothing of policies."""

    footprint: float
    """What it holds at once, over the memory of its card."""
    rounds: int = 4
    """How often it frees every other region and takes as much again."""
    seed: int = 0

    def run(self, client: PoolClient) -> Outcome:
        """Run to the end, or to the first request that is refused."""
        held: list[Written] = []
        outcome = Outcome()
        try:
            for number in range(self.rounds):
                outcome = self._round(client, held, number, outcome)
        except OutOfMemory:
            outcome = outcome._replace(ended=False)
        client.free_many([one.region for one in held])
        return outcome

    def _round(self, client: PoolClient, held: list[Written], number: int, outcome: Outcome) -> Outcome:
        client.free_many([one.region for one in held[::2]])
        del held[::2]
        for place, size in enumerate(self._sizes(number, sum(len(one.bytes) for one in held))):
            region, reply = client.alloc(size), _pattern(4096 * number + place, size)
            region.memory[:] = reply
            held.append(Written(region, reply))
        read = sum(bytes(one.region.memory) == one.bytes for one in held)
        away = sum(one.region.card != CARD for one in held)
        return Outcome(True, outcome.regions + len(held), outcome.intact + read, outcome.borrowed + away)

    def _sizes(self, number: int, held: int) -> Iterator[int]:
        drawn = SIZES.draw(Streams(self.seed).uniforms(f"sizes {number}", 4096)).tolist()
        left = int(self.footprint * CARD_BYTES) - held
        for size in drawn:
            if size > left:
                return
            left -= size
            yield size


class Written(NamedTuple):
    """A region and what was written into it."""

    region: Region
    bytes: bytes


class Outcome(NamedTuple):
    """What became of an application."""

    ended: bool = True
    regions: int = 0
    """Looked at, over all rounds."""
    intact: int = 0
    """Of these, with the bytes that were written."""
    borrowed: int = 0
    """Of these, on another card than the application's."""


def _pattern(number: int, size: int) -> bytes:
    """Return the bytes that tell regions apart, and the first from the last."""
    return (np.arange(size, dtype=np.uint32) * 2654435761 + number * 40503 >> 8).astype(np.uint8).tobytes()


def outcomes(target: str, footprints: Sequence[float]) -> dict[float, Outcome]:
    """Run the same application at several footprints under one policy, one after the other, on small cards."""
    result = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "service"
        with running_service(folder, {"target": target, "card_bytes": CARD_BYTES}):
            for footprint in footprints:
                with PoolClient(folder, card=CARD) as client:
                    result[footprint] = Application(footprint).run(client)
    return result
