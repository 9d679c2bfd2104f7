"""A trace streams through the engine `translation`: memory does not grow with it."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from tests.engines.translation_cases import simulate
from tests.slow import compiled_only
from workbench.engines.translation import trace
from workbench.levers import lever
from workbench.records.translation import accesses
from workbench.workloads.workload import Accesses, Workload

ROWS = 256


class Endless(Workload):
    """So many blocks of accesses, each made when it is asked for."""

    blocks: int = lever(1, least=1, most=4000, unit="blocks", description="of 256 accesses")

    def accesses(self, machine, streams):
        for block in range(self.blocks):
            rows = np.arange(ROWS * block, ROWS * (block + 1))
            yield Accesses(500 * rows, (rows % machine.cores).astype(np.int32), rows % 40)


def peak_bytes(blocks: int, policy: dict[str, str]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        record = simulate(Endless(blocks=blocks), {"cores": 4, "private_entries": 8, "shared_entries": 32}, policy)
        assert accesses(record) == ROWS * blocks
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@compiled_only
@pytest.mark.usefixtures("looks_at_new_objects")
@pytest.mark.parametrize("policy", [{"locate": "no_directory"}, {"locate": "directory"}])
def test_a_long_trace_takes_no_more_memory_than_a_short_one(policy, monkeypatch):
    """The narrowest column is four bytes a row; a byte a row is more than what a call from Python leaves for a while,
    some hundred thousand bytes whatever the length."""
    monkeypatch.setattr(trace, "PIECE", ROWS)
    short, long = 40, 4000
    peak_bytes(short, policy)
    assert peak_bytes(long, policy) - peak_bytes(short, policy) < ROWS * (long - short)
