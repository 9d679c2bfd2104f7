"""The weighted sum of any scores, and the calibrators that measure its weights (spec 3, R73, R79).

A calibrator runs trials in one module while the others are off, weighs instruction classes or resources by the power
that is measured, and says what came of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.levers import Spec, lever
from workbench.policies.arguments import check_sum, laid_flat
from workbench.policies.dispatch.choice.energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.packing import MostResidual
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import CLASSES
from workbench.streams import Streams

_PROPOSALS: tuple[type[Choice], ...] = (MostResidual, LeastRecentEnergy)


class WeightedChoice(Choice):
    """Take the module with the largest weighted sum of other choices' scores; ties as the engine breaks them.

    Each score is first normalized over the modules with space, (score - least) / (most - least), 0 where all are equal;
    the sum is formed in the order of the terms. A sum within a sum is laid flat, its weights multiplied; all terms are
    normalized alike. The default is the document's: what is left against what has run, half and half.

    References
    ----------
    spec 3, R81, E20; source document ¶283.

    Examples
    --------
    >>> counts = [(9, 0, 0, 0, 0, 0), (3, 0, 0, 0, 0, 0), (5, 0, 0, 0, 0, 0)]
    >>> WeightedChoice().choose([(90,), (10,), (80,)], recent=counts)
    2
    >>> both = WeightedChoice(choices=(MostResidual(), LeastRecentEnergy()), weights=(0.25, 0.75))
    >>> [weight for _, weight in WeightedChoice(choices=(both, MostResidual()), weights=(2, 1)).terms()]
    [0.5, 1.5, 1.0]
    """

    choices: tuple[Choice, ...] = lever(tuple(cls() for cls in _PROPOSALS), description="the scores that are summed")
    weights: tuple[float, ...] = lever((0.5, 0.5), least=0, most=1e12, description="weight of each of the choices")

    def check(self) -> None:
        check_sum(self.name, self.choices, self.weights, "most_residual")

    def terms(self) -> tuple[tuple[Choice, float], ...]:
        """Return the terms of every choice with their weights, sums within laid flat."""
        return laid_flat(self.choices, self.weights)

    def bound(self, names: Sequence[str]) -> Self:
        """Return the same sum of choices that know the machine's resources."""
        return self.but(choices=tuple(choice.bound(names) for choice in self.choices))

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        for k, choice in enumerate(self.choices):
            choice.check_resources(names, f"{path or self.name}.choices[{k}].{choice.name}", where)

    def needs_heat(self) -> bool:
        return any(choice.needs_heat() for choice in self.choices)

    def needs_totals(self) -> bool:
        return any(choice.needs_totals() for choice in self.choices)

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether any of the choices draws random numbers."""
        return any(choice.draws for choice in self.choices)


class InstructionCalibrator(Spec):
    """Run one class of instructions at a time in one module while the others are off, and weigh them by their power.

    As many instructions are executed as the recent past has cycles, na = nx, one a cycle. The idle module's power is
    subtracted; the document does not say so, and without it the weights lie too near to each other.

    References
    ----------
    spec 3, R79, E21, V36; source document ¶275-281, claims 2-4.

    Examples
    --------
    >>> energy = (2, 8, 32, 2, 2, 2)
    >>> def measure(trial):
    ...     return 10 + sum(e * n / trial.cycles for e, n in zip(energy, trial.instructions))
    >>> InstructionCalibrator().calibrate(measure).weights
    (1.0, 4.0, 16.0, 1.0, 1.0, 1.0)
    >>> InstructionCalibrator(subtract_idle=False).calibrate(measure).weights
    (1.0, 1.5, 3.5, 1.0, 1.0, 1.0)
    """

    nx: int = lever(
        1024,
        least=1,
        most=1 << 20,
        scale="power_of_two",
        unit="cycles",
        description="cycles and instructions of a trial",
    )
    subtract_idle: bool = lever(True, description="subtract the power of the idle module")

    def calibrate(self, measure: Measure, modules: int = 16, seed: int = 0) -> Calibration:
        """Calibrate the weights of the six classes, for `LeastRecentEnergy`.

        Parameters
        ----------
        measure : callable
            Takes a `Trial` and returns watts; `metered(ClassPower(...))` makes one of a power model.
        modules : int
            Modules of the machine, one of which is drawn.
        seed : int
            The seed of that draw.

        Raises
        ------
        InputError
            A class draws less than the idle module, or none draws more.
        """
        module = random_module(modules, seed)
        idle = measure(Trial(module, self.nx))
        each = [tuple(self.nx * (k == s) for k in range(len(CLASSES))) for s in range(len(CLASSES))]
        watts = tuple(measure(Trial(module, self.nx, instructions)) for instructions in each)
        less = idle if self.subtract_idle else 0.0
        return Calibration(module, idle, watts, in_ratios(CLASSES, [power - less for power in watts]))


class ResourceCalibrator(Spec):
    """Let tasks that need one resource run in one module while the others are off, and weigh resources by their power.

    No task needs nothing but registers: a wave always takes a slot. So each trial's tasks take a block of `base` as
    well, and what tasks with the base alone draw is subtracted; the base's own weight is over the idle module. As the
    document has it, with `subtract_base=False`, a task needs the one resource only, if the measurement allows it.

    References
    ----------
    spec 3, R73, E21, V36; source document ¶247-252.

    Examples
    --------
    >>> def measure(trial):
    ...     return 10 + sum(w * trial.tasks * n for w, n in zip((2, 8, 32), trial.demand))
    >>> names = ("waves", "vgpr", "shared")
    >>> ResourceCalibrator().calibrate(measure, names).weights
    (1.0, 4.0, 16.0)
    >>> literal = ResourceCalibrator(subtract_idle=False, subtract_base=False, tasks=1)
    >>> literal.calibrate(measure, names).weights
    (1.0, 1.5, 3.5)
    """

    tasks: int = lever(64, least=1, most=1 << 20, unit="tasks", description="tasks that run at once in a trial (ma)")
    cycles: int = lever(1024, least=1, most=1 << 40, scale="log", unit="cycles", description="how long a trial runs")
    subtract_idle: bool = lever(True, description="subtract the power of the idle module")
    subtract_base: bool = lever(
        True, description="let every task take a block of the base, and subtract what that draws"
    )
    base: str = lever("waves", description="the resource without which there is no task")

    def calibrate(self, measure: Measure, names: Sequence[str], modules: int = 16, seed: int = 0) -> Calibration:
        """Calibrate the weights of the resources, for `MostResidual`: power a block.

        Parameters
        ----------
        measure : callable
            Takes a `Trial` and returns watts.
        names : sequence of str
            The machine's resources, in their order.
        modules : int
            Modules of the machine, one of which is drawn.
        seed : int
            The seed of that draw.

        Raises
        ------
        InputError
            The base is none of the resources, a resource draws less than what is subtracted, or none draws more.
        """
        if self.subtract_base and self.base not in names:
            raise unknown_name("", "resource", self.base, names)
        module = random_module(modules, seed)
        idle = measure(Trial(module, self.cycles))
        watts = {name: self._watts(measure, module, names, name) for name in names}
        less = dict.fromkeys(names, idle if self.subtract_idle else 0.0)
        if self.subtract_base:
            less |= {name: watts[self.base] for name in names if name != self.base}
        weights = in_ratios(names, [watts[name] - less[name] for name in names])
        return Calibration(module, idle, tuple(watts.values()), weights)

    def _watts(self, measure: Measure, module: int, names: Sequence[str], wanted: str) -> float:
        always = {self.base} if self.subtract_base else set()
        demand = tuple(int(name in always | {wanted}) for name in names)
        return measure(Trial(module, self.cycles, tasks=self.tasks, demand=demand))


class Trial(NamedTuple):
    """What runs while power is measured: in one module, all others being off."""

    module: int
    """The module that is on."""
    cycles: int
    """How long it runs."""
    instructions: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    """Instructions of each class in these cycles: move, load, store, matrix, compare, jump."""
    tasks: int = 0
    """Tasks that run at once; none of them executes anything."""
    demand: tuple[int, ...] = ()
    """Blocks of each resource that a task holds."""


Measure = Callable[[Trial], float]
"""A measurement: watts while a trial runs, those of the idle module included."""


class PowerModel(Protocol):
    """What can stand for a measurement: a power model of the machine space, for one."""

    def watts(self, rates: np.ndarray, clock_mhz: float) -> np.ndarray:
        """Return the watts of a module at so many instructions of each class a cycle."""


class Calibration(NamedTuple):
    """The outcome: weights in the ratios of the powers, the least of them 1."""

    module: int
    """The module that was measured."""
    idle_watts: float
    """Its power when nothing ran."""
    watts: tuple[float, ...]
    """The power of each trial as it was measured."""
    weights: tuple[float, ...]


def metered(power: PowerModel, clock_mhz: float = 1000.0) -> Measure:
    """Measure with a power model instead of a meter; it knows instructions, not resources that are merely held."""

    def measure(trial: Trial) -> float:
        return float(power.watts(np.array(trial.instructions) / trial.cycles, clock_mhz))

    return measure


def random_module(modules: int, seed: int) -> int:
    """Return the module that stays on, drawn from the stream `calibration` of the seed."""
    return Streams(seed).integer("calibration") % modules


def in_ratios(names: Sequence[str], watts: Sequence[float]) -> tuple[float, ...]:
    """Return the weights in the ratios of powers, the least power that there is standing for 1.

    >>> in_ratios(["a", "b", "c"], [2.0, 8.0, 32.0])
    (1.0, 4.0, 16.0)

    Raises
    ------
    InputError
        A power is below zero, which happens when more is subtracted than there was, or all are zero.
    """
    for name, power in zip(names, watts, strict=True):
        if power < 0:
            raise InputError(f"calibration: {name} draws {power:g} W less than the idle module, so it has no weight.")
    if not any(watts):
        raise InputError("calibration: no trial draws more than the idle module, so there are no weights.")
    least = min(power for power in watts if power)
    return tuple(power / least for power in watts)
