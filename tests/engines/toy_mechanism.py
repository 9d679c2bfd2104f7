"""A sixth mechanism, as small as one can be: a till at which customers are served in the order of their patience.

What it decides, the loop, the record: all but the workload and the policies is in this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import RAISED, Question, kernel, number, readable, view
from workbench.engines.kit import (
    FINE,
    STOP,
    Attempt,
    Given,
    Simulator,
    Stop,
    column,
    fail,
    log,
    made,
    numbered,
    raised,
    slot,
    wrong,
)
from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.policies.policy import Policy


@view
class TillView(NamedTuple):
    """What the choice of a customer sees."""

    waiting: int = number("how many wait")
    patience: Any = readable("int64", "waiting", "the cycle up to which each waits")


NEXT = Question("till", TillView, answers="who is served", wrong="answered {answer}, who does not wait")


class Till(Policy, abstract=True):
    """Who is served next?"""

    question: ClassVar[str] = "till"
    asks: ClassVar[Question] = NEXT


class FirstCome(Till, abstract=True):  # abstract, so that no list of all questions holds the toy's
    """Serve who came first."""

    def answer(see):
        return 0


class LeastPatient(Till, abstract=True):
    """Serve who is least patient; the first of those wins a tie."""

    def answer(see):
        least = 0
        for who in range(see.waiting):
            if see.patience[who] < see.patience[least]:
                least = who
        return least


# The frame begins here.


class Slots(NamedTuple):
    """What is decided."""

    till: Till = slot("first_come")


class TillOptions(Spec):
    """The levers."""

    customers: int = lever(20, least=0, most=10_000, unit="customers", description="how many come")
    cycles: int = lever(3, least=1, most=100, unit="cycles", description="how long one is served")


class Counters(NamedTuple):
    """What is counted."""

    now: int
    served: int
    walked_out: int


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    till_raised: int = raised("till")
    till_wrong: int = wrong("till")


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)


class State(NamedTuple):
    """What changes."""

    patience: np.ndarray
    counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    served_at: np.ndarray = column(np.int64, "customers", fill=-1)
    walked_out: np.ndarray = log("walked_out", 2)


class Run(NamedTuple):
    """What the setup and the seed determine."""

    given: Given[Slots, TillOptions, Machine]
    patience: np.ndarray


class Play(NamedTuple):
    """The arguments of the loop."""

    answer: Any
    cycles: int
    state: State


class TillRecord(NamedTuple):
    """What happened."""

    served_at: np.ndarray
    served: int
    walked_out: np.ndarray


ask_next = NEXT.ask


@kernel
def serve(answer: Any, cycles: int, state: State) -> None:
    """Serve one customer after another; who waits longer than its patience walks out."""
    counters, waiting = state.counters, state.patience.size
    while waiting > 0 and counters[STOP.fault] == FINE:
        who = ask_next(answer, TillView(waiting, state.patience[:waiting]))
        if who < 0 or who >= waiting:
            fault = FAULT.till_raised if who == RAISED else FAULT.till_wrong
            fail(counters, fault, counters[COUNT.now], counters[COUNT.served], who)
            return
        _serve_one(state, who)
        waiting -= 1
        counters[COUNT.now] += cycles
        for k in range(who, waiting):
            state.patience[k] = state.patience[k + 1]


@kernel
def _serve_one(state: State, who: int) -> None:
    counters = state.counters
    if state.patience[who] >= counters[COUNT.now]:
        state.served_at[counters[COUNT.served]] = counters[COUNT.now]
        counters[COUNT.served] += 1
        return
    at = counters[COUNT.walked_out]
    if at < state.walked_out.shape[0]:
        state.walked_out[at, 0], state.walked_out[at, 1] = counters[COUNT.now], state.patience[who]
    counters[COUNT.walked_out] += 1


class TillEngine(Simulator[TillRecord]):
    """A till with one queue."""

    name = "till"
    revision = 1
    decides = Slots
    options = TillOptions
    machine = Machine
    workload_kind = "workgroups"
    state, counts, faults = State, COUNT, FAULT

    def read(self, given: Given[Slots, TillOptions, Machine]) -> Run:
        if given.options.customers == 13:
            raise InputError("options.customers must not be 13.")
        return Run(given, given.streams["patience"].integers(0, 60, given.options.customers))

    def begin(self, run: Run, attempt: Attempt) -> Play:
        options = run.given.options
        state = made(State, {"customers": options.customers, **attempt.room}, patience=run.patience.copy())
        return Play(run.given.slots.till.ready_answer(attempt.checked), options.cycles, state)

    def loop(self, play: Play) -> None:
        serve(*play)

    def words(self, run: Run, state: State, stop: Stop) -> Mapping[str, Any]:
        return {"where": f"after {stop.row} customers, at cycle {stop.cycle}"}

    def record(self, run: Run, play: Play) -> TillRecord:
        state = play.state
        return TillRecord(state.served_at, int(state.counters[COUNT.served]), state.walked_out)
