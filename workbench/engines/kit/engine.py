"""What every engine is to the rest of the workbench, its frame around every run, and the columns of its state.

An engine has a name, the questions it asks, its levers, and how it is run (`Engine`); `Setup` is all that a run is made
from. A whole run (`Simulator`) reads a setup, fills its slots with policies, plays its loop, with more room if need be,
and returns the record. The first run of a user's answer in a process tests every array index: compiled code reads past
an end silently.

An engine's part is the state of a run with the routines of its module `part` (spec 6, R2), which take that state by
reference and whole numbers and return a whole number: a compiled calendar calls them by address.

Each array of a state is declared once at its field, by its type, its axes and what it is filled with. Kernels allocate
nothing, and how much room a log needs is known when the run has ended: then it is played again.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, lru_cache, partial
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast, get_type_hints

import numpy as np
from numpy.typing import DTypeLike

from workbench.compiled.memory_access import Referent
from workbench.engines.kit.faults import FINE, STOP, Stop, fault_of, policy_error, stop_of
from workbench.errors import InputError, wrong_value
from workbench.identity import FORMAT, PYTHON, current
from workbench.levers import Spec, identity_of
from workbench.machine import Described
from workbench.policies.policy import Policy
from workbench.streams import Streams


class Setup(NamedTuple):
    """Everything but the seed that determines a run, read and checked."""

    engine: str
    machine: Any
    workload: Any
    policies: Mapping[str, Policy]
    options: Spec
    code: tuple[tuple[type, str], ...] = ()
    """Each class of the user's that a setup of a plan uses, with its digest when the plan was made."""
    engine_code: str = ""
    """The digest of the user's engine when the plan was made; empty where it is part of this package."""

    def identity(self) -> dict[str, Any]:
        """Return the setup in plain types: what a run id is the digest of, with the seed and the engine's revision.

        Of the code of policies, workloads, machines and random streams it holds the digests at this moment, which may
        differ between minor versions of Python; so it names the version.
        """
        return {
            "format": FORMAT,
            "python": PYTHON,
            "engine": self.engine,
            "streams": current(Streams).digest,
            "machine": identity_of(self.machine),
            "workload": identity_of(self.workload),
            "policies": {slot: identity_of(policy) for slot, policy in sorted(self.policies.items())},
            "options": identity_of(self.options),
        }


class Engine(Protocol):
    """A simulator: one compiled loop, its questions with their default answers, its levers."""

    name: str
    revision: int
    """Raised whenever the same setup and seed give other results: part of every run id."""
    slots: Mapping[str, str]
    """The decisions that the engine asks for, each with the name of its default policy, or of the slot whose policy is
    taken where none is given."""
    options: type[Spec]

    machine: type[Described]
    """The kind of machine that it simulates."""
    workload_kind: str
    """The method of a workload that gives what this engine serves: one of `KINDS` of the room of workloads."""

    def question_of(self, slot: str) -> str:
        """Return the question that the policy of a slot answers."""

    def simulate(self, setup: Setup, seed: int, events: bool = False) -> Any:
        """Run once and return the record."""

    def validate(self, setup: Setup, seed: int) -> None:
        """Refuse, in one sentence, a setup that asks for what its machine can never give."""


@contextmanager
def at_path(path: str, name: str) -> Iterator[None]:
    """Give what is refused inside a path: `policy.locate.directory.entries` in place of `directory.entries`.

    Parameters
    ----------
    path : str
        Where the policy stands in a sweep file.
    name : str
        The policy's own name, with which its sentences begin.

    Raises
    ------
    InputError
        The same; a sentence that begins with the name begins with the path.
    """
    try:
        yield
    except InputError as wrong:
        own = re.match(rf"{re.escape(name)}(?=[\s.:\[])", str(wrong))
        if not own:
            raise
        raise InputError(path + str(wrong)[own.end() :]) from None


