"""Conservation laws: what runs add up to under every policy, and which policies a specification lets differ.

A law names what a run gives, what its workload makes due, and the numbers of the specification that say so. Policies
are those of the registries: each by its default levers, and with each choice, switch and part of it changed. A new
policy joins by being registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, PolicyError
from workbench.levers import Family
from workbench.policies.catalogue import load_all
from workbench.policies.policy import Policy, policies

load_all()


class Run(NamedTuple):
    """A run, and what it was made of."""

    setup: Setup
    record: Any
    play: Any
    """The arguments of the engine's loop, with its last state; None where an engine has no such loop."""


class Law(NamedTuple):
    """What does not depend on policies."""

    name: str
    source: str
    """Where the specification says so."""
    got: Callable[[Run], Any]
    """What a run adds up to."""
    due: Callable[[Run], Any]
    """What its workload makes due."""
    within: Callable[[Run], Any] = lambda run: 0
    """What rounding loses at most."""
    allowed: Mapping[str, str] = {}
    """Policies that may break it, as `slot=name` or `slot=name.lever=value`, each with the sentence that allows it."""

    def holds(self, run: Run) -> bool:
        """Return whether a run keeps the law."""
        got, due = np.asarray(self.got(run)), np.asarray(self.due(run))
        return got.shape == due.shape and bool((abs(got - due) <= self.within(run)).all())

    def excuses(self, slot: str, policy: Policy) -> list[str]:
        """Return the entries of `allowed` that let a policy of a slot break the law."""
        return [name for name in self.allowed if name in names_of(slot, policy)]


class Suite(NamedTuple):
    """The laws of an engine, and the fixed worlds in which its policies keep them."""

    engine: Any
    worlds: Mapping[str, Setup]
    laws: list[Law]
    fitted: Mapping[str, tuple[Mapping[str, Any], ...]] = {}
    """By policy, the levers that small worlds need, once or several times."""
    refused: Mapping[str, str] = {}
    """Policies that an engine, or a world, refuses, named as in `Law.allowed`, each with the sentence that says why."""
    check: Callable[[Run], None] = lambda run: None
    """What else holds of every run."""
    changes: bool = True
    """Whether each policy also runs with one choice, switch or part of it changed."""
    joined: Callable[[dict[str, Policy], str], dict[str, Policy]] = lambda policies, slot: policies
    """The policies of a run in which that of a slot was put, with those that it needs in other slots."""

    def runs(self, slot: str) -> Iterator[Run]:
        """Yield a run of every world under every policy of a slot, and under each with one choice, switch or part
        changed, where the world takes it."""
        for policy in self.policies(slot):
            if not self.refusals(slot, policy):
                for setup in self.worlds.values():
                    with suppress(InputError):
                        yield self.run(setup._replace(policies=self.joined({**setup.policies, slot: policy}, slot)))

    def assert_lawful(self, slot: str) -> None:
        """Assert that no run breaks a law, and that every exception is one: its policy breaks the law in some world."""
        runs = list(self.runs(slot))
        assert [sentence for run in runs for sentence in self.broken(run)] == []
        for run in runs:
            self.check(run)
        for law in self.laws:
            possible = {name for run in runs for name in law.excuses(slot, run.setup.policies[slot])}
            used = {name for run in runs if not law.holds(run) for name in law.excuses(slot, run.setup.policies[slot])}
            assert used == possible, f"{law.name}: never broken by {', '.join(sorted(possible - used))}"
        every = list(self.policies(slot))
        refused = [policy for policy in every if self.refusals(slot, policy)]
        assert [policy for policy in refused if not self.is_refused(slot, policy)] == []
        absent = {policy.name for policy in every} - {run.setup.policies[slot].name for run in runs}
        assert absent == {policy.name for policy in refused if f"{slot}={policy.name}" in self.refused}

    def refusals(self, slot: str, policy: Policy) -> list[str]:
        """Return the entries of `refused` that name a policy in a slot."""
        return [name for name in self.refused if name in names_of(slot, policy)]

    def plain_runs(self) -> Iterator[Run]:
        """Yield a run of every world as it is."""
        yield from (self.run(setup) for setup in self.worlds.values())

    def policies(self, slot: str) -> Iterator[Policy]:
        """Yield every policy of a slot that comes with the package, and each with one lever changed."""
        for name, kind in policies(self.engine.question_of(slot)).items():
            for levers in self.fitted.get(name, ({},)) if kind.built_in else ():
                yield kind(**levers)
                yield from changed(kind(**levers)) if self.changes else ()

    def run(self, setup: Setup) -> Run:
        """Return a run with its last state."""
        plays: list[Any] = []

        def kept(given: Any, play: Any) -> Any:
            plays.append(play)
            return type(self.engine).record(self.engine, given, play)

        with mock.patch.object(self.engine, "record", kept, create=True):
            record = self.engine.simulate(setup, 1, events=True)
        return Run(setup, record, plays[-1] if plays else None)

    def broken(self, run: Run) -> list[str]:
        """Return the laws that a run breaks though none of its policies may, a sentence each."""
        return [
            f"{law.name} ({law.source}): {law.got(run)} instead of {law.due(run)} under {words(run)}"
            for law in self.laws
            if not law.holds(run) and not any(law.excuses(*one) for one in run.setup.policies.items())
        ]

    def is_refused(self, slot: str, policy: Policy) -> bool:
        """Return whether a policy is refused in some world, before a run or by its end."""
        for setup in self.worlds.values():
            try:
                self.run(setup._replace(policies={**setup.policies, slot: policy}))
            except (InputError, PolicyError):
                return True
        return False


def changed(policy: Policy) -> Iterator[Policy]:
    """Yield a policy with one choice, switch or part changed, of those that it takes itself."""
    for lever in policy.levers.values():
        for value in alternatives(lever):
            with suppress(InputError):
                other = policy.but(**{lever.name: value})
                if other != policy:
                    yield other


def alternatives(lever: Any) -> list[Any]:
    """Return the values of a lever that can be listed."""
    if lever.kind == "spec":
        parts = lever.spec.members.all() if issubclass(lever.spec, Family) else policies(lever.spec.question)
        return [kind.name for kind in parts.values() if kind.built_in]
    return list({"choice": lever.choices, "switch": (False, True)}.get(lever.kind, ()))


def levers_of(policy: Policy) -> list[str]:
    """Return the levers of a policy as text."""
    values = ((name, getattr(policy, name)) for name in policy.levers)
    return [f"{name}={getattr(value, 'name', value)}" for name, value in values]


def names_of(slot: str, policy: Policy) -> set[str]:
    """Return the words by which an exception names a policy of a slot."""
    return {f"{slot}={policy.name}", *(f"{slot}={policy.name}.{lever}" for lever in levers_of(policy))}


def words(run: Run) -> str:
    """Return the policies of a run as text."""
    each = run.setup.policies.items()
    return ", ".join(f"{slot}: {policy.name}({', '.join(levers_of(policy))})" for slot, policy in each)
