"""Run a setup in plain Python, in a process of its own, one decision of its policies at a time.

Engines call policies through addresses of compiled code and keep no view. With `NUMBA_DISABLE_JIT=1` the same engine
is plain Python, gives the same results to the bit, and each answer passes through a function that can be watched. So
every question of every engine can be stepped through, with a user's own policy too, and no engine knows of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from workbench.engines.engine import Setup
from workbench.errors import PolicyError
from workbench.experiments.user_code import Packer
from workbench.policies.fresh_process import line_to_a_fresh_interpreted_process
from workbench.studies.decisions.decision import Decision
from workbench.studies.decisions.watch import STATE

MOST = 2_000
"""Decisions of a run are kept, from its beginning; then it is left."""
_WATCH = "workbench.studies.decisions.watch:watch"


class Steps:
    """A run that waits after each answer of a policy, before the engine acts on it.

    Probes are left out: they answer what is so, not what shall be, and are asked of every unit in every round.

    Parameters
    ----------
    setup : Setup
        A point's setup, as `plan.points[k].setup`.
    seed : int

    Attributes
    ----------
    decision : Decision or None
        The last that was made; None before the first.

    Raises
    ------
    InputError
        A policy of the user's refers to something that cannot be sent to another process.
    """

    def __init__(self, setup: Setup, seed: int) -> None:
        pickled = Packer().pack("", setup)
        self._line = line_to_a_fresh_interpreted_process(_WATCH, pickle.dumps((pickled, seed)))
        self._problem, self._over = "", False
        self.decision: Decision | None = None

    @property
    def state(self) -> dict[str, Any]:
        """Return the engine's state as the last answer was given: each column by its name, arrays copied.

        It is empty before the first step. What the columns mean stands at the `State` of the engine's module.
        """
        self._line.send(STATE)
        state: dict[str, Any] = self._line.recv()
        return state

    def next(self) -> Decision | None:
        """Return the next decision; None where the run is over.

        Raises
        ------
        PolicyError
            A policy raised, or its answer is not allowed.
        """
        return next(iter(self.take(1)), None)

    def take(self, most: int) -> list[Decision]:
        """Return the next decisions, fewer where the run is over before.

        Raises
        ------
        PolicyError
            None is left, for a policy raised or gave an answer that is not allowed.
        """
        if self._over or most < 1:
            return self._ended([])
        self._line.send(most)
        decisions, self._over, self._problem = self._received()
        self.decision = decisions[-1] if decisions else self.decision
        return self._ended(decisions)

    def until(self, wanted: Callable[[Decision], bool]) -> Decision | None:
        """Go on to the next decision that is wanted, and return it; None where there is none."""
        return next((decision for decision in self if wanted(decision)), None)

    def close(self) -> None:
        """Leave the run."""
        self._line.close()

    def __iter__(self) -> Iterator[Decision]:
        while (decision := self.next()) is not None:
            yield decision

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def _received(self) -> tuple[list[Decision], bool, str]:
        try:
            received: tuple[list[Decision], bool, str] = self._line.recv()
        except EOFError:
            return [], True, "the run ended unexpectedly."
        return received

    def _ended(self, decisions: list[Decision]) -> list[Decision]:
        if self._problem and not decisions:
            raise PolicyError(self._problem)
        return decisions


def decisions_of(setup: Setup, seed: int, most: int = MOST) -> list[Decision]:
    """Return the first decisions of a run, in the order in which they were made.

    Parameters
    ----------
    setup : Setup
        A point's setup, as `plan.points[k].setup`.
    seed : int
    most : int
        How many are kept.

    Raises
    ------
    PolicyError
        A policy raised before, or its answer is not allowed.
    InputError
        A policy of the user's refers to something that cannot be sent to another process.

    Examples
    --------
    >>> from workbench.experiments.plan import make_plan
    >>> from workbench.experiments.sweep import read_sweep
    >>> plan = make_plan(read_sweep({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}}))
    >>> first = decisions_of(plan.points[0].setup, seed=0)[0]
    >>> first.policy, first.saw["segments"], first.answer
    ('nearest_boundary', 128, 0)
    """
    with Steps(setup, seed) as steps:
        decisions = steps.take(most)
        return decisions if len(decisions) == most else decisions + steps.take(1)
