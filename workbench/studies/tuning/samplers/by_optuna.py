"""Samplers by Optuna's own names, with the arguments of its constructors: `{TPESampler: {multivariate: true}}`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.samplers.cmaes import Cmaes
from workbench.studies.tuning.samplers.gp import Gp
from workbench.studies.tuning.samplers.nsga2 import Nsga2
from workbench.studies.tuning.samplers.nsga3 import Nsga3
from workbench.studies.tuning.samplers.qmc import Qmc
from workbench.studies.tuning.samplers.random import Random
from workbench.studies.tuning.samplers.sampler import MOST_SEED, Sampler
from workbench.studies.tuning.samplers.tpe import Tpe
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

ALIKE: dict[str, type[Any]] = {
    "CmaEsSampler": Cmaes,
    "GPSampler": Gp,
    "NSGAIISampler": Nsga2,
    "NSGAIIISampler": Nsga3,
    "QMCSampler": Qmc,
    "RandomSampler": Random,
    "TPESampler": Tpe,
}
"""Optuna's samplers, and ours of the same method: what it serves, and how many trials it proposes at once."""
OF_A_SWEEP = ("BruteForceSampler", "GridSampler", "PartialFixedSampler")
"""Samplers that end a study by themselves or wrap another one."""
_PLAIN: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "dict": (dict,),
    "None": (type(None),),
}
"""The types of arguments that a study file can hold."""


class ByOptuna(NamedTuple):
    """A sampler of Optuna's, made with its own arguments; a seed that is not given is 0, so that a study can go on."""

    name: str
    arguments: dict[str, Any]
    alike: Sampler

    @property
    def conditional(self) -> bool:
        """Return whether it is asked only about the levers that matter."""
        return self.alike.conditional

    @property
    def remembered(self) -> bool:
        """Return whether its state is kept with the study."""
        return self.alike.remembered

    def plain(self) -> dict[str, Any]:
        """Return its arguments, those that Optuna leaves to their defaults included where a file could hold them."""
        given = {name: one.default for name, one in _parameters(self.name).items() if _types(one)}
        return {**given, **self.arguments}

    def at_once(self) -> int:
        """Return how many trials are proposed before the first of them is told: a generation where there are any."""
        plain = self.plain()
        return int(plain.get("population_size") or plain.get("popsize") or self.alike.at_once())

    def check_study(self, objectives: int, constraints: int, axes: Sequence[Dimension], where: str = "") -> None:
        """Refuse a study that this sampler does not serve, in one sentence."""
        try:
            self.alike.check_study(objectives, constraints, axes, where)
        except InputError as wrong:
            raise InputError(str(wrong).replace(f"sampler {self.alike.name} ", f"sampler {self.name} ", 1)) from None

    def make(self, space: Node) -> BaseSampler:
        """Make the sampler; what it needs beside Optuna is looked for first."""
        if self.name in ("CmaEsSampler", "GPSampler"):
            self.alike.make(space)
        return _made(self.name, self.arguments)


def read_sampler(given: Any, path: str, where: str) -> Sampler | ByOptuna:
    """Read who proposes: one of ours with its levers, or one of Optuna's by its own name with its own arguments.

    Raises
    ------
    InputError
        The name or an argument is unknown (with the nearest), or a value is none that the sampler takes.

    Examples
    --------
    >>> read_sampler({"NSGAIISampler": {"population_size": 20}}, "sampler", "").at_once()
    20
    >>> read_sampler({"QMCSampler": {"scrambled": True}}, "sampler", "")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: sampler.QMCSampler: unknown argument 'scrambled'; ... Did you mean scramble?
    """
    name, arguments = (given, {}) if isinstance(given, str) else _only(given)
    if not isinstance(name, str) or name in Sampler.members or not name[:1].isupper():
        return Sampler.read(given, path, where)
    if name in OF_A_SWEEP:
        cure = "a sweep runs every combination of what it varies, and a lever that is not tuned stays fixed"
        raise InputError(at(where, f"{path}: {name} has no place in a study: {cure}."))
    if name not in ALIKE:
        raise unknown_name(at(where, path), "sampler", name, [*ALIKE, *Sampler.members])
    place = f"{path}.{name}"
    if not isinstance(arguments or {}, Mapping):
        raise wrong_value(where, place, "must be a mapping of arguments", arguments)
    known = _parameters(name)
    for key, value in (arguments or {}).items():
        if key not in known:
            raise unknown_name(at(where, place), "argument", key, known)
        _check(f"{place}.{key}", known[key], value, where)
    settled = {"seed": 0, **(arguments or {})}
    if (
        isinstance(settled["seed"], bool)
        or not isinstance(settled["seed"], int)
        or not 0 <= settled["seed"] <= MOST_SEED
    ):
        raise wrong_value(where, f"{place}.seed", f"must be a whole number from 0 to {MOST_SEED}", settled["seed"])
    try:
        _made(name, settled)
    except ImportError:
        pass  # `make` says what to install
    except Exception as problem:  # whatever Optuna says of a value is said as the user's mistake
        raise InputError(at(where, f"{place}: Optuna refuses it: {' '.join(str(problem).split())}")) from None
    return ByOptuna(name, settled, ALIKE[name]())


def _only(given: Any) -> tuple[Any, Any]:
    return next(iter(given.items())) if isinstance(given, Mapping) and len(given) == 1 else (None, None)


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the arguments of a sampler of Optuna's, as it is installed."""
    import optuna

    parameters = inspect.signature(getattr(optuna.samplers, name).__init__).parameters
    return {key: one for key, one in parameters.items() if key != "self"}


def _types(parameter: inspect.Parameter) -> tuple[type, ...]:
    """Return the types of an argument that a file can hold, by its annotation; none where it takes an object."""
    words = [word.partition("[")[0].strip() for word in str(parameter.annotation).strip("'").split("|")]
    kinds = [kind for word in words for kind in _PLAIN.get(word, ())]
    return tuple(kinds) if any(kind is not type(None) for kind in kinds) else ()


def _check(path: str, parameter: inspect.Parameter, value: Any, where: str) -> None:
    types = _types(parameter)
    if not types:
        raise InputError(
            at(where, f"{path} takes an object of Python's, which a study file cannot hold; leave it out.")
        )
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        words = " or ".join(dict.fromkeys("null" if kind is type(None) else kind.__name__ for kind in types))
        raise wrong_value(where, path, f"must be {words}", value)


def _made(name: str, arguments: Mapping[str, Any]) -> BaseSampler:
    import optuna

    from workbench.studies.tuning.quiet import quiet

    with quiet():
        sampler: BaseSampler = getattr(optuna.samplers, name)(**arguments)
    return sampler
