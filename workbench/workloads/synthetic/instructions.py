"""What do the waves of a group execute? Counts of a whole group by class: move, load, store, matrix, compare, jump.

How many instructions a group may execute is bounded: counts that a simulation in fixed point keeps exact.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family, Spec, lever, remembered
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import Constant, Empirical, Law
from workbench.workloads.workload import INSTRUCTION_CLASSES

CYCLES_PER_KILOCYCLE = 1000
_MOST_RATE = 1000.0


class Instructions(Family, noun="kind of instructions", example="{instruction_mix: {}}"):
    """The base of every way to say what waves execute."""

    varies: ClassVar[bool] = True
    """Whether the seed changes what comes."""

    def counts(self, waves: np.ndarray, duration: np.ndarray, size_ranks: np.ndarray, streams: Streams) -> np.ndarray:
        """Return the instructions of each class that a whole group executes: int64[groups, 6].

        Parameters
        ----------
        waves, duration : int64[groups]
        size_ranks : float64[groups]
            The ranks at which the waves were drawn, for laws that are correlated with them.
        """
        raise NotImplementedError


class NoInstructions(Instructions):
    """None at all: nothing is known of what is executed, and every recent past is empty."""

    varies = False

    def counts(self, waves: np.ndarray, duration: np.ndarray, size_ranks: np.ndarray, streams: Streams) -> np.ndarray:
        return np.zeros((len(waves), len(INSTRUCTION_CLASSES)), np.int64)


class Mix(Spec):
    """How fast each wave of a group executes instructions of each class."""

    weight: float = lever(1.0, least=0, most=1e6, description="how many groups are of this mix, on any scale")
    move: float = lever(0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="data moves of a wave")
    load: float = lever(0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="loads of a wave")
    store: float = lever(0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="stores of a wave")
    matrix: float = lever(
        0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="matrix operations of a wave"
    )
    compare: float = lever(0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="comparisons of a wave")
    jump: float = lever(0.0, least=0, most=_MOST_RATE, unit="per kilocycle", description="jumps of a wave")

    def rates(self) -> list[float]:
        """Return the rates of each class."""
        return [getattr(self, which) for which in INSTRUCTION_CLASSES]


STREAMING = Mix(weight=1, move=40, load=60, store=30, matrix=0, compare=15, jump=10)
MATRIX = Mix(weight=1, move=60, load=30, store=5, matrix=100, compare=5, jump=5)
BRANCHING = Mix(weight=1, move=50, load=20, store=10, matrix=0, compare=40, jump=30)
DEFAULT_MIXES = (STREAMING, MATRIX, BRANCHING)


class InstructionMix(Instructions):
    """Every group is of one of some mixes, drawn by their weights; a mix says how fast a wave executes each class.

    A group executes waves x duration x rate / 1,000 of a class, rounded to the nearest whole number, a half to the even
    one. The three mixes of the default are the workbench's own and stand for no measured program: one that streams
    through memory, one of matrix operations, one that branches; they are chosen to differ in energy. The mix comes from
    the stream `mixes`; with a single mix nothing is drawn.
    """

    mixes: tuple[Mix, ...] = lever(DEFAULT_MIXES, description="the mixes that a group may be of")

    def check(self) -> None:
        if not any(mix.weight for mix in self.mixes):
            raise InputError(f"{self.name}.mixes must hold at least one mix with a weight above 0.")

    @property
    def varies(self) -> bool:  # type: ignore[override]
        """Return whether there is more than one mix to choose from."""
        return sum(mix.weight > 0 for mix in self.mixes) > 1

    def counts(self, waves: np.ndarray, duration: np.ndarray, size_ranks: np.ndarray, streams: Streams) -> np.ndarray:
        rates = np.array([mix.rates() for mix in self.mixes])
        chosen = self._chosen(len(waves), streams)
        wave_cycles = (waves * duration).astype(float)
        result = np.empty((len(waves), len(INSTRUCTION_CLASSES)), np.int64)
        for which in range(len(INSTRUCTION_CLASSES)):
            result[:, which] = np.rint(wave_cycles * rates[chosen, which] / CYCLES_PER_KILOCYCLE)
        return _checked(result, duration, self.name)

    def _chosen(self, count: int, streams: Streams) -> np.ndarray:
        """Return the place of each group's mix: int64[count]."""
        weights = tuple(mix.weight for mix in self.mixes)
        if not self.varies:
            return np.full(count, int(np.argmax(weights)))
        return _places_by(weights).draw(streams.uniforms("mixes", count)) - 1


@remembered
def _places_by(weights: tuple[float, ...]) -> Law:
    return Empirical(outcomes=tuple(range(1, len(weights) + 1)), weights=weights)


class InstructionLaws(Instructions):
    """How many instructions a wave executes follows a law for each class, however long the group runs.

    Every wave of a group executes the same. Each class has a stream of its own, and may be correlated with the waves.
    """

    move: Law = lever(Constant(value=0), unit="instructions", description="data moves of a wave")
    load: Law = lever(Constant(value=0), unit="instructions", description="loads of a wave")
    store: Law = lever(Constant(value=0), unit="instructions", description="stores of a wave")
    matrix: Law = lever(Constant(value=0), unit="instructions", description="matrix operations of a wave")
    compare: Law = lever(Constant(value=0), unit="instructions", description="comparisons of a wave")
    jump: Law = lever(Constant(value=0), unit="instructions", description="jumps of a wave")

    def counts(self, waves: np.ndarray, duration: np.ndarray, size_ranks: np.ndarray, streams: Streams) -> np.ndarray:
        result = np.empty((len(waves), len(INSTRUCTION_CLASSES)), np.int64)
        for place, which in enumerate(INSTRUCTION_CLASSES):
            law: Law = getattr(self, which)
            own = streams.uniforms(f"instructions {which}", len(waves))
            result[:, place] = law.draw(law.ranks(own, size_ranks)) * waves
        return _checked(result, duration, self.name)


def _checked(counts: np.ndarray, duration: np.ndarray, name: str) -> np.ndarray:
    excess = first_excess(counts, duration)
    if excess is None:
        return counts
    row, which, most = excess
    got = counts[row, INSTRUCTION_CLASSES.index(which)]
    raise InputError(
        f"{name}.{which} gives a group of {duration[row]} cycles more instructions than can be counted exactly: "
        f"at most {most}. Got {got}."
    )


MOST_OF_A_GROUP = 10**12
"""Of one class: times 2^20, the fixed point in which a dispatcher counts, it stays below 2^60."""
MOST_A_CYCLE = 1 << 20
"""Of one class of one group: far more than a module executes, and few enough to add up over any window."""


def first_excess(instructions: np.ndarray, duration: np.ndarray) -> tuple[int, str, int] | None:
    """Return the first count that is too large: its row, its class and the most that there may be; None where none is.

    Parameters
    ----------
    instructions : int64[groups, classes]
    duration : int64[groups]

    Examples
    --------
    >>> first_excess(np.array([[5, 0, 0, 0, 0, 0], [0, 0, 0, 1 << 21, 0, 0]]), np.array([1, 1]))
    (1, 'matrix', 1048576)
    """
    excesses: list[tuple[int, str, int]] = []
    most = np.minimum(np.minimum(duration, MOST_OF_A_GROUP) * MOST_A_CYCLE, MOST_OF_A_GROUP)
    for which, counts in zip(INSTRUCTION_CLASSES, instructions.T, strict=True):
        beyond = counts > most
        if beyond.any():
            row = int(np.argmax(beyond))
            excesses.append((row, which, int(most[row])))
    return min(excesses, key=lambda excess: excess[0], default=None)
