"""A study as its file describes it, one trial of it, and the address of the database that keeps its trials.

A study is a sweep whose choices are made by a sampler. `storage: postgresql://user@host/base` keeps its trials in a
database; without it they are in the journal of its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.choices import expand
from workbench.experiments.coordinates import FileNames
from workbench.experiments.setups import read_setup
from workbench.experiments.sweep import KEYS, MOST_SEEDS, Sweep, checked_sweep, override, read_config, read_seeds
from workbench.levers import Spec
from workbench.runs.run import PlannedPoint, point_id
from workbench.runs.user_code import with_code
from workbench.tuning.dimension import Dimension
from workbench.tuning.objectives import (
    Constraint,
    Objective,
    Pruning,
    read_constraints,
    read_objectives,
    read_pruning,
)
from workbench.tuning.samplers import ByOptuna, Sampler, default_sampler, read_sampler
from workbench.tuning.space import Levers, dimensions, draw, size
from workbench.tuning.space_file import TUNE, candidate_name, holds_tune, read_space

STUDY_KEYS = {
    "objectives": "which measures are tuned for: names, or {measure: NAME, direction: minimize or maximize}",
    "constraints": "bounds that measures must keep, such as {wait_p99_cycles: {most: 5000}}",
    "sampler": "who proposes, such as {nsga2: {population: 40, seed: 1}}, or by Optuna's name; tpe if it is left out",
    "trials": "how many combinations are tried",
    "pruning": "when a hopeless trial is given up, such as {after: 2, margin: 0.05}; off unless said",
    "holdout_seeds": "fresh seeds on which the best combinations are run again, and the one to take is chosen",
    "report_seeds": "further seeds on which that one is compared with the baseline; {most: 200} unless said",
    "rivals": "policies that are tuned with the same trials and seeds, and compared with the best at the end",
    "storage": "where trials are kept: a journal in the results folder unless a database is named",
}
_NOT_OF_A_STUDY = ("figures", "measures", "vary")
MOST_TRIALS = 1_000_000
MOST_REPORT = 200
"""Seeds of the report, where the study does not say how many at most."""
_PASSWORD = re.compile(r"(?<=://)(?P<user>[^:/@]*):[^@]*@")


class StorageAddress(NamedTuple):
    """A study in a database."""

    url: str
    study: str
    """Its name there."""

    @property
    def without_password(self) -> str:
        """Return the address as people may see it: without a password."""
        return hidden(self.url)

    @property
    def file(self) -> Path | None:
        """Return the file of an SQLite database."""
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite:") else None

    @property
    def driven(self) -> str:
        """Return the address with the driver that the workbench installs."""
        return self.url.replace("postgresql://", "postgresql+psycopg://", 1)


def hidden(text: str) -> str:
    """Return a text whose addresses lack their passwords.

    >>> hidden("postgresql://ada:secret@cluster/tuning")
    'postgresql://ada@cluster/tuning'
    """
    return _PASSWORD.sub(r"\g<user>@", text)


class Study(NamedTuple):
    """A study as it was read."""

    name: str
    sweep: Sweep
    """Everything but the choices; `config` still holds every `tune`."""
    config: dict[str, Any]
    """The whole mapping."""
    space: Levers
    workloads: tuple[tuple[str, Any], ...]
    """The name of each workload, and what the sweep says of it."""
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    sampler: Sampler | ByOptuna
    trials: int
    tries_all: bool
    """Whether there are no more settings than trials: then each is tried once, and no sampler is asked."""
    pruning: Pruning | None
    holdout_seeds: list[int]
    report_seeds: list[int]
    """The most seeds of the report where `report_by_spread` is true."""
    report_by_spread: bool
    storage: StorageAddress | None
    """The database that keeps the trials; None = the journal of the results folder."""
    rivals: Mapping[str, Study]
    """Studies of policies that are tuned with the same trials and seeds, by their names."""

    @property
    def workload_names(self) -> list[str]:
        """Return the names of its workloads; of one alone there may be none."""
        return [name for name, _ in self.workloads]

    @property
    def runs_a_trial(self) -> int:
        """Return the number of runs of a trial that is not given up."""
        return len(self.workloads) * len(self.sweep.seeds)

    def with_trials(self, trials: int) -> Study:
        """Return the same study, and its rivals, with another number of trials."""
        rivals = {name: rival.with_trials(trials) for name, rival in self.rivals.items()}
        return self._replace(trials=trials, tries_all=self.tries_all or size(self.space) <= trials, rivals=rivals)


def read_study(source: str | Path | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Study:
    """Read a study file (or a mapping), apply overrides by dotted path, and check all of it.

    Raises
    ------
    InputError
        A key, measure, sampler, policy or lever is unknown, a range is not allowed, nothing is tuned, the sampler does
        not serve such a study, or the seeds of the last comparison are not fresh.
    """
    config, where, folder, name = read_config(source)
    where = "study" if isinstance(source, Mapping) else where
    for path, value in (overrides or {}).items():
        override(config, path, value, where)
    _check_keys(config, where)
    return _read(config, name if where != "study" else "study", where, folder)


def _read(config: dict[str, Any], name: str, where: str, folder: Path) -> Study:
    """Return the study that a mapping describes, with its rivals."""
    sweep = _sweep(config, name, where, folder)
    if sweep.until is not None:
        raise InputError(at(where, "seeds.until has no place in a study: every trial has the same seeds."))
    space = read_space(sweep)
    if not any(dimensions(space)):
        raise InputError(at(where, "nothing is tuned; write {tune: true} or {tune: [...]} at a policy or a lever."))
    objectives = read_objectives(config["objectives"], sweep, where)
    constraints = read_constraints(config.get("constraints", {}), sweep, where)
    measures = [one.measure.name for one in objectives] + [one.measure.name for one in constraints]
    if config.get("sampler") is None:
        config["sampler"] = default_sampler(sweep.seeds[0])
    sampler = read_sampler(config["sampler"], "sampler", where)
    sampler.check_study(len(objectives), len(constraints), list(dimensions(space)), where)
    used = {"is tuned on": sweep.seeds}
    holdout = _fresh_seeds(config, "holdout_seeds", used, 20, where)
    used["is one of holdout_seeds"] = holdout
    trials = read_trials(config.get("trials", 100), where)
    most, by_spread = _most_report_seeds(config.get("report_seeds", {"most": MOST_REPORT}), where)
    return Study(
        name=sweep.name,
        sweep=sweep._replace(measures=list(dict.fromkeys(measures))),
        config=config,
        space=space,
        workloads=_workloads(sweep),
        objectives=objectives,
        constraints=constraints,
        sampler=sampler,
        trials=trials,
        tries_all=size(space) <= trials,
        pruning=read_pruning(config.get("pruning"), len(sweep.seeds), where),
        holdout_seeds=holdout,
        report_seeds=_fresh_seeds(config, "report_seeds", used, most, where),
        report_by_spread=by_spread,
        storage=read_storage(config.get("storage"), sweep.name, where),
        rivals={rival: _read(own, own_name, where, folder) for rival, own_name, own in _rivals(config, sweep)},
    )


def _rivals(config: Mapping[str, Any], sweep: Sweep) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each rival's name, the name of its study, and that study: the same but for the policy."""
    given, known = config.get("rivals", []), set[str]()
    if not isinstance(given, list):
        raise wrong_value(sweep.where, "rivals", "must be a list of policies, such as [best_fit]", given)
    for place, item in enumerate(given):
        path = f"rivals[{place}]"
        slot, policy, name = _rival(sweep, item, path)
        if name in known:
            raise InputError(at(sweep.where, f"{path} names {name} twice; write one {name} with tune at its levers."))
        known.add(name)
        tuned = {**(sweep.config.get("policy") or {}), slot: {TUNE: [policy]}}
        own = {**{key: value for key, value in config.items() if key != "rivals"}, "policy": tuned}
        if "storage" in own:
            address = read_storage(own["storage"], sweep.name, sweep.where)
            own |= {} if address is None else {"storage": {"url": address.url, "study": f"{address.study}_{name}"}}
        yield name, f"{sweep.name}_{name}", own


