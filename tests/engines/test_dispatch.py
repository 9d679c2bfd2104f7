"""The engine `dispatch` against its slow twin: the same record, field by field, for every policy and lever."""

from __future__ import annotations

import random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.between_twin import RefusesEven
from tests.engines.dispatch_cases import Case, Row, assert_same, plain
from tests.engines.dispatch_laws import assert_lawful, keeps_units_even
from tests.engines.dispatch_policies import BETWEEN, EVERY, PLACEMENTS, ROUND, WARM
from tests.engines.dispatch_strategies import MIXES, MORE, cases, combinations, in_queue_order
from tests.engines.dispatch_users import USERS, BusyLately
from tests.slow import LONG, examples, thinned
from workbench.compiled import INTERPRETED
from workbench.engines.dispatch import Dispatch, prepare
from workbench.errors import PolicyError
from workbench.machine.power import ClassPower, RcHeat
from workbench.policies.catalogue import load_all
from workbench.policies.dispatch import FirstModule, LeastRecentEnergy, WeightedChoice
from workbench.policies.placement import NextFit, Placement, RandomFit
from workbench.policies.policy import policies
from workbench.structures.bitmaps import is_free

MOVES_LIVE_RANGES = "compaction"
"""The one registered placement that a dispatcher refuses."""


@pytest.mark.slow
@examples(8, 300)
@given(cases())
def test_equals_the_slow_twin(case: Case) -> None:
    record = assert_same(case)
    if record is not None:
        assert_lawful(case, record)


@pytest.mark.slow
@examples(20, 1000)
@given(combinations())
def test_combinations_equal_the_slow_twin(case: Case) -> None:
    record = assert_same(case)
    if record is not None:
        assert_lawful(case, record)


@pytest.mark.slow
@examples(30, 1000)
@given(combinations())
def test_skipping_changes_nothing(case: Case) -> None:
    """What no cycle and no round skips records the same, and waits for ever where that does."""
    assert recorded(case) == recorded(case, skips=0)


@pytest.mark.slow
@examples(10, 300)
@given(combinations(), st.integers(1, 3), st.sampled_from([RefusesEven(), RandomFit(), NextFit()]))
def test_skipping_changes_nothing_in_front_of_queues(case: Case, depth: int, placement: Placement) -> None:
    """Modules have queues, and placements draw, remember and refuse."""
    case.options |= {"pending_depth": depth, "blocks_on_a_unit": "per_wave"}
    case.policies |= {"placement": placement}
    assert recorded(case) == recorded(case, skips=0)


def recorded(case: Case, skips: int = 1) -> dict[str, Any] | None:
    """The record of a run; None where a group waits for ever."""
    with mock.patch.object(prepare, "SKIPS", skips):
        try:
            return plain(case.engine())
        except PolicyError as stopped:
            if "wait for ever" not in str(stopped):
                raise
            return None


