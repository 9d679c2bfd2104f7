"""How the ranges of a sweep are drawn together: a design answers with ranks, one row a point, one column a range.

- `Random`: every point by itself, anywhere in the ranges.
- `LatinHypercube`: every range is cut into as many equal parts as there are points, and each part has one point.
- `Sobol`: a sequence that fills the ranges ever more finely, and evenly at every power of two.
- `Saltelli`: pairs of points that exchange one coordinate at a time, from which Sobol's indices are estimated.
- `Morris`: walks through the ranges that move one lever at a time, from which elementary effects are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from workbench.errors import missing_extra, wrong_value
from workbench.experiments.designs.ranges import Axis
from workbench.levers import Family, lever
from workbench.streams import Streams

MOST_POINTS = 1 << 20
MOST_SEED = (1 << 63) - 1


class Design(Family, noun="design", example="{latin_hypercube: {points: 64, seed: 1}}"):
    """The base of every design.

    The user's own design, in a file or a notebook cell, is a class with `ranks`:

    >>> from workbench.levers import lever
    >>> class Diagonal(Design):
    ...     points: int = lever(4, least=2, most=100, description="how many")
    ...     def ranks(self, axes):
    ...         return np.repeat(np.linspace(0, 1, self.points)[:, None], len(axes), axis=1)
    >>> Design.read({"diagonal": {"points": 3}}).rows([Axis("k", "integer", 0, 9), Axis("x", "number", 0, 1)])
    [(0, 0.0), (5, 0.5), (9, 1.0)]
    >>> del Design.members["diagonal"]
    """

    by_share: ClassVar[bool] = False
    """Whether ranks are shares of the way from one end to the other, so that 0 and 1 are the ends themselves."""

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        """Return the place of each point on each range: float64[rows, axes], from 0 to 1, the same in every call."""
        raise NotImplementedError

    def rows(self, axes: Sequence[Axis]) -> list[tuple[Any, ...]]:
        """Return the values of each point, one a range; points may be equal where ranges have few values."""
        find = [axis.at_share if self.by_share else axis.at_rank for axis in axes]
        return [tuple(at(rank) for at, rank in zip(find, row)) for row in self.ranks(axes).tolist()]


class Random(Design):
    """Independent points, uniform over the ranges.

    Each range has a random stream of its own, named by its path: a further range leaves the others' values as they are,
    and more points begin with the fewer ones, so a design that is made larger runs only what is new.
    """

    brief = ("points",)
    points: int = lever(64, least=1, most=MOST_POINTS, scale="log", unit="points", description="how many are drawn")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random streams")

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        streams = Streams(self.seed)
        names = [
            f"design {axis.path} {sum(other.path == axis.path for other in axes[:k])}" for k, axis in enumerate(axes)
        ]
        return np.stack([streams.uniforms(name, self.points) for name in names], axis=1)


class LatinHypercube(Design):
    """One point in each of the equal parts of every range, the parts of different ranges joined at random.

    Every single range is covered evenly, however many there are. A design of more points is another design: nothing of
    the smaller one is in it.

    References
    ----------
    [1] McKay, Beckman and Conover (1979), Technometrics 21; drawn with `scipy.stats.qmc.LatinHypercube`.
    """

    brief = ("points",)
    points: int = lever(
        64, least=1, most=100_000, scale="log", unit="points", description="how many, and how many parts"
    )
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random numbers")
    within: Literal["random", "centre"] = lever("random", description="where in its part a point lies")
    improved: Literal["no", "random_cd"] = lever(
        "no", description="whether random exchanges lower the centered discrepancy, that is, spread the points better"
    )

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        from scipy.stats import qmc

        drawn = qmc.LatinHypercube(
            len(axes),
            scramble=self.within == "random",
            optimization=None if self.improved == "no" or self.points < 2 else "random-cd",
            rng=Streams(self.seed).integer("design latin_hypercube"),
        )
        return np.asarray(drawn.random(self.points))


Scrambling = Literal["matrix_and_shift", "none"]


class Sobol(Design):
    """The first points of Sobol's sequence, as many as a power of two; the first of an unscrambled one is the low end.

    Twice the points begin with the points of the half, so a design that is made larger runs only what is new.

    References
    ----------
    [1] Sobol (1967); Joe and Kuo (2008), the direction numbers; Matousek (1998), scrambling by a random lower
        triangular matrix and a digital shift; Owen (2020), why the first point is kept. Drawn with
        `scipy.stats.qmc.Sobol`.
    """

    brief = ("points",)
    points: int = lever(64, least=1, most=MOST_POINTS, scale="power_of_two", unit="points", description="how many")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the scrambling")
    scrambling: Scrambling = lever(
        "matrix_and_shift",
        description="how the sequence is made random: by a linear matrix and a digital shift, or not",
    )

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        return sobol_points(len(axes), self.points, self.scrambling, self.seed, "design sobol")


def sobol_points(axes: int, points: int, scrambling: Scrambling, seed: int, stream: str) -> np.ndarray:
    """Return the first points of the sequence: float64[points, axes], from 0 to below 1.

    >>> sobol_points(2, 4, "none", 0, "").tolist()
    [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    from scipy.stats import qmc

    sequence = qmc.Sobol(axes, scramble=scrambling != "none", rng=Streams(seed).integer(stream))
    return np.asarray(sequence.random(points))


class Saltelli(Design):
    """For each of the base pairs A, B: A, then A with each coordinate of B in turn, then B with each of A, then B.

    That makes base x (2 axes + 2) rows, and base x (axes + 2) without those of B, which interactions of pairs need.
    The pairs are points of a Sobol sequence in twice as many dimensions.

    References
    ----------
    [1] Saltelli (2002), Comput. Phys. Commun. 145; Saltelli et al. (2010), Comput. Phys. Commun. 181.
    """

    brief = ("base",)
    base: int = lever(
        64, least=2, most=1 << 14, scale="power_of_two", unit="pairs", description="how many pairs of points"
    )
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the scrambling")
    second_order: bool = lever(True, description="whether interactions of pairs of levers are estimated as well")
    scrambling: Scrambling = lever("matrix_and_shift", description="how the sequence is made random")

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        wide = len(axes)
        both = sobol_points(2 * wide, self.base, self.scrambling, self.seed, "design saltelli")
        a, b = both[:, :wide], both[:, wide:]
        blocks = [a, *_exchanged(a, b), *(_exchanged(b, a) if self.second_order else []), b]
        return np.stack(blocks, axis=1).reshape(-1, wide)


def _exchanged(own: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    """Return the points with one coordinate of the others, one array a coordinate."""
    masks = np.eye(own.shape[1], dtype=bool)
    return [np.where(mask, other, own) for mask in masks]


class Morris(Design):
    """Random walks on a lattice of levels: each starts anywhere and moves every lever once, in random order.

    That makes trajectories x (axes + 1) rows. A move is levels / (2 (levels - 1)) of the way from one end of a range to
    the other; more trajectories begin with the fewer ones.

    References
    ----------
    [1] Morris (1991), Technometrics 33; drawn with `SALib.sample.morris`.
    """

    by_share: ClassVar[bool] = True
    brief = ("trajectories",)
    trajectories: int = lever(20, least=2, most=100_000, scale="log", unit="walks", description="how many walks")
    levels: int = lever(4, least=2, most=64, step=2, unit="levels", description="levels of the lattice; an even number")
    seed: int = lever(0, least=0, most=MOST_SEED, description="of the random numbers")

    def check(self) -> None:
        if self.levels % 2:
            raise wrong_value("", f"{self.name}.levels", "must be even", self.levels, self.levels - 1)

    def ranks(self, axes: Sequence[Axis]) -> np.ndarray:
        try:
            from SALib.sample import morris
        except ImportError:
            raise missing_extra("the design morris", "sensitivity") from None
        bits = np.random.default_rng(Streams(self.seed).integer("design morris"))
        samples = morris.sample(problem_of(len(axes)), self.trajectories, num_levels=self.levels, seed=bits)
        return np.clip(samples, 0.0, 1.0)


def problem_of(axes: int) -> dict[str, object]:
    """Return the problem, as SALib calls it: so many inputs, each from 0 to 1."""
    return {"num_vars": axes, "names": [str(k) for k in range(axes)], "bounds": [[0.0, 1.0]] * axes}
