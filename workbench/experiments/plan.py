"""A plan: every point of a sweep with its setup, label and baseline, and every run by name, before anything runs.

The alternatives of a grid have most of their parts in common, so what was read is kept by its text. Two policies of
one name, alike but for their code, are told apart in labels by a digest of it.

A mapping with `vary` in it, at any depth, becomes every mapping that it stands for (`expand`). `{vary: [a, b]}` stands
for a, then b. Choices multiply (a grid), except those that carry the same `zip` name: they step together. A choice
within a choice belongs to its item alone. The dotted path of each choice is a coordinate of the point. Points are
counted before any is made: what is kept of a part is how many of its alternatives stand at each set of steps, so that a
thousand choices are counted as fast as one, and only zips cost anything.
"""

from __future__ import annotations

import copy
import functools
import gc
import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError, at, unknown_name, wrong_value
from workbench.experiments.designs.draw import with_choices
from workbench.experiments.failures import chosen, noticed, raised_in_planning
from workbench.experiments.row import digest, run_id
from workbench.experiments.seeds import different_workloads, draws
from workbench.experiments.sweep import Sweep, most_points
from workbench.experiments.user_code import PointIds
from workbench.identity import one_moment
from workbench.levers import Spec, read_spec
from workbench.machine import Described
from workbench.machine.presets import is_preset_file, preset_in_file
from workbench.parts import is_in_file
from workbench.policies.catalogue import policy_in_file
from workbench.policies.policy import Policy, read_policy
from workbench.workloads.catalogue import catalogue, locate
from workbench.workloads.workload_key import read_workload


class PlannedPoint(NamedTuple):
    """One point of a sweep."""

    id: str
    setup: Setup
    coordinates: dict[str, Any]
    """Dotted path of each varied lever -> the value shown in tables."""
    baseline: str | None
    """The id of the point that it is compared with."""


class PlannedRun(NamedTuple):
    """One run to do."""

    id: str
    point: PlannedPoint
    seed: int


@dataclass(frozen=True)
class Plan:
    """All of a sweep's runs."""

    sweep: Sweep
    points: list[PlannedPoint]

    def runs(self) -> Iterator[PlannedRun]:
        """Yield every run, all points of a seed before the next seed, so that pairs are complete as early as
        possible."""
        ids = iter(self.ids)
        for seed in self.sweep.seeds:
            for point in self.points:
                yield PlannedRun(next(ids), point, seed)

    @functools.cached_property
    def ids(self) -> list[str]:
        """Return the id of every run, in the order of `runs`."""
        return [run_id(point.id, seed) for seed in self.sweep.seeds for point in self.points]

    def __len__(self) -> int:
        return len(self.points) * len(self.sweep.seeds)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Stop the search for cycles within this context; worth it where a hundred thousand objects are made and all kept.

    Planning 100,000 points spends a quarter of its time in the collector, which finds nothing to free.

    >>> with gc_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@noticed()
@gc_paused()
@one_moment()
def make_plan(sweep: Sweep, unread: list[str] | None = None) -> Plan:
    """Expand a sweep, read every setup, add baselines that are not points already, and admit the first seed of each.

    Parameters
    ----------
    unread : list of str, optional
        Takes one sentence an alternative that cannot be read or admitted here, which is then left out of the plan;
        without a list the first such ends in an error.

    Raises
    ------
    InputError
        A setup is not valid, with the path of the offending key; a workload asks for what its machine cannot give; or
        a user's policy, workload or engine raised, whatever it raised.
    """
    points = _points_read(sweep, unread)
    counted = _Counted(sweep)
    for id, point in list(points.items()):
        try:
            _admit(sweep, point, counted)
        except BaseException as problem:
            _note(unread, problem, sweep.where, point.coordinates, point.setup)
            del points[id]
    return Plan(sweep, told_apart(points.values()))


@noticed()
@gc_paused()
@one_moment()
def setups_read(sweep: Sweep) -> list[Setup]:
    """Return the setup of every point and baseline of a sweep, read and checked as far as no workload is drawn.

    Raises
    ------
    InputError
        A lever is not valid, with the path of the offending key.
    """
    points = list(_points_read(sweep, None).values())
    for point in points:
        try:
            _check_levers(sweep, point.setup)
        except BaseException as problem:
            _note(None, problem, sweep.where, point.coordinates, point.setup)
    return [point.setup for point in points]