def crowded(seed: int, **more: Any) -> Case:
    """More groups than there is room for, in round numbers; channels, priorities, flags and demands of all kinds."""
    chance = random.Random(seed)
    rows = []
    for _ in range(24):
        waves = chance.randint(1, 8)
        most = {"vgpr": 16 // -(-waves // 2), "sgpr": 8 // -(-waves // 2), "shared": 8, MORE[0].label: 8 // waves}
        rows.append(
            Row(
                arrival=chance.choice([0, 0, chance.randint(0, 60)]),
                channel=chance.randrange(4),
                priority=chance.randint(1, 4),
                waves=waves,
                duration=chance.randint(5, 40),
                independent=chance.random() < 0.5,
                need={name: chance.randint(0, blocks) for name, blocks in most.items()},
                instructions=chance.choice(MIXES),
            )
        )
    rows[0] = rows[0]._replace(priority=4)
    shape = {"modules": 3, "units": 2, "vgpr": 16, "sgpr": 8, "slots": 4, "shared": 8, "workgroups": 4}
    return Case(in_queue_order(rows), **shape, more=MORE[:1], seed=seed, **more)


EACH = [pytest.param(slot, policy) for listed in (EVERY, ROUND) for slot, found in listed.items() for policy in found]
"""Compiled all, interpreted every fourth, for a crowd takes a second there."""


@pytest.mark.parametrize(
    ("slot", "policy"),
    thinned(EACH, 28),
    ids=lambda value: value if isinstance(value, str) else value.short(),
)
def test_every_policy_in_a_crowd(slot: str, policy: Any) -> None:
    case = crowded(len(policy.short()), policies={slot: policy}, options={"module_tie": "rotating"})
    record = assert_same(case)
    assert record is not None
    waited = record.cycle > record.arrival[record.group]
    assert waited.sum() > 10, "hardly anybody waits: the case tests nothing"
    assert_lawful(case, record)


def roomy(seed: int, **more: Any) -> Case:
    """Groups that come one after another, and room for each in every one of six modules: all is up to the choice."""
    chance = random.Random(seed)
    rows = []
    for k in range(40):
        waves = chance.randint(1, 4)
        need = {"vgpr": chance.randint(0, 3), "sgpr": chance.randint(0, 2), "shared": chance.randint(0, 3)}
        mix = tuple(chance.randrange(1 << chance.randrange(12)) for _ in range(6))
        rows.append(
            Row(4 * k + chance.randrange(4), waves=waves, duration=chance.randint(1, 50), need=need, instructions=mix)
        )
    return Case(rows, modules=6, units=2, seed=seed, **more)


@pytest.mark.parametrize("choice", thinned(EVERY["choice"], 4), ids=lambda choice: choice.short())
def test_every_choice_where_there_is_room(choice: Any) -> None:
    record = assert_same(roomy(3, policies={"choice": choice}))
    assert record is not None
    assert record.failed_rounds == 0
    assert choice == FirstModule() or len(set(record.module.tolist())) > 1


def test_every_registered_policy_is_listed() -> None:
    load_all()
    for slot in Dispatch.slots:
        question = Dispatch().question_of(slot)
        registered = {name for name, policy in policies(question).items() if policy.built_in}
        listed = {policy.name for policy in [*EVERY[slot], *ROUND.get(slot, []), *BETWEEN.get(slot, []), WARM]}
        assert registered - listed <= {MOVES_LIVE_RANGES}


@pytest.mark.slow
@pytest.mark.parametrize("slot", [*(pytest.param(slot, marks=pytest.mark.slow) for slot in USERS), "all of them"])
def test_policies_of_a_user(slot: str) -> None:
    chosen = {slot: USERS[slot]} if slot in USERS else {**USERS, "probe": EVERY["probe"][0]}
    case = crowded(len(slot), policies=chosen)
    if slot == "probe":
        case.rows = [row._replace(need={name: min(n, 1) for name, n in row.need.items()}) for row in case.rows]
    record = assert_same(case)
    assert record is not None
    assert_lawful(case, record)


@pytest.mark.slow
def test_a_score_without_history_is_told_nothing_of_the_past() -> None:
    """Although the term before it has a history, of which it would think the opposite."""
    alone, both = LeastRecentEnergy(nx=16), (LeastRecentEnergy(nx=16), BusyLately())
    results = [roomy(3, policies={"choice": c}) for c in (alone, WeightedChoice(choices=both, weights=(1.0, 4.0)))]
    first, second = (assert_same(case) for case in results)
    assert first is not None and second is not None
    assert first.module.tolist() == second.module.tolist()


@pytest.mark.parametrize("step", [1, 7])
def test_temperatures_are_those_of_the_steps_that_have_ended(step: int) -> None:
    """A small heat capacity, so that a module cools down and warms up many times in a run."""
    heat = RcHeat(step_cycles=step, capacity_j_per_k=1e-9)
    case = crowded(5, policies={"choice": WARM}, options={"heat": heat, "power": ClassPower()})
    case.modules = 6
    record = assert_same(case)
    assert record is not None
    case.policies = {"choice": FirstModule()}
    without = case.engine()
    assert record.module.tolist() != without.module.tolist(), "no temperature made a difference"


@pytest.mark.parametrize("units", EVERY["units"][:2], ids=lambda policy: policy.short())
def test_r68_units_stay_even_over_a_run(units: Any) -> None:
    keeps_units_even(crowded(3, policies={"units": units}).engine())


def test_keeping_events_changes_nothing() -> None:
    case = crowded(8, policies={"stuck": EVERY["stuck"][3], "probe": EVERY["probe"][6]})
    plain, kept = case.engine(events=False), case.engine(events=True)
    assert not plain.takes.size and not plain.failures.size
    assert kept.takes.size and kept.failures.size
    for name, reply in plain._asdict().items():
        if name not in ("takes", "failures"):
            assert np.array_equal(reply, getattr(kept, name)), name


def full(seed: int, placement: Any, per_wave: bool, **more: Any) -> Case:
    """One module of one or two units, far more groups than it holds, and waves that take a third to all of a unit."""
    chance = random.Random(seed)
    rounded = placement in ROUND["placement"]
    units, blocks = chance.choice([1, 1, 2]), chance.choice([8, 16] if rounded else [6, 8, 12, 16])
    rows = []
    for _ in range(10):
        on_a_unit = chance.choice([1, 2, 4] if rounded else [1, 2, 3])
        share = blocks // on_a_unit
        need = {"vgpr": chance.randint(max(share // 2, 1), share), "shared": chance.choice([0, chance.randint(1, 8)])}
        rows.append(
            Row(
                arrival=chance.choice([0, 0, chance.randint(0, 30)]),
                channel=chance.randrange(2),
                priority=chance.randint(1, 2),
                waves=units * on_a_unit,
                duration=chance.randint(1, 25),
                independent=chance.random() < 0.2,
                need=need,
            )
        )
    options = {"blocks_on_a_unit": "per_wave" if per_wave else "aggregated", "module_tie": "rotating"}
    shape = {"modules": chance.choice([1, 1, 2]), "units": units, "vgpr": blocks, "slots": 4, "shared": 8}
    return Case(in_queue_order(rows), **shape, options=options, policies={"placement": placement, **more}, seed=seed)


class DrawsUnsaid(Placement):
    """Take a start that a counter names; the counter moves whenever it is asked, and nobody is told that it does."""

    def answer(see: Any) -> int:
        see.memory[0] = (5 * see.memory[0] + 3) % 64
        start = see.memory[0] % (see.segments - see.length + 1)
        return start if is_free(see.free, start, see.length) else -1

    def work_conserving(self) -> bool:
        return False


FULL = [*PLACEMENTS, *ROUND["placement"], pytest.param(DrawsUnsaid(), marks=pytest.mark.slow)]
SEEDS = 12 if LONG else 1 if INTERPRETED else 4


@pytest.mark.parametrize("per_wave", [True, False], ids=["per_wave", "a_group"])
@pytest.mark.parametrize("placement", thinned(FULL, 14), ids=lambda placement: placement.short())
def test_placements_on_full_modules(placement: Any, per_wave: bool) -> None:
    """A placement that draws or remembers is asked again in every round in which nothing else fits."""
    for seed in range(SEEDS):
        case = full(seed, placement, per_wave)
        record = assert_same(case)
        if record is not None:
            assert_lawful(case, record)


ASKED_AGAIN = [RandomFit(), NextFit(), DrawsUnsaid()]


@pytest.mark.parametrize("placement", ASKED_AGAIN, ids=lambda placement: placement.name)
@pytest.mark.parametrize("round_cycles", [pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("taken", [pytest.param(0, marks=pytest.mark.slow), 2], ids=["one module", "the last of three"])
def test_who_draws_or_remembers_is_asked_again(placement: Any, taken: int, round_cycles: int) -> None:
    """Two waves of 3 blocks on one unit of 6: of the four first draws only two leave room for the second wave."""
    row = Row(waves=2, need={"vgpr": 3}, duration=9)
    takers = [Row(waves=1, need={"vgpr": 6}, duration=999)] * taken
    tried = 0
    for seed in range(6):
        options = {"blocks_on_a_unit": "per_wave", "round_cycles": round_cycles}
        rows = [*takers, Row(waves=1, need={"vgpr": 2}, duration=1), *[row] * 4]
        case = Case(rows, modules=taken + 1, vgpr=6, policies={"placement": placement}, options=options, seed=seed)
        record = assert_same(case)
        assert record is not None, "waits for ever"
        assert record.group.size == len(rows)
        tried += record.over_promised
        assert record.failed_rounds >= record.over_promised
    assert tried > 0, "every first draw fitted: the case tests nothing"
