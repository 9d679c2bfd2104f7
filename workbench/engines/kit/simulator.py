"""The frame of an engine around every run: read a setup, make space, play the loop, grow a log, check faults.

Runs of a user's policy test every array index: compiled code reads past an end silently. A run whose logs were too
short is played again with more space.

An engine's part is the state of a run with the routines of its module `part` (spec 6, R2), which take that state by
reference and whole numbers and return a whole number: a compiled calendar calls them by address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from workbench.compiled.memory_access import Referent
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.engine import Machine, Options, Record, Setup, Slots, defaults_of, question_of
from workbench.engines.kit.faults import FINE, STOP, Stop, fault_of, policy_error, stop_of
from workbench.levers import Spec
from workbench.machine import Described
from workbench.policies.policy import Policy
from workbench.streams import Streams


class Given(NamedTuple, Generic[Slots, Options, Machine]):
    """A setup with the types of one engine, and the random streams of a seed."""

    slots: Slots
    """The policies."""
    options: Options
    machine: Machine
    streams: Streams
    setup: Setup


def given(slots: type[Slots], setup: Setup, seed: int) -> Given[Slots, Any, Any]:
    """Return a setup with its policies by slot, and the random streams of a seed."""
    chosen = slots(*map(setup.policies.__getitem__, getattr(slots, "_fields", ())))
    return Given(chosen, setup.options, setup.machine, Streams(seed), setup)


class Attempt(NamedTuple):
    """How a run is played this time."""

    room: Mapping[str, int]
    """Rows that each log has space for, and whatever else is made larger until it suffices."""
    events: bool
    """Whether logs are kept that only the event log needs."""
    checked: bool
    """Whether every array index of the policies' answers is tested."""


class Simulator(Generic[Record]):
    """The base of an engine: what it is stands at its class, what it does in five functions.

    An engine gives `read` (what the setup determines, checked), `begin` (the arguments of the loop, among them the
    `state`), `loop` (the compiled function), `words` (what the sentences of its faults name) and `record`. Its random
    streams, the watching of a user's first run, space for logs, faults and their errors are the same for all.
    """

    name: ClassVar[str]
    revision: ClassVar[int]
    """Raised whenever the same setup and seed give other results."""
    decides: ClassVar[type]
    """The slots: a named tuple with a `slot` for each decision."""
    options: ClassVar[type[Spec]]
    machine: ClassVar[type[Described]]
    workload_kind: ClassVar[str]
    """The method of a workload that gives what this engine serves."""
    state: ClassVar[type]
    """What changes during a run: a named tuple of columns, among them `counters`."""
    counts: ClassVar[Any]
    """The names of its counters; a log is counted by the one of its own name."""
    faults: ClassVar[Any]
    """The names of what stops a run."""
    slots: ClassVar[Mapping[str, str]]
    """The default of each slot, as declared."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if hasattr(cls, "decides"):  # a worker makes the class of a user's engine first, and then gives it what it has
            cls.slots = defaults_of(cls.decides)

    def question_of(self, slot: str) -> str:
        """Return the question that the policy of a slot answers."""
        return question_of(self.decides, slot)

    def check_levers(self, given: Any) -> None:
        """Refuse levers that do not go together, whatever the workload will ask: what is checked before it draws.

        Raises
        ------
        InputError
            The sentence names the lever with its path.
        """

    def read(self, given: Any) -> Any:
        """Return all that the setup and the seed determine, with `given` among it; refuse what cannot run.

        Raises
        ------
        InputError
            The workload or the policies do not go with the machine.
        """
        raise NotImplementedError

    def compiled_policies(self, run: Any) -> Sequence[Policy]:
        """Return the policies whose answers are compiled: all that are asked something."""
        return [policy for policy in run.given.slots if policy.asks is not None]

    def room(self, run: Any) -> Mapping[str, int]:
        """Return the sizes that grow until they suffice, as they are at first; logs begin without space."""
        return {}

    def begin(self, run: Any, attempt: Attempt) -> Any:
        """Return the arguments of the loop as a named tuple, with a fresh `state`."""
        raise NotImplementedError

    def loop(self, play: Any) -> None:
        """Play a run to its end, or until a policy breaks its contract."""
        raise NotImplementedError

    def words(self, run: Any, state: Any, stop: Stop) -> Mapping[str, Any]:
        """Return the words for a sentence about a fault: `where` it happened, and the engine's own words."""
        raise NotImplementedError

    def record(self, run: Any, play: Any) -> Record:
        """Return the record of the run."""
        raise NotImplementedError

    def validate(self, setup: Setup, seed: int) -> None:
        """Refuse, in one sentence, a setup that asks for what its machine can never give."""
        self.check_levers(self.given(setup, seed))
        self.read(self.given(setup, seed))

    def given(self, setup: Setup, seed: int) -> Given[Any, Any, Any]:
        """Return a setup with the types of this engine."""
        return given(self.decides, setup, seed)

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> Record:
        """Run one seed to its end.

        Parameters
        ----------
        setup : Setup
        seed : int
            Names the workload's random streams and the policies' own.
        events : bool
            Keep what only the event log needs; what happens is the same.
        checked : bool
            Test every array index of the policies' compiled answers. Runs of a user's policy always do, because
            compiled code reads past the end of an array without a word.

        Raises
        ------
        InputError
            The workload or the policies do not go with the machine.
        PolicyError
            A policy raised, or gave an answer that its question does not allow.
        StarvedError
            Something waits for ever.
        """
        run = self.read(self.given(setup, seed))
        sizes = {**dict.fromkeys(logs_of(self.state), 0), **self.room(run)}
        checked = checked or any(not policy.built_in for policy in self.compiled_policies(run))
        play = with_room(partial(self._play, run, events, checked), partial(self._needed, events), sizes)
        return self.record(run, play)

    def _play(self, run: Any, events: bool, checked: bool, room: Mapping[str, int]) -> Any:
        play = self.begin(run, Attempt(room, events, checked))
        self.loop(play)
        self.check(run, play.state.counters, play.state)
        return play

    def check(self, run: Any, counters: np.ndarray, state: Any = None) -> None:
        """Raise the error of what stopped a run, unless that was lack of space."""
        if counters[STOP.fault] != FINE:
            stop = stop_of(counters)
            if not fault_of(self.faults, stop).log:
                raise policy_error(self.faults, run.given.slots, stop, self.words(run, state, stop))

    def _needed(self, events: bool, play: Any, room: Mapping[str, int]) -> Mapping[str, int]:
        """Return the space that a run would have needed."""
        counters = play.state.counters
        if counters[STOP.fault] != FINE:
            log = fault_of(self.faults, stop_of(counters)).log
            # A log that stops the run does not say how much it needs in all.
            return {log: 2 * room[log]}
        return {name: int(counters[place]) for name, place in _kept_logs(self.state, self.counts, events)}