def _check_levers(sweep: Sweep, setup: Setup) -> None:
    """Ask an engine of the kit for what of its check needs no workload; another engine is asked when it is planned."""
    engine: Any = sweep.mechanism.engine
    if hasattr(engine, "check_levers"):
        engine.check_levers(engine.given(setup, sweep.seeds[0]))


def _points_read(sweep: Sweep, unread: list[str] | None) -> dict[str, PlannedPoint]:
    varied = copy.deepcopy(with_choices(sweep))
    refuse_too_many(varied, most_points(sweep.said, sweep.where), sweep.where)
    points: dict[str, PlannedPoint] = {}
    read, named = ParseCache(), PointIds(sweep.mechanism.revision)
    for alternative in expand(varied, "", sweep.where):
        try:  # a context manager would cost a quarter of what planning a point does
            _add_with_baseline(points, sweep, alternative, read, named)
        except BaseException as problem:
            _note(unread, problem, sweep.where, alternative.coordinates)
    return points


def _note(
    unread: list[str] | None,
    problem: BaseException,
    where: str,
    coordinates: Mapping[str, Any],
    setup: Setup | None = None,
) -> None:
    """Note what was raised as one sentence; raise it where there is no list of notes, or where it is no sentence."""
    try:
        with raised_in_planning(where, coordinates, setup):
            raise problem
    except WorkbenchError as refused:
        if unread is None:
            raise
        unread.append(str(refused))


def _admit(sweep: Sweep, point: PlannedPoint, counted: _Counted) -> None:
    try:
        sweep.mechanism.engine.validate(point.setup, sweep.seeds[0])
        for one in sweep.own.values():
            if one.check is not None:
                one.check(point.setup)
    except InputError as wrong:
        raise InputError(at(sweep.where, at(chosen(point.coordinates), str(wrong)))) from None
    _refuse_repeats(sweep, point.setup, counted)


def plan_different_runs(sweep: Sweep) -> Plan:
    """Plan a sweep at as many of its seeds as make different runs, where `make_plan` refuses more.

    Raises
    ------
    InputError
        As of `make_plan`, for any other reason.
    """
    try:
        return make_plan(sweep)
    except InputError:
        first = make_plan(sweep._replace(seeds=sweep.seeds[:1]))
        counted, alike = _Counted(sweep), [point.setup for point in first.points if not draws(point.setup)]
        most = min((counted.of(setup) for setup in alike), default=len(sweep.seeds))
        if most == len(sweep.seeds):
            raise
        return make_plan(sweep._replace(seeds=sweep.seeds[:most]))


class _Counted:
    """How many different workloads the seeds make, counted once a workload and machine of a plan."""

    def __init__(self, sweep: Sweep) -> None:
        self._wanted, self._seeds = sweep.mechanism.engine.workload_kind, sweep.seeds
        self._known: dict[tuple[int, int], int] = {}

    def of(self, setup: Setup) -> int:
        """Return the number for a setup, whose parts the plan keeps alive."""
        key = id(setup.workload), id(setup.machine)
        if key not in self._known:
            self._known[key] = different_workloads(setup, self._wanted, self._seeds)
        return self._known[key]


def _refuse_repeats(sweep: Sweep, setup: Setup, counted: _Counted) -> None:
    """Refuse runs that are copies of each other, which are no sample: intervals over them would say what nobody
    measured."""
    if len(sweep.seeds) < 2 or draws(setup):
        return
    most = counted.of(setup)
    if len(sweep.seeds) > most:
        more = setup.workload.more_seeds
        cure = f" ({more})" if most == 1 and more else ""
        expected = f"must be at most {most}: this workload has no more different runs{cure}"
        raise wrong_value(sweep.where, "seeds", expected, len(sweep.seeds), most)