def _rival(sweep: Sweep, item: Any, path: str) -> tuple[str, Any, str]:
    """Return the slot of a rival, the policy as it is written, and its name."""
    engine = sweep.mechanism.engine
    for slot, policy in item.items() if isinstance(item, Mapping) and len(item) == 1 else ():
        if slot in engine.slots:
            return slot, policy, candidate_name(sweep, engine.question_of(slot), policy, f"{path}.{slot}")
    slots = sorted(sweep.config.get("policy") or engine.slots, key=lambda slot: not _is_open(sweep, slot))
    refusals = []
    for slot in slots:
        try:
            return slot, item, candidate_name(sweep, engine.question_of(slot), item, path)
        except InputError as refused:
            refusals.append(refused)
    raise refusals[0]


def _is_open(sweep: Sweep, slot: str) -> bool:
    """Return whether a study chooses something in a slot."""
    return holds_tune((sweep.config.get("policy") or {}).get(slot))


def read_trials(given: object, where: str = "") -> int:
    """Return the number of requested trials."""
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_TRIALS:
        raise wrong_value(where, "trials", f"must be a whole number from 1 to {MOST_TRIALS}", given)
    return given


def _check_keys(config: Mapping[str, Any], where: str) -> None:
    known = {key: says for key, says in {**KEYS, **STUDY_KEYS}.items() if key not in _NOT_OF_A_STUDY}
    for key in config:
        if key not in known:
            raise unknown_name(where, "key", key, known)
    if "objectives" not in config:
        raise InputError(at(where, f"the key objectives is missing ({STUDY_KEYS['objectives']})."))


