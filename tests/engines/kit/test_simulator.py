"""The frame of engines: a sixth mechanism on it, its first runs, its logs, its faults, its size."""

from __future__ import annotations

import inspect

import pytest

import workbench as wb
from tests.engines import toy_mechanism
from tests.engines.toy_mechanism import FirstCome, LeastPatient, Slots, Till, TillEngine, TillOptions
from workbench.engines.kit import Given, given
from workbench.engines.kit.engine import Setup, defaults_of, question_of
from workbench.errors import InputError, PolicyError
from workbench.identity import current
from workbench.machine import Machine
from workbench.mechanisms.mechanism import Mechanism, enter
from workbench.metrics.measure import Measure, declared


class Nobody(Till, abstract=True):
    def answer(see):
        return see.waiting


class Raises(Till, abstract=True):
    def answer(see):
        if see.waiting < 5:
            raise ValueError("four left")
        return 0


def setup(till: Till, **options: int) -> Setup:
    return Setup("till", Machine(), None, {"till": till}, TillOptions(**options))


def played(till: Till, seed: int, customers: int, cycles: int) -> tuple[list[int], list[list[int]]]:
    """Play the same by hand, in lists."""
    waiting = list(given(Slots, setup(till), seed).streams["patience"].integers(0, 60, customers).tolist())
    now, served, out = 0, [], []
    while waiting:
        patience = waiting.pop(0 if isinstance(till, FirstCome) else waiting.index(min(waiting)))
        if patience >= now:
            served.append(now)
        else:
            out.append([now, patience])
        now += cycles
    return served, out


@pytest.mark.slow
@pytest.mark.parametrize("till", [FirstCome(), LeastPatient()])
@pytest.mark.parametrize(
    ("customers", "cycles"), [(0, 3), (1, 3), (20, 3), pytest.param(60, 1, marks=pytest.mark.slow)]
)
def test_it_does_what_is_done_by_hand_and_keeps_its_log_for_events_alone(till, customers, cycles):
    record = TillEngine().simulate(setup(till, customers=customers, cycles=cycles), 5, events=True)
    served, out = played(till, 5, customers, cycles)
    assert record.served_at[: record.served].tolist() == served
    assert record.walked_out.tolist() == out
    without = TillEngine().simulate(setup(till, customers=customers, cycles=cycles), 5)
    assert without.served_at.tolist() == record.served_at.tolist()
    assert len(without.walked_out) == 0


def test_a_log_gets_exactly_the_room_that_it_needs():
    record = TillEngine().simulate(setup(FirstCome(), customers=40), 1, events=True)
    assert 0 < len(record.walked_out) == 40 - record.served


def test_faults_name_the_policy_what_it_did_and_where():
    with pytest.raises(PolicyError) as stopped:
        TillEngine().simulate(setup(Nobody(), customers=7), 1)
    assert str(stopped.value) == "nobody answered 7, who does not wait; after 0 customers, at cycle 0."
    with pytest.raises(
        PolicyError, match=r"raises raised ValueError \(four left\) in .*; after \d+ customers, at cycle"
    ):
        TillEngine().simulate(setup(Raises(), customers=7), 1)


def test_admission_reads_and_refuses_the_same():
    assert TillEngine().validate(setup(FirstCome()), 1) is None
    with pytest.raises(InputError, match="must not be 13"):
        TillEngine().validate(setup(FirstCome(), customers=13), 1)


def test_slots_are_declared_once_with_type_default_and_question():
    assert TillEngine.slots == defaults_of(Slots) == {"till": "first_come"}
    assert TillEngine().question_of("till") == question_of(Slots, "till") == "till"
    result = given(Slots, setup(LeastPatient()), 3)
    assert isinstance(result, Given)
    assert result.slots == Slots(LeastPatient())


def test_a_users_policy_is_watched_in_every_run():
    seen = []

    class Watching(TillEngine):
        def begin(self, run, attempt):
            seen.append(attempt.checked)
            return super().begin(run, attempt)

    with pytest.raises(PolicyError):
        Watching().simulate(setup(Raises(), customers=7), 1)
    for _ in range(2):
        Watching().simulate(setup(Raises(), customers=0), 1)
    assert seen == [True, True, True]


@pytest.mark.slow
def test_what_a_run_leaves_behind_is_no_part_of_what_an_engine_is():
    def digest() -> str:
        class Again(TillEngine):  # made anew, so that nothing of it is known
            pass

        return str(current(Again).digest)

    class Unseen(Till, abstract=True):
        def answer(see):
            return 0

    before = digest()
    TillEngine().simulate(setup(Unseen()), 1)
    assert digest() == before


def test_a_sixth_mechanism_runs_in_a_sweep_and_costs_less_than_two_hundred_lines(request):
    request.addfinalizer(lambda: wb.remove("engine", "till"))
    measures = declared(Measure("served", "customers", "higher", "how many were served"))
    enter(Mechanism(TillEngine(), measures, lambda record: {"served": float(record.served)}, lambda record: {}))
    sweep = {"engine": "till", "workload": "large_uniform", "policy": {"till": {"vary": [FirstCome(), LeastPatient()]}}}
    sweep = {**sweep, "baseline": {"till": FirstCome()}, "options": {"customers": 30}, "seeds": 3}
    summary = wb.run(sweep).summary()
    least, first = summary.sort_values("policy.till", ascending=False)["mean"]
    assert least < first, "who is served in time are those who can wait"
    source = inspect.getsource(toy_mechanism)
    frame = source[source.index("# The frame begins here.") :].count("\n")
    assert frame < 200
