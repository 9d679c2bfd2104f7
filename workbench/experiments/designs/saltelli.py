"""Saltelli: pairs of points that exchange one coordinate at a time, from which Sobol's indices are estimated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import MOST_SEED, Design
from workbench.experiments.designs.sobol import Scrambling, sobol_points
from workbench.levers import lever


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