def _sweep(config: Mapping[str, Any], name: str, where: str, folder: Path) -> Sweep:
    kept = {key: value for key, value in config.items() if key in KEYS}
    return checked_sweep(kept, name, where, folder, _named_measures(config))


def _workloads(sweep: Sweep) -> tuple[tuple[str, Any], ...]:
    """Return every workload that a study varies, by the values of its choices; the only one of most studies."""
    names = FileNames({"workload": sweep.config["workload"]}, sweep.folder)
    points = expand(sweep.config["workload"], "workload", sweep.where, names)
    return tuple((", ".join(_short(names.shown(one)) for one in p.coordinates.values()), p.value) for p in points)


def _short(value: Any) -> str:
    """Return a workload, or a part of one, as a table names it.

    >>> _short({"regime": "bimodal", "count": 40}), _short("bimodal"), _short({"uniform": [1, 16]})
    ('bimodal, count 40', 'bimodal', 'uniform(1, 16)')
    """
    if not isinstance(value, Mapping):
        return str(value)
    (key, first), *rest = value.items()
    named = f"{key}({', '.join(map(str, first))})" if isinstance(first, (list, tuple)) else str(first)
    return ", ".join([named, *(f"{name} {inner}" for name, inner in rest)])


def _named_measures(config: Mapping[str, Any]) -> list[Any]:
    """Return whatever stands where an objective or a constraint names its measure."""
    objectives = config["objectives"] if isinstance(config["objectives"], list) else []
    named = [one.get("measure") if isinstance(one, Mapping) else one for one in objectives]
    return [*named, *(config.get("constraints") or ())]


def _most_report_seeds(given: Any, where: str) -> tuple[int, bool]:
    """Return the number of seeds that the report may have, and whether the spread says how many it has."""
    if not isinstance(given, Mapping) or "most" not in given:
        return 0, False
    most = given["most"]
    if len(given) > 1 or isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MOST_SEEDS:
        expected = f"must be seeds, or {{most: N}} with N a whole number from 1 to {MOST_SEEDS}"
        raise wrong_value(where, "report_seeds", expected, given)
    return most, True


def _fresh_seeds(
    config: Mapping[str, Any], key: str, used: Mapping[str, list[int]], count: int, where: str
) -> list[int]:
    """Return the seeds that a key gives, or so many after those that are used already, by what they are used for."""
    given = config.get(key, count)
    given = count if isinstance(given, Mapping) and "most" in given else given
    if isinstance(given, int) and not isinstance(given, bool):
        given = {"first": max(map(max, used.values())) + 1, "count": given}
    try:
        seeds = read_seeds(given)
    except InputError as wrong:
        raise InputError(at(where, f"{key}: {wrong}")) from None
    for use, others in used.items():
        both = sorted(set(seeds) & set(others))
        if both:
            raise InputError(at(where, f"{key} must be fresh: seed {both[0]} {use}."))
    return seeds