def uncached(part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
    """Read a part anew."""
    return read(raw)


def read_setup(sweep: Sweep, config: Mapping[str, Any], cached: PartReader = uncached) -> Setup:
    """Read the checked setup of one alternative; `cached` may remember parts that were read before."""
    engine, where = sweep.mechanism.engine, sweep.where
    machine = cached(
        "machine",
        config.get("machine") or {},
        lambda it: read_machine(engine.machine, it, sweep.folder, "machine", where),
    )
    workload = cached(
        "workload",
        config["workload"],
        lambda it: read_workload(it, "workload", where, sweep.folder, engine.workload_kind),
    )
    workload.check_machine(machine, "workload", where)
    policies = cached("policy", config.get("policy") or {}, lambda it: _policies(sweep, it, "policy"))
    options: Spec = cached(
        "options", config.get("options") or {}, lambda it: read_spec(engine.options, it, "options", where)
    )
    return Setup(engine.name, machine, workload, policies, options)


def _policies(sweep: Sweep, given: object, key: str) -> dict[str, Policy]:
    slots = sweep.mechanism.engine.slots
    if not isinstance(given, Mapping):
        raise wrong_value(sweep.where, key, f"must be a mapping of {', '.join(slots)}", given)
    for slot in given:
        if slot not in slots:
            raise unknown_name(at(sweep.where, key), "key", slot, slots)
    named = {slot: _from_file(sweep, given.get(slot, default)) for slot, default in slots.items()}
    same = {slot: policy for slot, policy in named.items() if isinstance(policy, str) and policy in slots}
    read = {
        slot: read_policy(sweep.mechanism.engine.question_of(slot), policy, f"{key}.{slot}", sweep.where)
        for slot, policy in named.items()
        if slot not in same
    }
    return {slot: read[same.get(slot, slot)] for slot in slots}


def _from_file(sweep: Sweep, given: Any) -> Any:
    """Return a policy named as `FILE.py:CLASS` (alone, or with its levers) as the class (or the policy) that it
    means."""
    if isinstance(given, str) and is_in_file(given):
        return policy_in_file(given, sweep.folder, sweep.where)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        if isinstance(name, str) and is_in_file(name):
            cls = policy_in_file(name, sweep.folder, sweep.where)
            return read_spec(cls, levers or {}, cls.name, sweep.where)
    return given


def _add_with_baseline(
    points: dict[str, PlannedPoint], sweep: Sweep, alternative: Point, cached: PartReader, named: PointIds
) -> None:
    """Add what an alternative stands for and then its baseline, each unless it is a point already."""
    setup, coordinates = read_setup(sweep, alternative.value, cached), alternative.coordinates
    baseline = _baseline(sweep, setup, cached)
    own, setup = named.of(setup)
    against, baseline = (own, None) if baseline is None else named.of(baseline)
    compared = {} if baseline is None else {f"policy.{slot}": None for slot in sweep.said["baseline"]}
    if own not in points:
        displayed = _shown({**compared, **coordinates}, setup)
        points[own] = PlannedPoint(own, setup, displayed, against if against != own else None)
    if baseline is not None and against not in points:
        kept = {path: value for path, value in coordinates.items() if not _replaced(sweep, path)}
        points[against] = PlannedPoint(against, baseline, _shown({**compared, **kept}, baseline), None)


def _baseline(sweep: Sweep, setup: Setup, cached: PartReader) -> Setup | None:
    given = sweep.said.get("baseline")
    if given is None:
        return None
    chosen = cached("baseline", given, lambda it: _policies(sweep, it, "baseline"))
    if not given:
        raise InputError(at(sweep.where, "baseline must name at least one policy, such as {placement: first_fit}."))
    replaced = [slot for slot in chosen if slot in given or _same_as(sweep, slot) in given]
    return setup._replace(policies={**setup.policies, **{slot: chosen[slot] for slot in replaced}})


def _same_as(sweep: Sweep, slot: str) -> str | None:
    """Return the slot whose policy another one takes, where the sweep says so or nothing; None where it has its own."""
    written = (sweep.said.get("policy") or {}).get(slot, sweep.mechanism.engine.slots[slot])
    return written if isinstance(written, str) and written in sweep.mechanism.engine.slots else None


def _replaced(sweep: Sweep, path: str) -> bool:
    return any(path == f"policy.{slot}" or path.startswith(f"policy.{slot}.") for slot in sweep.said["baseline"])


def _shown(coordinates: Mapping[str, Any], setup: Setup) -> dict[str, Any]:
    inner = [path.rsplit(".", 1)[-1] for path in coordinates]
    return {path: _show(path, value, setup, inner) for path, value in coordinates.items()}


def _show(path: str, value: Any, setup: Setup, inner: list[str]) -> Any:
    parts = path.split(".")
    if parts[0] == "policy" and len(parts) == 2:
        return setup.policies[parts[1]].short(always=inner)
    if parts[0] == "machine" and is_preset_file(value):
        return _file_name(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Spec):
        return value.short()
    if isinstance(value, Mapping) and parts in (["workload"], ["machine"]):
        value = {
            key: _file_name(inner) if key in ("file", "trace", "topology", "preset") else inner
            for key, inner in value.items()
        }
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inside),) = value.items()
        return f"{name}({_inside(inside)})" if inside else str(name)
    return _inside(value) if isinstance(value, (Mapping, list)) else value


