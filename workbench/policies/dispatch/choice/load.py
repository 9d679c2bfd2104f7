"""How busy a module is: the base of choices that count what runs there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError, at, wrong_value
from workbench.levers import lever
from workbench.policies.dispatch.choice.plain import USUAL
from workbench.policies.dispatch.choice.question import Choice

AT = 0


class ByLoad(Choice, abstract=True):
    """A choice that counts the waves or the workgroups that run in a module, by the slots that they take."""

    load: Literal["waves", "workgroups"] = lever("waves", description="what is counted")
    load_at: int = lever(
        -1,
        least=-1,
        most=63,
        description="where its slots stand among the machine's resources; -1 = where they usually do",
    )

    def bound(self, names: Sequence[str]) -> Self:
        """Return the policy with the place at which this machine has the slots."""
        return self.but(load_at=list(names).index(self.load)) if self.load in names else self

    def parameters(self) -> np.ndarray:
        return np.array([float(USUAL.index(self.load) if self.load_at < 0 else self.load_at)])

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        path, place = path or self.name, int(self.parameters()[AT])
        if self.load not in names:
            lacks = f"{path} counts {self.load}, which this machine has no slots of; it has {', '.join(names)}."
            raise InputError(at(where, lacks))
        if list(names).index(self.load) != place:
            expected = f"must be the place of {self.load} among {', '.join(names)}, from 0 on"
            raise wrong_value(where, f"{path}.load_at", expected, place, list(names).index(self.load))


@kernel
def idle_slots(module: int, free: Any, totals: Any, params: Any) -> float:
    """Return minus the waves or workgroups that run in a module: the more, the idler."""
    place = int(params[AT])
    return float(free[module * totals.size + place] - totals[place])
