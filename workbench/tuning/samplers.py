"""The samplers that propose trials: those of the workbench by their names, and Optuna's by its own.

Every argument of a sampler is written down, and a study that names no sampler keeps the one that it got. Samplers that
Optuna chooses have changed between its versions, and with them the results (optuna/optuna#6766, #6746). `{TPESampler:
{multivariate: true}}` names a class of Optuna's, with the arguments of its constructor.
"""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from workbench.errors import InputError, WorkbenchError, at, missing_extra, unknown_name, wrong_value
from workbench.levers import Family, lever
from workbench.tuning.dimension import Dimension
from workbench.tuning.space import Node, groups

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler


MOST_SEED = (1 << 32) - 1


class Sampler(Family, noun="sampler", example="{nsga2: {population: 40, seed: 1}}"):
    """The base of every sampler.

    >>> Sampler.read({"nsga2": {"population": 20}}).plain()
    {'seed': 0, 'population': 20, 'crossover_probability': 0.9, 'swapping_probability': 0.5}
    """

    most_objectives: ClassVar[int | None] = None
    """How many objectives it can serve; None = any number."""
    constrained: ClassVar[bool] = True
    """Whether it minds constraints."""

    seed: int = lever(0, least=0, most=MOST_SEED, description="of the sampler's own random numbers")

    def at_once(self) -> int:
        """Return the number of trials that are proposed before the result of the first of them is known. It is fixed,
        so that the number of workers does not change what is proposed."""
        return 1

    def check_study(self, objectives: int, constraints: int, axes: Sequence[Dimension], where: str = "") -> None:
        """Refuse a study that this sampler does not serve, in one sentence."""
        if self.most_objectives is not None and objectives > self.most_objectives:
            cure = "nsga2, nsga3, tpe, gp, qmc and random take more"
            raise InputError(at(where, f"sampler {self.name} serves one objective. Got {objectives}; {cure}."))
        if constraints and not self.constrained:
            cure = "nsga2, nsga3, tpe and gp do"
            raise InputError(at(where, f"sampler {self.name} does not mind constraints; {cure}."))

    def make(self, space: Node) -> BaseSampler:
        """Make the sampler of Optuna for a space; its notes on experimental parts are for `quiet` to keep."""
        raise NotImplementedError