def at_slot(setup: Setup, slot: str) -> AbstractContextManager[None]:
    """Give what is refused of a slot's policy its path: see `at_path`."""
    name = setup.policies[slot].name
    return at_path(f"policy.{slot}.{name}", name)


Slots = TypeVar("Slots")
Options = TypeVar("Options")
Machine = TypeVar("Machine")
Record = TypeVar("Record")


class FirstRuns:
    """Which users' answers one engine has still to see through a run without a fault; built-in ones need no proof."""

    def __init__(self) -> None:
        self._proved: set[Callable[..., Any]] = set()

    def watched(self, policies: Iterable[Policy], checked: bool) -> _Watched:
        """Let the policies' answers do one run within this context; they are proved when it ends without an exception.

        Gives whether the run must test every array index: where that was asked for (`checked`), or where an answer
        that is not part of this package is not proved.

        >>> runs = FirstRuns()
        >>> with runs.watched([], checked=False) as checked:
        ...     print(checked)
        False
        """
        return _Watched(self._proved, {policy.function() for policy in policies if not policy.built_in}, checked)


class _Watched:
    """One run of some answers; a class, as every run has one."""

    __slots__ = ("_checked", "_proved", "_theirs")

    def __init__(self, proved: set[Callable[..., Any]], theirs: set[Callable[..., Any]], checked: bool) -> None:
        self._proved, self._theirs, self._checked = proved, theirs, checked

    def __enter__(self) -> bool:
        return self._checked or not self._proved.issuperset(self._theirs)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._proved.update(self._theirs)


class _FirstRuns(defaultdict[type, FirstRuns]):
    """What each engine has still to see through a run without a fault; no part of what a run's id stands for."""

    def __identity__(self) -> tuple[()]:
        return ()


_first_runs = _FirstRuns(FirstRuns)


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
    return Given(filled(slots, setup), setup.options, setup.machine, Streams(seed), setup)


class Attempt(NamedTuple):
    """How a run is played this time."""

    room: Mapping[str, int]
    """Rows that each log has room for, and whatever else is made larger until it suffices."""
    events: bool
    """Whether logs are kept that only the event log needs."""
    checked: bool
    """Whether every array index of the policies' answers is tested."""


