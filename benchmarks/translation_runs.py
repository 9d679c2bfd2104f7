"""Traces given as arrays, and one call that runs the engine `translation` over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation, TranslationOptions
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import read_policy
from workbench.records.translation import TranslationRecord
from workbench.streams import Streams
from workbench.workloads.workload import Accesses, Workload

BLOCK = 1 << 20


class GivenPages(Workload):
    """An access every few cycles: cores repeat over the trace, pages are given; in blocks of a million.

    Cycles and cores are laid out beforehand, as the pages are: what is timed is the engine.
    """

    def __init__(self, core: np.ndarray, page: np.ndarray, every: int = 1) -> None:
        object.__setattr__(self, "core", np.resize(core, len(page)))
        object.__setattr__(self, "page", page)
        object.__setattr__(self, "cycle", np.arange(len(page)) * every)

    core: np.ndarray
    page: np.ndarray
    cycle: np.ndarray

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        for first in range(0, len(self.page), BLOCK):
            block = slice(first, first + BLOCK)
            yield Accesses(self.cycle[block], self.core[block], self.page[block])


def simulated(
    trace: Workload, machine: Mapping[str, Any], policy: Mapping[str, Any], **options: Any
) -> TranslationRecord:
    """One run of the engine."""
    engine = Translation()
    policies = {
        slot: read_policy(engine.question_of(slot), policy.get(slot, usual)) for slot, usual in engine.slots.items()
    }
    setup = Setup("translation", TranslationMachine(**machine), trace, policies, TranslationOptions.read(options))
    return engine.simulate(setup, 1)
