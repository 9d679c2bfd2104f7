"""Sometimes: nothing in some draws, a law's number in the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.levers import lever
from workbench.levers.family import family_schema
from workbench.workloads.synthetic.laws.correlated import Correlated
from workbench.workloads.synthetic.laws.law import Law
from workbench.workloads.synthetic.laws.uniform import Uniform


class Sometimes(Law):
    """A law's number in a share of all draws, else 0: a resource that some workgroups do not need at all.

    At a rank u below 1 - share it is 0, else the law's number at rank (u - (1 - share)) / share. What must be at least
    1, such as a size or a duration, cannot be drawn so.

    Examples
    --------
    >>> Sometimes(share=0.5, law={"uniform": [1, 16]}).draw(np.array([0.0, 0.49, 0.5, 0.99]))
    array([ 0,  0,  1, 16])
    """

    share: float = lever(0.5, least=0, most=1, step=0.05, description="how much of all draws come from the law")
    law: Law = lever(Uniform(low=1, high=32), description="how often each number comes where one comes at all")

    def check(self) -> None:
        if isinstance(self.law, (Sometimes, Correlated)):
            raise InputError(f"sometimes.law must be another law than {self.law.name}.")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        nothing = 1.0 - self.share
        inside = ranks >= nothing
        drawn = np.zeros(len(ranks), np.int64)
        drawn[inside] = self.law.draw(np.minimum((ranks[inside] - nothing) / (1.0 - nothing), _BELOW_ONE))
        return drawn

    def span(self) -> tuple[int, int]:
        low, high = self.law.span()
        return (0 if self.share < 1 else low), (high if self.share > 0 else 0)

    def nearest_within(self, most: int) -> str:
        near = self.law.nearest_within(most)
        return near and f"sometimes.law.{near}"

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema, where the law inside is any but this one and `correlated`."""
        inside = {
            **family_schema(Law, without=[cls.name, Correlated.name]),
            "description": cls.levers["law"].description,
        }
        levers = {"share": cls.levers["share"].schema(), "law": inside}
        return {"type": "object", "additionalProperties": False, "properties": levers}


_BELOW_ONE = np.nextafter(1.0, 0.0)
