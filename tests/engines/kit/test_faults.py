"""What stops a run is declared once, for every engine: its slot, its sentence, the question's where it is its rule."""

from __future__ import annotations

from typing import NamedTuple, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engines.dispatch import Dispatch
from workbench.engines.kit import (
    FINE,
    STOP,
    cycle_of,
    fail,
    full,
    moment,
    numbered,
    policy_error,
    rank_of,
    stop_of,
    stuck,
)
from workbench.engines.kit.faults import Fault
from workbench.engines.kit.order import LAST_CYCLE, RANKS
from workbench.engines.malloc import Malloc
from workbench.engines.malloc.loop import COMES, ENDS, STARTS
from workbench.engines.pool import Pool
from workbench.engines.shared_memory import SharedMemory
from workbench.policies.policy import Policy, read_policy

ENGINES = [SharedMemory, Malloc, Dispatch, Pool]


def declared(engine) -> dict[str, Fault]:
    return type(engine.faults)._field_defaults


def asked(engine, path: str) -> type[Policy]:
    """The class of the policies of a slot, or of a lever of its default policy."""
    slot, _, held = path.partition(".")
    if held:
        return type(getattr(read_policy(engine().question_of(slot), engine.slots[slot]), held))
    return get_type_hints(engine.decides)[slot]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_fault_has_a_slot_and_a_sentence(engine):
    assert engine.faults._fields[FINE] == "none"
    assert set(declared(engine)) == set(engine.faults._fields[1:])
    for fault in declared(engine).values():
        if not fault.slot:
            assert bool(fault.sentence) != bool(fault.log)
            continue
        assert fault.slot.split(".")[0] in engine.slots
        assert fault.raised or fault.sentence or asked(engine, fault.slot).asks.wrong


@pytest.mark.parametrize("engine", ENGINES)
def test_every_slot_that_is_asked_may_raise(engine):
    raising = {fault.slot.split(".")[0] for fault in declared(engine).values() if fault.raised}
    compiled = {slot for slot in engine.slots if get_type_hints(engine.decides)[slot].asks is not None}
    assert compiled <= raising


class Faults(NamedTuple):
    none: int
    jammed: int = stuck("nothing moves at cycle {cycle}, {often} times.")
    no_room: int = full("moves")


FAULT = numbered(Faults)


def test_the_first_fault_is_kept():
    counters = np.zeros(len(STOP) + 1, np.int64)
    fail(counters, FAULT.jammed, 7, 2, 5)
    fail(counters, FAULT.no_room, 8, 3, 6)
    assert stop_of(counters) == (FAULT.jammed, 7, 2, 5)
    error = policy_error(FAULT, None, stop_of(counters), {"where": "", "often": 3})
    assert str(error) == "nothing moves at cycle 7, 3 times."


@given(st.lists(st.tuples(st.integers(0, LAST_CYCLE), st.integers(0, RANKS - 1)), max_size=20))
def test_moments_are_ordered_as_cycle_then_rank(events):
    assert sorted(events) == [(cycle_of(one), rank_of(one)) for one in sorted(moment(*event) for event in events)]
    assert ENDS < COMES < STARTS
