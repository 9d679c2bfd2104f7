"""An application of the real storage service: it allocates, writes, reads back and frees, whatever policy lends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from workbench.pool_service import OutOfMemory, PoolClient, Region, running_service
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import LogUniform

CARD, CARD_BYTES = "gpu0", 1 << 22
"""The application's own card, and how large every card is."""
SIZES = LogUniform(low=64, high=65_536)
"""Bytes of a region."""


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


@contextmanager
def application_service(target: str) -> Iterator[Path]:
    """Run a service, within this context, whose cards are small and which lends by this policy."""
    with TemporaryDirectory() as place:
        config: Mapping[str, Any] = {"target": target, "card_bytes": CARD_BYTES}
        with running_service(folder := Path(place) / "service", config):
            yield folder


def outcomes(target: str, footprints: Sequence[float]) -> dict[float, Outcome]:
    """Run the same application at several footprints under one policy, one after the other."""
    with application_service(target) as folder:
        result = {}
        for footprint in footprints:
            with PoolClient(folder, card=CARD) as client:
                result[footprint] = Application(footprint).run(client)
        return result