def _file_name(given: Any) -> Any:
    """Return a file's name alone: where it lies says nothing about what was run."""
    return Path(given).name if isinstance(given, str) else given


def _inside(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_inside(v)}" for k, v in value.items())
    return ", ".join(_inside(v) for v in value) if isinstance(value, list) else str(value)


_DIGITS = 4


def told_apart(points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
    """Return the points; where two that differ in the user's code show the same, each shows digits of its code too.

    So `make(0)` and `make(60)`, two classes `Mine`, are `mine#1f0c` and `mine#83ab`, in every session.
    """
    known = list(points)
    alike: dict[str, list[int]] = {}
    for place, point in enumerate(known):
        if point.setup.code:
            alike.setdefault(repr(list(point.coordinates.items())), []).append(place)
    for places in alike.values():
        if len({_code(known[place]) for place in places}) > 1:
            for place in places:
                known[place] = _marked(known[place])
    return known


def _code(point: PlannedPoint) -> str:
    return digest(" ".join(digest for _, digest in point.setup.code))


def _marked(point: PlannedPoint) -> PlannedPoint:
    policies = [path for path in point.coordinates if path.startswith("policy.")] or list(point.coordinates)
    if not policies:
        return point
    text = f"{point.coordinates[policies[0]]}#{_code(point)[:_DIGITS]}"
    return point._replace(coordinates={**point.coordinates, policies[0]: text})


PartReader = Callable[[str, Any, Callable[[Any], Any]], Any]
"""Map a part's name, its raw value and its parser to the parsed value, perhaps from a cache."""


class ParseCache:
    """Caches parsed plain values; a value that holds objects is parsed anew each time.

    >>> cached, read = ParseCache(), []
    >>> def length(raw):
    ...     read.append(raw)
    ...     return len(raw)
    >>> [cached("size", raw, length) for raw in ([1, 2], [1, 2], [1, 2.0], [object(), object()])]
    [2, 2, 2, 2]
    >>> len(read)
    3
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Any] = {}

    def __call__(self, part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
        try:
            key = part, marshal.dumps(raw, 2)
        except ValueError:
            return read(raw)
        if key not in self._known:
            self._known[key] = read(raw)
        return self._known[key]


def read_machine(of: type[Described], raw: Any, folder: Path, path: str = "machine", where: str = "") -> Any:
    """Read the machine of a kind that a sweep describes, with the files that are named in it.

    Raises
    ------
    InputError
        A file is not there or not as it must be, or a preset or lever is unknown; the message holds the path.
    """
    return of.read(with_topology(with_preset(of, raw, folder, at(where, path)), folder), path, where)


def with_preset(of: type[Described], raw: Any, folder: Path, where: str) -> Any:
    """Return what a sweep says of its machine, or of a part of a node, with a preset's file written out as levers."""
    if is_preset_file(raw):
        raw = {"preset": raw}
    if not isinstance(raw, Mapping):
        return raw
    parts = {name: of.levers[name].spec for name in of.nested}
    kinds = {name: kind for name, kind in parts.items() if kind is not None and issubclass(kind, Described)}
    levers = {k: with_preset(kinds[k], value, folder, where) if k in kinds else value for k, value in raw.items()}
    if not is_preset_file(levers.get("preset")):
        return levers
    return {**preset_in_file(levers.pop("preset"), folder, where, of).machine().values(), **levers}


TOPOLOGY = "topology"


def with_topology(raw: Any, folder: Path) -> Any:
    """Return what a sweep says of its machine with the path of its topology file, as seen from the sweep's folder.

    A file that is there comes first, then a public trace of that name; what is neither stays, for its reader to refuse.

    >>> with_topology({"topology": "absent.xml", "card_bytes": 100}, Path("."))
    {'topology': 'absent.xml', 'card_bytes': 100}

    Raises
    ------
    InputError
        It is a public topology that is not on this machine.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get(TOPOLOGY), str):
        return raw
    name = raw[TOPOLOGY]
    file = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if file is None and name in catalogue():
        file = locate(name)
    return raw if file is None else {**raw, TOPOLOGY: str(file.absolute())}


class Point(NamedTuple):
    """One alternative: what it says, and which choice it made at each path."""

    value: Any
    coordinates: dict[str, Any]
    steps: dict[str, int]
    """The position of each zip name."""


def expand(node: Any, path: str = "", where: str = "") -> list[Point]:
    """Return every alternative of a node, the last choice varying fastest.

    >>> [p.value for p in expand({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4]}})]
    [{'a': 1, 'b': 3}, {'a': 1, 'b': 4}, {'a': 2, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.value for p in expand({"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": [3, 4], "zip": "z"}})]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.coordinates for p in expand({"a": [5, {"vary": [1, 2]}]})]
    [{'a[1]': 1}, {'a[1]': 2}]
    """
    if isinstance(node, Mapping) and "vary" in node:
        return list(_varied(node, path, where))
    if isinstance(node, Mapping):
        parts = [expand(value, f"{path}.{key}" if path else str(key), where) for key, value in node.items()]
        return [_joined(dict(zip(node, _values(chosen))), chosen) for chosen in _zipped(parts, where)]
    if isinstance(node, (list, tuple)):
        parts = [expand(value, f"{path}[{k}]", where) for k, value in enumerate(node)]
        return [_joined(_values(chosen), chosen) for chosen in _zipped(parts, where)]
    return [Point(node, {}, {})]


def _varied(node: Mapping[str, Any], path: str, where: str) -> Iterator[Point]:
    for key in node:
        if key not in ("vary", "zip"):
            raise unknown_name(at(where, path), "key", key, ("vary", "zip"))
    items = node["vary"]
    if not isinstance(items, (list, tuple)) or not items:
        raise wrong_value(where, f"{path}.vary", "must be a list of at least one choice", items)
    for step, item in enumerate(items):
        for inner in expand(item, path, where):
            steps = {**inner.steps, **({str(node["zip"]): step} if "zip" in node else {})}
            yield Point(inner.value, {path: inner.value, **inner.coordinates}, steps)


def _zipped(parts: list[list[Point]], where: str) -> Iterator[tuple[Point, ...]]:
    _refuse_uneven(parts, where)
    return zip_choices(parts)


def _refuse_uneven(parts: list[list[Point]], where: str) -> None:
    lengths: dict[str, int] = {}
    for part in parts:
        for name in {name for point in part for name in point.steps}:
            length = 1 + max(point.steps[name] for point in part if name in point.steps)
            if lengths.setdefault(name, length) != length:
                sentence = f"choices zipped as {name!r} must be equally many. Got {lengths[name]} and {length}."
                raise InputError(at(where, sentence))


def _values(chosen: tuple[Point, ...]) -> list[Any]:
    return [point.value for point in chosen]


def _joined(value: Any, chosen: tuple[Point, ...]) -> Point:
    coordinates = {path: choice for point in chosen for path, choice in point.coordinates.items()}
    steps = {name: step for point in chosen for name, step in point.steps.items()}
    return Point(value, coordinates, steps)


class Stepped(Protocol):
    """A choice that stands at a step of each of its zips."""

    @property
    def steps(self) -> Mapping[str, int]:
        """Return the position of each zip name."""


Choice = TypeVar("Choice", bound=Stepped)


def zip_choices(parts: Sequence[Sequence[Choice]]) -> Iterator[tuple[Choice, ...]]:
    """Return one choice of each part, in every way that agrees; the last part varies fastest.

    Parts are looked up by their steps: thousands of zipped choices take as many looks, not their product.
    """
    combinations: list[tuple[tuple[Choice, ...], dict[str, int]]] = [((), {})]
    for part in parts:
        fitting = _Fitting(part)
        combinations = [
            ((*chosen, choice), {**steps, **choice.steps})
            for chosen, steps in combinations
            for choice in fitting.of(steps)
        ]
    return (chosen for chosen, _ in combinations)


class _Fitting:
    """The choices of a part, to be found by the steps that are taken already."""

    def __init__(self, part: Sequence[Any]) -> None:
        self._kinds: dict[tuple[str, ...], list[tuple[int, Any]]] = {}
        for place, choice in enumerate(part):
            self._kinds.setdefault(tuple(choice.steps), []).append((place, choice))
        self._table = functools.cache(self._indexed)

    def of(self, steps: Mapping[str, int]) -> list[Any]:
        """Return those that agree with some steps, in their order."""
        fitting: list[tuple[int, Any]] = []
        for names in self._kinds:
            shared = tuple(name for name in names if name in steps)
            fitting += self._table(names, shared).get(tuple(steps[name] for name in shared), [])
        return [choice for _, choice in (sorted(fitting, key=_place) if len(self._kinds) > 1 else fitting)]

    def _indexed(self, names: tuple[str, ...], shared: tuple[str, ...]) -> dict[tuple[int, ...], list[tuple[int, Any]]]:
        table: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
        for place, choice in self._kinds[names]:
            table.setdefault(tuple(choice.steps[name] for name in shared), []).append((place, choice))
        return table


def _place(entry: tuple[int, Any]) -> int:
    return entry[0]


Tally = Counter[frozenset[tuple[str, int]]]
"""How many alternatives stand at each set of (zip name, step)."""


class _Weighted(NamedTuple):
    """Alternatives that stand at the same steps."""

    steps: dict[str, int]
    alternatives: int


def refuse_too_many(node: Any, most: int, where: str = "") -> None:
    """Refuse a mapping that stands for more points than there may be.

    Raises
    ------
    InputError
        It does; the sentence says how many.

    Examples
    --------
    >>> refuse_too_many({key: {"vary": [0] * 1000} for key in "abc"}, 100_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: its choices multiply to 1,000,000,000 points, more than most_points (100,000); ...
    """
    count, exact = count_points(node, most)
    if count > most:
        about = "" if exact else "at least "
        cure = "vary less at once, zip what belongs together, draw points by a `design`, or say `most_points`"
        sentence = f"its choices multiply to {about}{count:,} points, more than most_points ({most:,}); {cure}."
        raise InputError(at(where, sentence))


def count_points(node: Any, most: int) -> tuple[int, bool]:
    """Return how many points a mapping stands for, and whether that is exact.

    Parameters
    ----------
    most : int
        The number that matters: beyond it unrelated zips are not counted to their end.

    Examples
    --------
    >>> count_points({"a": {"vary": [1, 2]}, "b": {"vary": [1, 2, {"vary": [3, 4]}]}}, 100)
    (8, True)
    """
    counting = _Counting(most)
    return counting.of(node).total(), not counting.at_least


class _Counting:
    """Counts alternatives; where unrelated zips alone make more points than there may be, that many are enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.at_least = False
        """Whether there are more still."""

    def of(self, node: Any) -> Tally:
        """Return the tally of a node; one that no `expand` would take counts as one, and is refused there."""
        if isinstance(node, Mapping) and "vary" in node:
            return self._varied(node)
        if isinstance(node, Mapping):
            return self._joined(node.values())
        if isinstance(node, (list, tuple)):
            return self._joined(node)
        return Tally({frozenset(): 1})

    def _varied(self, node: Mapping[str, Any]) -> Tally:
        tally, items = Tally(), node["vary"]
        for step, item in enumerate(items if isinstance(items, (list, tuple)) else ()):
            own = {str(node["zip"]): step} if "zip" in node else {}
            for steps, count in self.of(item).items():
                tally[frozenset({**dict(steps), **own}.items())] += count
        return tally or Tally({frozenset(): 1})

    def _joined(self, nodes: Iterable[Any]) -> Tally:
        tally, factor = Tally({frozenset(): 1}), 1
        for part in map(self.of, nodes):
            if set(part) == {frozenset()}:
                factor *= part[frozenset()]
            elif self._apart(tally, part) and len(tally) * len(part) > self._most:
                self.at_least = True
                return Tally({frozenset(): factor * tally.total() * part.total()})
            else:
                tally = _count_zipped(tally, part)
        return Tally({steps: count * factor for steps, count in tally.items()})

    @staticmethod
    def _apart(one: Tally, other: Tally) -> bool:
        """Return whether two tallies have no zip name in common."""
        names = [{name for steps in tally for name, _ in steps} for tally in (one, other)]
        return not (names[0] & names[1])


def _count_zipped(one: Tally, other: Tally) -> Tally:
    parts = [[_Weighted(dict(steps), count) for steps, count in tally.items()] for tally in (one, other)]
    result = Tally()
    for together in zip_choices(parts):
        steps = {name: step for part in together for name, step in part.steps.items()}
        result[frozenset(steps.items())] += prod(part.alternatives for part in together)
    return result