class Proposal(NamedTuple):
    """What a trial tries."""

    config: dict[str, Any]
    """Machine, options and policy as a sweep says them."""
    chosen: dict[str, Any]
    """The value of every dimension that matters, by path."""

    @property
    def setting(self) -> tuple[tuple[str, Any], ...]:
        """Return its choices, to tell different settings apart."""
        return tuple(self.chosen.items())


class Trial(NamedTuple):
    """A trial that is over."""

    number: int
    proposal: Proposal
    point: str
    """The id of its point on the first workload: trials that try the same have the same, and share their runs."""
    values: tuple[float, ...] | None
    """One an objective, the mean over the seeds; None when it failed or was given up."""
    error: str
    """Why it failed, in one sentence."""
    limits: tuple[float, ...] = ()
    """One a constraint, the mean of its measure over the seeds; empty when there are no values."""
    beaten_by: int | None = None
    """The trial that made this one hopeless, if it was given up."""

    @property
    def name(self) -> str:
        """Return the name of the trial in every table, figure and page.

        >>> Trial(12, Proposal({}, {}), "", None, "").name
        'trial 12'
        """
        return f"trial {self.number}"

    @property
    def status(self) -> str:
        """Return `done`, `failed` or `pruned`."""
        if self.values is not None:
            return "done"
        return "failed" if self.beaten_by is None else "pruned"

    def feasible(self, constraints: Sequence[Constraint]) -> bool:
        """Return whether it is done and keeps every constraint."""
        kept = zip(constraints, self.limits, strict=False)
        return self.values is not None and all(one.kept_by(value) for one, value in kept)


def proposed(study: Study, choose: Any) -> Proposal:
    """Return the setting that is tried when `choose` answers each dimension."""
    chosen: dict[str, Any] = {}

    def remembered(dimension: Dimension) -> Any:
        chosen[dimension.path] = choose(dimension)
        return chosen[dimension.path]

    return Proposal(draw(study.space, remembered), chosen)


def planned(study: Study, proposal: Proposal, workloads: Sequence[Any]) -> tuple[PlannedPoint, ...]:
    """Return the points of a proposal, one a workload: the same, with the same names, as a sweep would have."""
    return tuple(_planned(study, proposal, workload) for workload in workloads)


def _planned(study: Study, proposal: Proposal, workload: Any) -> PlannedPoint:
    setup = read_setup(study.sweep, {**proposal.config, "workload": workload})
    name = point_id(setup.identity(), study.sweep.mechanism.revision)
    return PlannedPoint(name, with_code(setup), {}, None)


def table_value(value: Any) -> Any:
    """Return a chosen value as a table shows it."""
    return value.short() if isinstance(value, Spec) else value


_KEYS = ("url", "study")
_KINDS = ("postgresql", "sqlite")
_URL = re.compile(r"(?P<kind>postgres(?:ql)?|sqlite)(?:\+\w+)?://(?P<rest>.+)")
_EXPECTED = "must be sqlite:///FILE or postgresql://USER@HOST/BASE, or be left out for a journal in the results folder"


def read_storage(given: Any, name: str, where: str) -> StorageAddress | None:
    """Read the storage of a study file: an address, or `{url: , study: NAME}` where a name is taken; None = a journal.

    Raises
    ------
    InputError
        It is no address of a database that the workbench can use; the sentence holds no password.

    Examples
    --------
    >>> read_storage("sqlite:///study.db", "dispatch", "")
    StorageAddress(url='sqlite:///study.db', study='dispatch')
    """
    if given is None:
        return None
    config = given if isinstance(given, Mapping) else {"url": given}
    for key in config:
        if key not in _KEYS:
            raise unknown_name(at(where, "storage"), "key", key, _KEYS)
    url, study = config.get("url"), config.get("study", name)
    if not isinstance(study, str) or not study.strip():
        raise wrong_value(where, "storage.study", "must be the name of a study", study)
    match = _URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        raise wrong_value(where, "storage", _EXPECTED, hidden(url) if isinstance(url, str) else url)
    if match["kind"] == "sqlite" and not match["rest"].startswith("/"):
        raise InputError(at(where, f"storage: an SQLite file is named after three slashes: sqlite:///{match['rest']}"))
    kind = "sqlite" if match["kind"] == "sqlite" else "postgresql"
    return StorageAddress(f"{kind}://{match['rest']}", study)
