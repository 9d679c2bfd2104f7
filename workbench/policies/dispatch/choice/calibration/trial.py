"""What a calibration runs, what it is told, and what it makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from workbench.errors import InputError
from workbench.streams import Streams


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
    """What can stand for a measurement: a power model of the machine room, for one."""

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
