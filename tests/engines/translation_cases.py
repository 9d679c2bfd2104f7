"""Hand-made traces for the engine `translation`, and one call that runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation, TranslationOptions
from workbench.levers import lever
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import read_policy
from workbench.records.translation import ACCESS, TranslationRecord
from workbench.streams import Streams
from workbench.workloads.workload import Accesses, Generator, Workload

Row = tuple[int, int, int] | tuple[int, int, int, bool]


class GivenAccesses(Workload):
    """A trace given row by row: cycle, core, page, and whether the row unmaps the page; cut into blocks as told."""

    def __init__(self, rows: Sequence[Row], cuts: Sequence[int] = ()) -> None:
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "cuts", cuts)

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        columns = np.array([(*row[:3], bool(row[3:] and row[3])) for row in self.rows], np.int64).reshape(-1, 4).T
        for part in np.array_split(np.arange(len(self.rows)), sorted(self.cuts)):
            cycle, core, page, unmap = columns[:, part]
            yield Accesses(cycle, core.astype(np.int32), page, unmap.astype(bool) if unmap.any() else None)


class DrawnPages(Generator):
    """Pages drawn for the engine's tests: some of all cores, some of each core alone."""

    count: int = lever(400, least=0, most=10**7, unit="accesses", description="accesses")
    pages: int = lever(40, least=1, most=10**7, unit="pages", description="pages that are drawn from")
    shared: float = lever(0.5, least=0, most=1, description="share of accesses to common pages")

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        draw = streams["pages"]
        core = draw.integers(0, machine.cores, self.count)
        page = (draw.random(self.count) ** 3 * self.pages).astype(np.int64)
        own = draw.random(self.count) >= self.shared
        yield Accesses(
            np.arange(self.count), core.astype(np.int32), np.where(own, page + (core + 1) * self.pages, page)
        )


DEFAULT = dict(Translation.slots)


def simulate(
    rows: Sequence[Row] | Workload,
    machine: Mapping[str, Any] | None = None,
    policy: Mapping[str, Any] | None = None,
    cuts: Sequence[int] = (),
    seed: int = 1,
    events: bool = False,
    checked: bool = False,
    **options: Any,
) -> TranslationRecord:
    """Run the engine once over a trace."""
    engine = Translation()
    chosen = {**DEFAULT, **(policy or {})}
    policies = {slot: read_policy(engine.question_of(slot), given, slot) for slot, given in chosen.items()}
    workload = rows if isinstance(rows, Workload) else GivenAccesses(rows, cuts)
    read = TranslationOptions.read(options)
    setup = Setup("translation", TranslationMachine(**(machine or {})), workload, policies, read)
    return engine.simulate(setup, seed, events, checked)


def latencies(record: TranslationRecord) -> list[int]:
    """Return the latencies of a record with its log, by the cycle of the access, then by core."""
    kept = record.log[record.log[:, 1] == ACCESS]
    return [int(row[6]) for row in kept[np.lexsort((kept[:, 2], kept[:, 0]))]]
