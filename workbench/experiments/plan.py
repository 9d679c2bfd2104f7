"""A plan: every point of a sweep with its setup, label and baseline, and every run by name, before anything runs."""

from __future__ import annotations

import copy
import functools
import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError, at, wrong_value
from workbench.experiments.alternatives import Alternatives
from workbench.experiments.choices import Point, refuse_too_many
from workbench.experiments.coordinates import FileNames, display_values, distinguished
from workbench.experiments.designs.draw import with_choices
from workbench.experiments.seeds import different_workloads, draws
from workbench.experiments.setups import ParseCache, PartReader, read_policies, read_setup
from workbench.experiments.shards import Part, Shard, dealt
from workbench.experiments.sweep import Sweep, most_points
from workbench.identity import one_moment
from workbench.identity.observed import observed
from workbench.runs.faults import chosen, raised_in_planning
from workbench.runs.interrupts import noticed
from workbench.runs.run import PlannedPoint, PlannedRun, run_id
from workbench.runs.user_code import PointIds, has_own_code


@dataclass(frozen=True, repr=False)
class Plan:
    """All of a sweep's runs, or those of a shard."""

    sweep: Sweep
    points: list[PlannedPoint]
    part: Part | None = None
    """What it has of the sweep; None = everything."""

    def __repr__(self) -> str:
        return f"Plan({plan_size_text(self)})"

    def runs(self) -> Iterator[PlannedRun]:
        """Yield every run, all points of a seed before the next seed, so that pairs are complete as early as
        possible."""
        ids = iter(self.ids)
        for seed in self.sweep.seeds:
            for point in self._points_at(seed):
                yield PlannedRun(next(ids), point, seed)

    @functools.cached_property
    def ids(self) -> list[str]:
        """Return the id of every run, in the order of `runs`."""
        return [run_id(point.id, seed) for seed in self.sweep.seeds for point in self._points_at(seed)]

    def __len__(self) -> int:
        if self.part is None or not self.part.seeds:
            return len(self.points) * len(self.sweep.seeds)
        return len(self.ids)

    def _points_at(self, seed: int) -> Iterable[PlannedPoint]:
        """Return the points that have a run at a seed."""
        if self.part is None or not self.part.seeds:
            return self.points
        some = self.part.seeds
        return (point for point in self.points if point.id not in some or seed in some[point.id])


def plan_size_text(plan: Plan) -> str:
    """Return the numbers of points, seeds and runs, as they are or may be."""
    if plan.part is not None:
        return f"{plan.part.shard.name}: {_many(len(plan), 'run')}, of {_many(len(plan.points), 'point')}"
    most = "at most " if plan.sweep.until is not None else ""
    points, seeds = _many(len(plan.points), "point"), _many(len(plan.sweep.seeds), "seed")
    return f"{points} x {most}{seeds} = {most}{_many(len(plan), 'run')}"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


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
def make_plan(sweep: Sweep, unread: list[str] | None = None, shard: Shard | None = None) -> Plan:
    """Expand a sweep, read every setup, add baselines that are not points already, and admit the first seed of each.

    Parameters
    ----------
    unread : list of str, optional
        Takes one sentence an alternative that cannot be read or admitted here, which is then left out of the plan;
        without a list the first such ends in an error.
    shard : Shard, optional
        Plan this part alone: no other point is made.

    Raises
    ------
    InputError
        A setup is not valid, with the path of the offending key. Or a workload asks for what its machine cannot give,
        a user's policy, workload or engine raised, whatever it raised, or the sweep has no such shard.
    """
    points, part = _points_read(sweep, unread, shard)
    counted = _Counted(sweep)
    for id, point in list(points.items()):
        try:
            with observed(id) if has_own_code(point.setup, sweep.user_measures) else nullcontext():
                _admit(sweep, point, counted)
        except BaseException as problem:
            _note(unread, problem, sweep.where, point.coordinates, point.setup)
            del points[id]
    return Plan(sweep, distinguished(points.values()), part)


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
    points = list(_points_read(sweep, None)[0].values())
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