class Cmaes(Sampler):
    """CMA-ES: numbers are drawn from a normal distribution that adapts to what was good; choices are drawn at random.

    It serves one objective and needs a numeric lever. The cloud starts in the middle of the ranges.
    """

    most_objectives: ClassVar[int | None] = 1
    constrained: ClassVar[bool] = False

    startup: int = lever(1, least=1, most=10_000, unit="trials", description="random trials before the cloud moves")
    together: int = lever(8, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def check_study(self, objectives: int, constraints: int, axes: Sequence[Dimension], where: str = "") -> None:
        super().check_study(objectives, constraints, axes, where)
        if not any(axis.kind != "category" and axis.least < axis.most for axis in axes):
            cure = "tune a numeric lever, or choose another sampler"
            raise InputError(at(where, f"sampler cmaes moves numbers, and only choices are tuned; {cure}."))

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import CmaEsSampler

        if importlib.util.find_spec("cmaes") is None:
            raise missing_extra("the sampler cmaes", "tuning")
        return CmaEsSampler(n_startup_trials=self.startup, seed=self.seed, warn_independent_sampling=False)


class Gp(Sampler):
    """Bayesian optimization with Gaussian processes: fewest trials, by far the most time on each proposal.

    It needs PyTorch.
    """

    startup: int = lever(10, least=1, most=10_000, unit="trials", description="random trials before there is a model")

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import GPSampler

        if importlib.util.find_spec("torch") is None:
            raise WorkbenchError("the sampler gp needs PyTorch. Install it with: pip install torch.")
        return GPSampler(seed=self.seed, n_startup_trials=self.startup, warn_independent_sampling=False)


class Nsga2(Sampler):
    """NSGA-II: a population evolves towards the front; a generation is proposed at once."""

    population: int = lever(40, least=2, most=10_000, unit="trials", description="trials a generation")
    crossover_probability: float = lever(0.9, least=0, most=1, description="that a child has two parents")
    swapping_probability: float = lever(
        0.5, least=0, most=1, description="that a child takes a lever from the other parent"
    )

    def at_once(self) -> int:
        return self.population

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import NSGAIISampler

        return NSGAIISampler(
            population_size=self.population,
            crossover_prob=self.crossover_probability,
            swapping_prob=self.swapping_probability,
            seed=self.seed,
        )


class Nsga3(Nsga2):
    """NSGA-III: as NSGA-II, but kept apart by directions in the space of the objectives, for three of them or more."""

    divisions: int = lever(3, least=1, most=64, description="parts of each objective between which the directions lie")

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import NSGAIIISampler

        return NSGAIIISampler(
            population_size=self.population,
            crossover_prob=self.crossover_probability,
            swapping_prob=self.swapping_probability,
            dividing_parameter=self.divisions,
            seed=self.seed,
        )


class Qmc(Sampler):
    """A scrambled Sobol sequence: covers the ranges more evenly than chance; choices are drawn at random."""

    together: int = lever(32, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import QMCSampler

        return QMCSampler(scramble=True, seed=self.seed, warn_independent_sampling=False)


class Random(Sampler):
    """Every lever at random: the control that any other sampler must beat."""

    together: int = lever(32, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=self.seed)


class Tpe(Sampler):
    """Tree-structured Parzen estimator: model what good trials have in common, propose more of it.

    Where several are proposed at once, those that are not told yet count as bad, so that they do not all lie together.
    """

    startup: int = lever(10, least=1, most=10_000, unit="trials", description="random trials before there is a model")
    candidates: int = lever(24, least=1, most=10_000, description="candidates of which the most promising is proposed")
    multivariate: bool = lever(True, description="whether levers are modelled together")
    grouped: bool = lever(
        True, description="whether the levers of a policy are modeled together too, where multivariate"
    )
    together: int = lever(1, least=1, most=1024, unit="trials", description="trials proposed at once")

    def at_once(self) -> int:
        return self.together

    def make(self, space: Node) -> BaseSampler:
        from optuna.samplers import TPESampler

        from workbench.tuning.optuna_extensions import TpeByPolicy

        settings: dict[str, Any] = {
            "n_startup_trials": self.startup,
            "n_ei_candidates": self.candidates,
            "constant_liar": self.together > 1,
            "seed": self.seed,
        }
        if not (self.multivariate and self.grouped):
            return TPESampler(multivariate=self.multivariate, **settings)
        _, *chosen = groups(space)
        return TpeByPolicy([{one.path: one.distribution() for one in group} for group in chosen], **settings)


def default_sampler(seed: int) -> dict[str, Any]:
    """Return the sampler of a study that names none, as a study file writes it.

    It is TPE for any number of objectives. On 100 trials, the default of a study, it covers more of the front than
    NSGA-II, which needs several generations (`python -m benchmarks.samplers --trials 100`).

    Parameters
    ----------
    seed : int
        The first seed of the study.
    """
    return {Tpe.name: Tpe(seed=seed & MOST_SEED).plain()}


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

    def plain(self) -> dict[str, Any]:
        """Return its arguments, those that Optuna leaves to their defaults included where a file could hold them."""
        given = {name: one.default for name, one in _parameters(self.name).items() if _types(one)}
        return {**given, **self.arguments}

    def at_once(self) -> int:
        """Return the number of trials that are proposed before the result of the first of them is known: a generation
        where there are any."""
        plain = self.plain()
        return int(plain.get("population_size") or plain.get("popsize") or self.alike.at_once())

    def check_study(self, objectives: int, constraints: int, axes: Sequence[Dimension], where: str = "") -> None:
        """Refuse a study that this sampler does not serve, in one sentence."""
        try:
            self.alike.check_study(objectives, constraints, axes, where)
        except InputError as wrong:
            raise InputError(str(wrong).replace(f"sampler {self.alike.name} ", f"sampler {self.name} ", 1)) from None

    def make(self, space: Node) -> BaseSampler:
        """Make the sampler; what it needs in addition to Optuna is looked for first."""
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

    with quiet():
        sampler: BaseSampler = getattr(optuna.samplers, name)(**arguments)
    return sampler


@contextmanager
def quiet() -> Iterator[None]:
    """Keep log lines and notes on experimental parts quiet within this context; the user's own settings hold
    afterwards."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(before)