class Simulator(Generic[Record]):
    """The base of an engine: what it is stands at its class, what it does in five functions.

    An engine gives `read` (what the setup determines, checked), `begin` (the arguments of the loop, among them the
    `state`), `loop` (the compiled function), `words` (what the sentences of its faults name) and `record`. Its random
    streams, the watching of a user's first run, room for logs, faults and their errors are the same for all.
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
        """Return what the setup and the seed determine, with `given` among it; refuse what cannot run.

        Raises
        ------
        InputError
            The workload or the policies do not go with the machine.
        """
        raise NotImplementedError

    def asked(self, run: Any) -> Sequence[Policy]:
        """Return the policies whose answers are compiled: all that are asked something."""
        return [policy for policy in run.given.slots if policy.asks is not None]

    def room(self, run: Any) -> Mapping[str, int]:
        """Return what is made larger until it suffices, with its first sizes; logs begin without room."""
        return {}

    def begin(self, run: Any, attempt: Attempt) -> Any:
        """Return the arguments of the loop as a named tuple, with a fresh `state`."""
        raise NotImplementedError

    def loop(self, play: Any) -> None:
        """Play a run to its end, or until a policy breaks its contract."""
        raise NotImplementedError

    def words(self, run: Any, state: Any, stop: Stop) -> Mapping[str, Any]:
        """Return what sentences about a fault name: `where` it happened, and the engine's own words."""
        raise NotImplementedError

    def record(self, run: Any, play: Any) -> Record:
        """Return what happened."""
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
            Test every array index of the policies' compiled answers; the first run of a user's policy in a process
            always does, for compiled code reads past the end of an array without a word.

        Raises
        ------
        InputError
            The workload or the policies do not go with the machine.
        PolicyError
            A policy raised, gave an answer that its question does not allow, or refused for ever.
        """
        run = self.read(self.given(setup, seed))
        with _first_runs[type(self)].watched(self.asked(run), checked) as checked:
            sizes = {**dict.fromkeys(logs_of(self.state), 0), **self.room(run)}
            play = with_room(partial(self._play, run, events, checked), partial(self._needed, events), sizes)
        return self.record(run, play)

    def _play(self, run: Any, events: bool, checked: bool, room: Mapping[str, int]) -> Any:
        play = self.begin(run, Attempt(room, events, checked))
        self.loop(play)
        self.check(run, play.state.counters, play.state)
        return play

    def check(self, run: Any, counters: np.ndarray, state: Any = None) -> None:
        """Raise the error of what stopped a run, unless that was want of room."""
        if counters[STOP.fault] != FINE:
            stop = stop_of(counters)
            if not fault_of(self.faults, stop).log:
                raise policy_error(self.faults, run.given.slots, stop, self.words(run, state, stop))

    def _needed(self, events: bool, play: Any, room: Mapping[str, int]) -> Mapping[str, int]:
        """Return the room that a run would have needed."""
        counters = play.state.counters
        if counters[STOP.fault] != FINE:
            log = fault_of(self.faults, stop_of(counters)).log
            return {log: 2 * room[log]}
        return {name: int(counters[place]) for name, place in _kept_logs(self.state, self.counts, events)}


@lru_cache(maxsize=64)
def _kept_logs(state: type, counts: Any, events: bool) -> list[tuple[str, int]]:
    """Return the logs that runs keep, each with the place of its counter."""
    kept = [name for name, always in logs_of(state).items() if always or events]
    return [(name, getattr(counts, name)) for name in kept]


def slot(default: str) -> Any:
    """Declare the default of a slot at its field: the name of a policy, or of the slot whose policy is taken.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from workbench.policies.placement import Placement
    >>> class Slots(NamedTuple):
    ...     placement: Placement = slot("nearest_boundary")
    ...     shared_placement: Placement = slot("placement")
    >>> defaults_of(Slots)
    {'placement': 'nearest_boundary', 'shared_placement': 'placement'}
    """
    return default


def defaults_of(slots: Any) -> dict[str, str]:
    """Return the default of each slot, by name."""
    return dict(slots._field_defaults)


def question_of(slots: Any, name: str) -> str:
    """Return the question that the policy of a slot answers: its type's."""
    return _questions(slots)[name]


@cache
def _questions(slots: Any) -> dict[str, str]:
    return {name: str(kind.question) for name, kind in get_type_hints(slots).items()}


def filled(slots: type[Slots], setup: Setup) -> Slots:
    """Return the policies of a setup, each with the type of its slot."""
    return slots(*map(setup.policies.__getitem__, getattr(slots, "_fields", ())))


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

    def __init__(self, engine: Simulator[Any], run: Any, play: Any, lent: Any) -> None:
        self.engine, self.run, self.play, self.kept = engine, run, play, Referent(lent)

    @property
    def lent(self) -> Any:
        """Return the tuple that the routines run on; its `state` may be read at any time."""
        return self.kept.whole

    def check(self) -> None:
        """Raise what a policy did wrong.

        Raises
        ------
        PolicyError
            It raised, gave an answer that its question does not allow, or refuses for ever.
        """
        self.engine.check(self.run, self.lent.state.counters, self.lent.state)


State = TypeVar("State")


def column(dtype: DTypeLike, *axes: str | int, fill: int | float | bool = 0) -> Any:
    """Declare an array at its field of a state.

    Parameters
    ----------
    dtype : dtype
        Of its elements.
    *axes : str or int
        The length of each axis: a number, the name of a size, or a product of both as in `"cores * words"`.
    fill : int, float or bool
        What every element is at the start.

    Returns
    -------
    Column
        The declaration, which stands as the field's default until `made` replaces it.

    Examples
    --------
    >>> class Directory(NamedTuple):
    ...     holder: np.ndarray = column(np.int64, "cores", fill=-1)
    >>> made(Directory, {"cores": 3}).holder
    array([-1, -1, -1])
    """
    return Column(np.dtype(dtype), tuple(_factors(axis) for axis in axes), fill)