def _points_read(
    sweep: Sweep, unread: list[str] | None, shard: Shard | None = None
) -> tuple[dict[str, PlannedPoint], Part | None]:
    varied = copy.deepcopy(with_choices(sweep))
    refuse_too_many(varied, most_points(sweep.config, sweep.where), sweep.where)
    points: dict[str, PlannedPoint] = {}
    names = FileNames(varied, sweep.folder)
    read, named = ParseCache(), PointIds(sweep.mechanism.revision)
    alternatives = Alternatives(varied, "", sweep.where, names)
    some = None if shard is None else _alternatives_of(sweep, alternatives, shard)
    places, seeds = dict[str, tuple[int, int]](), dict[str, frozenset[int]]()
    for index in range(len(alternatives)) if some is None else some:
        alternative = alternatives[index]
        try:  # a context manager would cost a quarter of what planning a point does
            added = _add_with_baseline(points, sweep, alternative, read, named, names)
        except BaseException as problem:
            _note(unread, problem, sweep.where, alternative.coordinates)
            continue
        if some is not None:
            for id, is_baseline in added:
                places.setdefault(id, (index, is_baseline))
                seeds[id] = seeds.get(id, frozenset()) | some[index]
    if shard is None:
        return points, None
    return points, Part(shard, places, {id: of for id, of in seeds.items() if len(of) < len(sweep.seeds)})


def _alternatives_of(sweep: Sweep, alternatives: Alternatives, shard: Shard) -> dict[int, frozenset[int]]:
    """Return the alternatives of a shard by index, in their order, each with its seeds."""
    if sweep.until is not None:
        why = "seeds.until looks at the runs of all points, and a shard has those of some; say how many seeds there are"
        raise InputError(at(sweep.where, f"--shard {shard}: {why}."))
    compared = bool(sweep.config.get("baseline"))
    groups = alternatives.groups(lambda path: compared and _replaced(sweep, path))
    result: dict[int, frozenset[int]] = {}
    for group, (first, end) in dealt(len(groups), len(sweep.seeds), shard, sweep.where).items():
        result.update(dict.fromkeys(groups[group], frozenset(sweep.seeds[first:end])))
    return dict(sorted(result.items()))


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
        for one in sweep.user_measures.values():
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
    """Refuse runs that are copies of each other, which are no sample: intervals over them would have no meaning."""
    if len(sweep.seeds) < 2 or draws(setup):
        return
    most = counted.of(setup)
    if len(sweep.seeds) > most:
        more = setup.workload.more_seeds
        cure = f" ({more})" if most == 1 and more else ""
        expected = f"must be at most {most}: this workload has no more different runs{cure}"
        raise wrong_value(sweep.where, "seeds", expected, len(sweep.seeds), most)


def _add_with_baseline(
    points: dict[str, PlannedPoint],
    sweep: Sweep,
    alternative: Point,
    cached: PartReader,
    named: PointIds,
    names: FileNames,
) -> list[tuple[str, int]]:
    """Add what an alternative stands for and then its baseline, each unless it is a point already.

    Returns the id of each, with 1 for that of the baseline and 0 for the other.
    """
    setup, coordinates = read_setup(sweep, alternative.value, cached), alternative.coordinates
    baseline = _baseline(sweep, setup, cached)
    point_id, setup = named.of(setup)
    against, baseline = (point_id, None) if baseline is None else named.of(baseline)
    compared = {} if baseline is None else {f"policy.{slot}": None for slot in sweep.config["baseline"]}
    if point_id not in points:
        displayed = display_values({**compared, **coordinates}, setup, names)
        points[point_id] = PlannedPoint(point_id, setup, displayed, against if against != point_id else None)
    if baseline is not None and against not in points:
        kept = {path: value for path, value in coordinates.items() if not _replaced(sweep, path)}
        points[against] = PlannedPoint(against, baseline, display_values({**compared, **kept}, baseline, names), None)
    return [(point_id, 0), *([(against, 1)] if baseline is not None else [])]


def _baseline(sweep: Sweep, setup: Setup, cached: PartReader) -> Setup | None:
    given = sweep.config.get("baseline")
    if given is None:
        return None
    chosen = cached("baseline", given, lambda it: read_policies(sweep, it, "baseline"))
    if not given:
        raise InputError(at(sweep.where, "baseline must name at least one policy, such as {placement: first_fit}."))
    replaced = [slot for slot in chosen if slot in given or _same_as(sweep, slot) in given]
    return setup._replace(policies={**setup.policies, **{slot: chosen[slot] for slot in replaced}})


def _same_as(sweep: Sweep, slot: str) -> str | None:
    """Return the slot whose policy another one takes, where the sweep says so or nothing; None where it has its own."""
    written = (sweep.config.get("policy") or {}).get(slot, sweep.mechanism.engine.slots[slot])
    return written if isinstance(written, str) and written in sweep.mechanism.engine.slots else None


def _replaced(sweep: Sweep, path: str) -> bool:
    return any(path == f"policy.{slot}" or path.startswith(f"policy.{slot}.") for slot in sweep.config["baseline"])
