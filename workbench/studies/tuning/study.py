"""A study: a sweep whose choices are made by a tuner, the objectives, and who proposes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError, at, nearest_name, unknown_name, wrong_value
from workbench.experiments.sweep import KEYS, Sweep, checked_sweep, override, read_seeds, said_by
from workbench.metrics.measure import Measure
from workbench.studies.tuning.read_space import read_space
from workbench.studies.tuning.sampler import Sampler
from workbench.studies.tuning.space import Levers, dimensions

Direction = Literal["minimize", "maximize"]

STUDY_KEYS = {
    "objectives": "which measures are tuned for: names, or {measure: NAME, direction: minimize or maximize}",
    "sampler": "who proposes, such as {nsga2: {population: 40, seed: 1}}",
    "trials": "how many combinations are tried",
    "holdout_seeds": "fresh seeds on which the best combinations are run again",
}
_NOT_OF_A_STUDY = ("figures", "measures")
_DIRECTIONS: dict[str, Direction] = {"lower": "minimize", "higher": "maximize"}
MOST_TRIALS = 1_000_000


class Objective(NamedTuple):
    """One measure that is tuned for, in the mean over the seeds."""

    measure: Measure
    direction: Direction

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Which values are good, in the words of a measure."""
        return "lower" if self.direction == "minimize" else "higher"


class Study(NamedTuple):
    """A study as it was read."""

    name: str
    sweep: Sweep
    """Everything but the choices; `said` still holds every `tune`."""
    said: dict[str, Any]
    """The whole mapping."""
    space: Levers
    objectives: tuple[Objective, ...]
    sampler: Sampler
    trials: int
    holdout_seeds: list[int]


def read_study(source: str | Path | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Study:
    """Read a study file (or a mapping), apply overrides by dotted path, and check all of it.

    Raises
    ------
    InputError
        A key, measure, sampler, policy or lever is unknown, a range is not allowed, nothing is tuned, or the seeds of
        the last comparison are not fresh.
    """
    said, where, folder, name = said_by(source)
    where = "study" if isinstance(source, Mapping) else where
    for path, value in (overrides or {}).items():
        override(said, path, value, where)
    _check_keys(said, where)
    sweep = _sweep(said, name if where != "study" else "study", where, folder)
    if sweep.until is not None:
        raise InputError(at(where, "seeds.until has no place in a study: every trial has the same seeds."))
    space = read_space(sweep)
    if not any(True for _ in dimensions(space)):
        raise InputError(at(where, "nothing is tuned; write {tune: true} or {tune: [...]} at a policy or a lever."))
    objectives = tuple(_objective(one, k, sweep, where) for k, one in enumerate(_listed(said, where)))
    return Study(
        name=sweep.name,
        sweep=sweep._replace(measures=[one.measure.name for one in objectives]),
        said=said,
        space=space,
        objectives=_different(objectives, where),
        sampler=Sampler.read(said["sampler"], "sampler", where),
        trials=read_trials(said.get("trials", 100), where),
        holdout_seeds=_holdout(said, sweep.seeds, where),
    )


def read_trials(given: object, where: str = "") -> int:
    """How many trials are asked for."""
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_TRIALS:
        raise wrong_value(where, "trials", f"must be a whole number from 1 to {MOST_TRIALS}", given)
    return given


def _check_keys(said: Mapping[str, Any], where: str) -> None:
    known = {key: says for key, says in {**KEYS, **STUDY_KEYS}.items() if key not in _NOT_OF_A_STUDY}
    for key in said:
        if key not in known:
            raise unknown_name(where, "key", key, known)
    for key in ("objectives", "sampler"):
        if key not in said:
            raise InputError(at(where, f"the key {key} is missing ({STUDY_KEYS[key]})."))


def _sweep(said: Mapping[str, Any], name: str, where: str, folder: Path) -> Sweep:
    return checked_sweep({key: value for key, value in said.items() if key in KEYS}, name, where, folder)


def _listed(said: Mapping[str, Any], where: str) -> list[Any]:
    given = said["objectives"]
    if not isinstance(given, list) or not given:
        raise wrong_value(where, "objectives", "must be a list of at least one measure", given)
    return given


def _objective(given: Any, place: int, sweep: Sweep, where: str) -> Objective:
    path = f"objectives[{place}]"
    one = {"measure": given} if isinstance(given, str) else given
    if not isinstance(one, Mapping) or "measure" not in one:
        raise wrong_value(where, path, "must be a measure's name or {measure: , direction: }", given)
    for key in one:
        if key not in ("measure", "direction"):
            raise unknown_name(at(where, path), "key", key, ("measure", "direction"))
    known = sweep.mechanism.measures
    if not isinstance(one["measure"], str) or one["measure"] not in known:
        raise unknown_name(at(where, path), "measure", one["measure"], known)
    measure = known[one["measure"]]
    return Objective(measure, _direction(one.get("direction", _DIRECTIONS.get(measure.better)), measure, path, where))


def _direction(given: Any, measure: Measure, path: str, where: str) -> Direction:
    if given in ("minimize", "maximize"):
        return "minimize" if given == "minimize" else "maximize"
    names = ("minimize", "maximize")
    expected = f"must be minimize or maximize, for {measure.name} is neither better low nor high"
    plainly = "must be minimize or maximize"
    wanted = expected if given is None else plainly
    raise wrong_value(where, f"{path}.direction", wanted, given, nearest_name(given, names) if given else None)


def _different(objectives: tuple[Objective, ...], where: str) -> tuple[Objective, ...]:
    names = [one.measure.name for one in objectives]
    if len(set(names)) != len(names):
        raise wrong_value(where, "objectives", "must be different measures", names)
    return objectives


def _holdout(said: Mapping[str, Any], tuned_on: list[int], where: str) -> list[int]:
    given = said.get("holdout_seeds", {"first": max(tuned_on) + 1, "count": 20})
    if isinstance(given, int) and not isinstance(given, bool):
        given = {"first": max(tuned_on) + 1, "count": given}
    try:
        seeds = read_seeds(given)
    except InputError as wrong:
        raise InputError(at(where, f"holdout_seeds: {wrong}")) from None
    both = sorted(set(seeds) & set(tuned_on))
    if both:
        raise InputError(at(where, f"holdout_seeds must be fresh: seed {both[0]} is one that is tuned on."))
    return seeds
