"""Who proposes the next trial: a sampler is always named, and every argument of it is written down.

Unnamed samplers have changed between versions of Optuna, and with them the results (optuna/optuna#6766, #6746).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from workbench.errors import InputError, at
from workbench.levers import Family, lever
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.space import Node

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

MOST_SEED = (1 << 32) - 1


class Sampler(Family, noun="sampler", example="{nsga2: {population: 40, seed: 1}}"):
    """The base of every sampler.

    >>> Sampler.read({"nsga2": {"population": 20}}).plain()
    {'seed': 0, 'population': 20, 'crossover_probability': 0.9, 'swapping_probability': 0.5}
    """

    conditional: ClassVar[bool] = False
    """Whether it is asked only about the levers that matter. One that is not is asked about all levers of all policies:
    what does not matter for the policy of a trial is carried along like a gene without effect, because these samplers
    draw a lever at random, without learning, unless every trial has it."""

    most_objectives: ClassVar[int | None] = None
    """How many objectives it can serve; None = any number."""
    constrained: ClassVar[bool] = True
    """Whether it minds constraints."""
    remembered: ClassVar[bool] = True
    """Whether its state is kept with the study; one that is not proposes all trials again to get where it was."""

    seed: int = lever(0, least=0, most=MOST_SEED, description="of the sampler's own random numbers")

    def at_once(self) -> int:
        """Return how many trials are proposed before the first of them is told: fixed, so that the number of workers
        does not change what is proposed."""
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
