"""A bundle on its way to another process: what `work_in_worker` is called with."""

from __future__ import annotations

from typing import Any

from workbench.experiments.board import Reporter
from workbench.experiments.chunks import Chunk
from workbench.experiments.foreign_engines import PackedEngine, packed
from workbench.experiments.pickled_setup import Packer
from workbench.experiments.sources import origin


class Requests:
    """Packs bundles; each setup and each engine, with the measures of its runs, once."""

    def __init__(self) -> None:
        self._packer = Packer()
        self._engines: dict[str, PackedEngine] = {}

    def pack(self, chunk: Chunk, limit: float, report: Reporter) -> tuple[Any, ...]:
        """Return the arguments of `work_in_worker` for a bundle."""
        parcels = {point: self._packer.pack(point, setup) for point, setup in chunk.setups.items()}
        engine = next(iter(chunk.setups.values())).engine
        if engine not in self._engines:
            self._engines[engine] = packed(engine, chunk.own)
        return parcels, chunk.tasks, limit, origin(), report, self._engines[engine]