@lru_cache(maxsize=64)
def _kept_logs(state: type, counts: Any, events: bool) -> list[tuple[str, int]]:
    """Return the logs that runs keep, each with the place of its counter."""
    kept = [name for name, always in logs_of(state).items() if always or events]
    return [(name, getattr(counts, name)) for name in kept]


class Part:
    """An engine's run that a node moves on, by the routines of the engine's module `part`.

    Attributes
    ----------
    run : tuple
        What the setup and the seed determine.
    play : tuple
        What the engine's record is made of.
    kept : Referent
        What the routines take by reference, for entries of them (`compiled.entry`).
    """

    play: Any
    kept: Any

    def __init__(self, engine: Simulator[Any], run: Any, play: Any, lent: Any) -> None:
        self.engine, self.run, self.play, self.kept = engine, run, play, Referent(lent)

    @property
    def draws(self) -> bool:
        """Return whether what it begins with follows from the seed."""
        return any(policy.draws for policy in self.run.given.slots)

    def off(self) -> Self:
        """Return the part without the tuple that its routines run on."""
        part = copy(self)
        part.play = part.kept = None
        return part

    def on(self, lent: Any) -> Self:
        """Return the part with another tuple, such as a copy of what it began with."""
        part = copy(self)
        part.play, part.kept = lent, Referent(lent)
        return part

    @property
    def lent(self) -> Any:
        """Return the tuple that the routines run on; its `state` may be read at any time."""
        return self.kept.whole

    def check(self) -> None:
        """Raise what a policy did wrong.

        Raises
        ------
        PolicyError
            It raised, or gave an answer that its question does not allow.
        StarvedError
            Something waits for ever.
        """
        self.engine.check(self.run, self.lent.state.counters, self.lent.state)


Played = TypeVar("Played")
Sizes = Mapping[str, int]


def with_room(play: Callable[[Sizes], Played], needed: Callable[[Played, Sizes], Sizes], sizes: Sizes) -> Played:
    """Return a run that had space for everything: played once, and again with more space as long as some was missing.

    All plays are the same to the bit, for a log that is full is counted on and changes nothing else.

    Parameters
    ----------
    play : function of sizes
        Plays the run from its start.
    needed : function of what came of a play and its sizes
        The sizes that it would have needed.
    sizes : mapping of str to int
        Of the first play: 0 for a log of which nothing is known.

    Examples
    --------
    >>> with_room(lambda sizes: list(range(7))[: sizes["rows"]], lambda played, sizes: {"rows": 7}, {"rows": 0})
    [0, 1, 2, 3, 4, 5, 6]
    """
    while True:
        played = play(sizes)
        more = {name: size for name, size in needed(played, sizes).items() if size > sizes[name]}
        if not more:
            return played
        sizes = {**sizes, **more}