def log(name: str, width: int, kept: str = "events") -> Any:
    """Declare a log at its field of a state: int64[rows, width], as many rows as the counter of its name has counted.

    Parameters
    ----------
    name : str
        Of its counter, and of its size.
    width : int
        Whole numbers in a row.
    kept : {"events", "always"}
        Whether it is kept where only the event log needs it, or in every run.
    """
    return column(np.int64, name, width)._replace(log=kept)


def _factors(axis: str | int) -> tuple[int, tuple[str, ...]]:
    """Return the number and the sizes whose product an axis names."""
    parts = str(axis).split(" * ")
    names = tuple(part for part in parts if not part.isdecimal())
    return math.prod(int(part) for part in parts if part.isdecimal()), names


class Column(NamedTuple):
    """An array that is made at the start of a run."""

    dtype: np.dtype[Any]
    axes: tuple[tuple[int, tuple[str, ...]], ...]
    """Of each a number, and the sizes that it is multiplied by."""
    fill: int | float | bool
    log: str = ""
    """`events` or `always`: of a log, when it is kept; empty for what is no log."""

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the lengths of its axes with these sizes."""
        return tuple(math.prod([sizes[name] for name in names], start=times) for times, names in self.axes)


@cache
def logs_of(state: type) -> dict[str, bool]:
    """Return the logs of a state by the names of their counters, each with whether it is always kept.

    Examples
    --------
    >>> class State(NamedTuple):
    ...     counters: np.ndarray = column(np.int64, 5)
    ...     moves: np.ndarray = log("moves", 5, kept="always")
    >>> logs_of(State)
    {'moves': True}
    """
    return {one.axes[0][1][0]: one.log == "always" for one in _declared(state).values() if one.log}


def made(state: type[State], sizes: Mapping[str, int], **given: Any) -> State:
    """Return a state whose columns have these sizes and whose other fields are given.

    Parameters
    ----------
    state : class
        A named tuple; the default of each array's field is its `column`.
    sizes : mapping of str to int
        The sizes that the columns name.
    **given
        The fields that are no columns, and columns that start with other contents.

    Raises
    ------
    TypeError
        A field is neither given nor a column, or what is given is no field.
    KeyError
        A column names a size that is not there.

    Examples
    --------
    >>> class Queue(NamedTuple):
    ...     head: np.ndarray = column(np.int64, "channels", fill=-1)
    ...     order: np.ndarray = column(np.int32, "channels", "room")
    >>> made(Queue, {"channels": 2, "room": 0}, order=np.zeros((2, 1), np.int32))
    Queue(head=array([-1, -1]), order=array([[0],
           [0]], dtype=int32))
    """
    fields, zeros, others, places = _shapes(cast(Any, state), tuple(sizes.items()), tuple(given))
    if fields is None:
        return state(**given)  # which names what is missing, or is no field
    values: list[Any] = [None] * fields
    for place, shape, dtype in zeros:
        values[place] = np.zeros(shape, dtype)
    for place, shape, dtype, fill in others:
        values[place] = array = np.empty(shape, dtype)
        array.fill(fill)
    for place, value in zip(places, given.values()):
        values[place] = value
    return cast(State, cast(Any, state)._make(values))


@lru_cache(maxsize=256)
def _shapes(
    state: type, sizes: tuple[tuple[str, int], ...], given: tuple[str, ...]
) -> tuple[int | None, list[Any], list[Any], list[int]]:
    """Return how many fields there are; place, shape and type of the columns that are not given and begin with zeros;
    those of the others, with their contents; the places of what is given. Runs of one setup have the same.

    Where fields and what is given do not go together, there is no number of fields.
    """
    known, columns = dict(sizes), {name: one for name, one in _declared(state).items() if name not in given}
    names: tuple[str, ...] = getattr(state, "_fields", ())
    if set(names) != {*columns, *given}:
        return None, [], [], []
    place = {name: number for number, name in enumerate(names)}
    zeros = [(place[name], one.shape(known), one.dtype) for name, one in columns.items() if not one.fill]
    others = [(place[name], one.shape(known), one.dtype, one.fill) for name, one in columns.items() if one.fill]
    return len(names), zeros, others, [place[name] for name in given]


def _declared(state: type) -> dict[str, Column]:
    """Return the columns of a state by name."""
    declared: dict[str, Any] = getattr(state, "_field_defaults", {})
    return {name: one for name, one in declared.items() if isinstance(one, Column)}


Played = TypeVar("Played")
Sizes = Mapping[str, int]


def with_room(play: Callable[[Sizes], Played], needed: Callable[[Played, Sizes], Sizes], sizes: Sizes) -> Played:
    """Return a run that had room for everything: played once, and again with more room as long as some was missing.

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


