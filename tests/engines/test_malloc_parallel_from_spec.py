"""The engine `malloc` with parallel heaps against the twin that was written from the text of specification 2 alone."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from tests.engines.malloc_cases import Fixed
from tests.oracles.parallel_heap_cases import cases
from tests.oracles.parallel_heap_run import Case, Result, play
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.machine import Machine
from workbench.policies.malloc import OneHeap, WordByWord
from workbench.policies.policy import read_policy
from workbench.records.malloc import MallocRecord

FEW, ALL = 40, 540


def simulated(case: Case) -> MallocRecord:
    policies = {
        "serve": _policy("serve", case.serve),
        "heap": _policy("heap", case.heap),
        "lock": WordByWord(**case.lock),
        "arenas": OneHeap(),
    }
    machine = Machine(compute_units=case.units)
    return Malloc().simulate(Setup("malloc", machine, Fixed(case.rows), policies, MallocOptions(**case.options)), 1)


def _policy(slot: str, given: dict[str, Any]) -> Any:
    levers = {key: _policy(slot, value) if isinstance(value, dict) else value for key, value in given.items()}
    name = levers.pop("name")
    return read_policy(slot, {name: levers})


def of_twin(result: Result, rows: int) -> dict[str, Any]:
    where = {row: k for k, block in enumerate(result.blocks) for row in block.rows}
    return {
        "leader": [request.rows[0] for request in result.requests],
        "total": [sum(request.sizes) for request in result.requests],
        "acquired": [request.acquired for request in result.requests],
        "ended": [request.ended for request in result.requests],
        "ready": [request.ready for request in result.requests],
        "block": [where.get(row, -1) for row in range(rows)],
        "base": [block.grant.base for block in result.blocks],
        "granules": [block.grant.granules for block in result.blocks],
        "owner": [block.request.number for block in result.blocks],
        "granted": [block.granted for block in result.blocks],
        "returned": [block.returned for block in result.blocks],
        "acquisitions": result.acquisitions,
        "heap_atomics": result.atomics,
        "tried_in_vain": result.in_vain,
        "words": 0,
    }


def of_engine(record: MallocRecord, names: Any) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


def differences(case: Case) -> dict[str, Any]:
    expected = of_twin(play(case), len(case.rows))
    found = of_engine(simulated(case), expected)
    return {name: (expected[name], found[name]) for name in expected if expected[name] != found[name]}


def test_the_first_cases_equal_the_twin():
    for case in cases(FEW, seed=1):
        assert not differences(case), case


@pytest.mark.slow
def test_all_cases_equal_the_twin():
    for case in islice(cases(ALL, seed=1), FEW, None):
        assert not differences(case), case
