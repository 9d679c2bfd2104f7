"""The families of workloads of R8: they run to their end, and are what their names say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.conservation import broken
from tests.oracles.node.description import Node
from tests.oracles.node.generators import FAMILIES
from tests.oracles.node.node import Simulation, simulate

pytestmark = pytest.mark.slow

CARD = {"memory_bytes": 64 * 2**20, "dispatch": {"modules": 4, "wave_slots": 4}, "heap": {"heap_bytes": 0}}
COUPLED = {
    "memory": "wait",
    "pages": "64k",
    "touches_hold": "group",
    "malloc": "wait",
    "remote": "link",
    "shootdown_cycles": 30,
    "touches_a_phase": 8,
    "chunk_bytes": 2**16,
}


def result_of(family: str, couplings: dict[str, Any]) -> Simulation:
    machine = {"cards": [CARD, CARD], "links": [{"cards": (0, 1)}]}
    return simulate(Node.of({"machine": machine, "applications": FAMILIES[family](), "couplings": couplings}))


@pytest.mark.parametrize("couplings", [{}, COUPLED], ids=["neutral", "coupled"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family(family: str, couplings: dict[str, Any]) -> None:
    result = result_of(family, couplings)
    assert not result.failure
    assert not any(program.refused for program in result.programs)
    assert broken(result) == []


def test_small_kernels_grow_their_heaps() -> None:
    result = result_of("small_kernels", COUPLED)
    assert [row for row in result.log.of("pool", "request") if row.key.group >= 0]
    assert result_of("stencil", COUPLED).heaps == {}


def test_decode_frees_its_blocks() -> None:
    result = result_of("decode", COUPLED)
    freed = [row.value("pages") for row in result.log.of("node", "unmap") if row.key.stream >= 0]
    assert len(freed) == 3 * 2