def check_column(row: str, name: str, column: np.ndarray, rows: int, least: int, most: int, width: int = 1) -> None:
    """Refuse a column that has not a number a row, or one that is no whole number of a range; the first is named.

    Parameters
    ----------
    row, name : str
        What a row is called, and the column.
    least, most : int
        The first and the last number that are allowed.
    width : int, optional
        How many numbers a row has.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_column("access", "page", np.array([3, -1]), 2, 0, 9)
    Traceback (most recent call last):
    ...
    workbench.errors.InputError: access 1: page must be a whole number from 0 to 9. Got -1. Nearest: 0.
    """
    check_whole(row, name, column, rows, least, most, width=width)
    if column.size and (column.min() < least or column.max() > most):
        refuse_number(row, name, int(np.argmax((column < least) | (column > most))), column, least, most)


def check_whole(
    row: str, name: str, column: np.ndarray, rows: int, least: int, most: int, first: int = 0, width: int = 1
) -> None:
    """Refuse a column that has not a whole number a row, whatever their range is; `first` is the number of its first
    row."""
    shape = (rows,) if width == 1 else (rows, width)
    if column.shape != shape:
        numbers, article = "a number" if width == 1 else f"{width} numbers", "an" if row[0] in "aeiou" else "a"
        expected = f"must have {numbers} {article} {row}, {_sizes(shape)}"
        raise InputError(f"the workload's {name} {expected}. Got {_sizes(column.shape)}.")
    if column.size and column.dtype.kind not in "iub":
        raise wrong_value("", f"{row} {first}: {name}", _expected(least, most), column.ravel().tolist()[0])


def refuse_number(row: str, name: str, place: int, column: np.ndarray, least: int, most: int, first: int = 0) -> None:
    """Refuse the number at a place of a column of whole numbers, row by row, with the nearest that is allowed."""
    got, number = int(column.ravel()[place]), first + place // (column.size // len(column))
    raise wrong_value("", f"{row} {number}: {name}", _expected(least, most), got, min(max(got, least), most))


def _sizes(shape: tuple[int, ...]) -> str:
    """Return the sizes of an array in words: `3 x 6`."""
    return " x ".join(map(str, shape)) or "a single number"


def _expected(least: int, most: int) -> str:
    return f"must be a whole number from {least} to {most}"


def padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows one below the other, each filled up with zeros: at least one column.

    Examples
    --------
    >>> padded([np.array([1.0, 2.0]), np.array([3.0])]).tolist()
    [[1.0, 2.0], [3.0, 0.0]]
    >>> padded([np.zeros(0)]).tolist()
    [[0.0]]
    """
    table = np.zeros((len(rows), max([row.size for row in rows], default=0) or 1), rows[0].dtype if rows else np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: row.size] = row
    return table
