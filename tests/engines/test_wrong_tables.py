"""Columns of a workload that an engine cannot count are refused before anything runs: a sentence each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines import malloc_cases, pool_cases, translation_cases
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc
from workbench.engines.shared_memory import SharedMemory, SharedMemoryOptions
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.policies.placement import FirstFit
from workbench.policies.placement.queueing import FifoHeadOnly, NextCycle
from workbench.workloads.pool_requests import PoolRequests
from workbench.workloads.workload import Accesses, Mallocs, Workgroups, Workload

RIGHT: dict[str, Any] = {
    "shared_memory": Workgroups(arrival=[0, 3], length=[2, 4], duration=[5, 6]),
    "malloc": Mallocs(arrival=[0, 3], thread=[0, 1], bytes=[16, 16], free_at=[-1, 9]),
    "pool": PoolRequests(time=[0, 3], app=[0, 0], card=[0, 0], action=[0, 1], handle=[1, 1], bytes=[5, 5]),
    "translation": Accesses(cycle=[0, 3], core=[0, 1], page=[1, 2]),
}
METHODS = {"shared_memory": "workgroups", "malloc": "mallocs", "pool": "pool_requests", "translation": "accesses"}


def given(engine: str, **columns: list[Any]) -> Workload:
    """A workload of two rows with some columns in place of the right ones."""
    table = RIGHT[engine]._replace(**columns)
    table = type(table)(*(None if column is None else np.array(column) for column in table))

    class Given(Workload):
        pass

    def answer(self: Workload, machine: Any, streams: Any) -> Any:
        return [table] if engine == "translation" else table

    setattr(Given, METHODS[engine], answer)
    return Given()


def simulate(engine: str, **columns: list[Any]) -> Any:
    workload = given(engine, **columns)
    if engine == "translation":
        return translation_cases.simulate(workload, {"cores": 2})
    if engine == "malloc":
        return Malloc().simulate(malloc_cases.setup([], workload=workload), 1)
    if engine == "pool":
        case = pool_cases.Case([], pool_cases.line(100, 100))
        return pool_cases.Pool().simulate(case.setup()._replace(workload=workload), 1)
    policies = {"placement": FirstFit(), "queue": FifoHeadOnly(), "retry": NextCycle()}
    return SharedMemory().simulate(Setup(engine, Machine(), workload, policies, SharedMemoryOptions()), 1)


FAR, NAN = 1 << 62, float("nan")
TIME = "must be a whole number from 0 to 72057594037927935. Got"
"""2^56 - 1: the last cycle or nanosecond."""
WRONG: list[tuple[str, dict[str, list[Any]], str]] = [
    ("shared_memory", {"arrival": [0, 2.5]}, f"workgroup 0: arrival {TIME} 0.0."),
    ("shared_memory", {"arrival": [-1, 3]}, f"workgroup 0: arrival {TIME} -1. Nearest: 0."),
    (
        "shared_memory",
        {"arrival": [4, 3]},
        "workgroup 1 arrives at cycle 3, before the one before it (4); arrivals must",
    ),
    ("shared_memory", {"duration": [5, 0]}, "workgroup 1: duration must be a whole number from 1 to "),
    ("shared_memory", {"duration": [5, FAR]}, "workgroup 1: duration must be a whole number from 1 to "),
    ("shared_memory", {"length": [2, NAN]}, "workgroup 0: length must be a whole number from 1 to 128. Got 2.0."),
    ("shared_memory", {"length": [2]}, "the workload's length must have a number a workgroup, 2. Got 1."),
    ("malloc", {"bytes": [16.0, NAN]}, "call 0: bytes must be a whole number from 0 to 1099511627776. Got 16.0."),
    ("malloc", {"arrival": [0, FAR]}, f"call 1: arrival {TIME} {FAR}."),
    ("malloc", {"thread": [0, -1]}, "call 1: thread must be a whole number from 0 to 72057594037927936. Got -1."),
    ("malloc", {"free_at": [-2, 9]}, "call 0: free_at must be a whole number from -1 to 72057594037927935. Got -2."),
    ("malloc", {"free_at": [-1, FAR]}, "call 1: free_at must be a whole number from -1 to 72057594037927935. Got 46"),
    ("malloc", {"thread": [0]}, "the workload's thread must have a number a call, 2. Got 1."),
    ("pool", {"time": [0, 2.5]}, f"request 0: time {TIME} 0.0."),
    ("pool", {"time": [0, FAR]}, f"request 1: time {TIME} {FAR}."),
    ("pool", {"app": [0, -1]}, "request 1: app must be a whole number from 0 to "),
    ("pool", {"action": [0, 3]}, "request 1: action must be a whole number from 0 to 2. Got 3. Nearest: 2."),
    ("pool", {"bytes": [NAN, 5]}, "request 0: bytes must be a whole number from "),
    ("pool", {"handle": [1]}, "the workload's handle must have a number a request, 2. Got 1."),
    ("translation", {"cycle": [0, 2.5]}, f"access 0: cycle {TIME} 0.0."),
    ("translation", {"cycle": [-5, 3]}, f"access 0: cycle {TIME} -5. Nearest: 0."),
    ("translation", {"cycle": [0, FAR]}, f"access 1: cycle {TIME} {FAR}."),
    ("translation", {"page": [1, NAN]}, "access 0: page must be a whole number from 0 to "),
    ("translation", {"core": [0]}, "the workload's core must have a number an access, 2. Got 1."),
    ("translation", {"unmap": [True]}, "the workload's unmap must have a number an access, 2. Got 1."),
]


@pytest.mark.parametrize("engine", RIGHT)
def test_the_table_that_is_made_wrong_is_right(engine: str) -> None:
    simulate(engine)


@pytest.mark.parametrize(("engine", "columns", "sentence"), WRONG)
def test_a_table_that_cannot_be_counted_is_refused(engine: str, columns: dict[str, list[Any]], sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        simulate(engine, **columns)
    assert str(refused.value).startswith(sentence)
