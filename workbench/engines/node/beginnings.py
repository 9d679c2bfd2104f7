"""How parts of a node begin: made once for equal machines, policies, levers and tables, then copied for each run.

A part that draws as it begins is made for each run. So is one with a user's policy or machine, whose code may change
between two runs. The package's own code may change between two plans, so no part is kept for the next plan.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from workbench.engines.kit.engine import Setup
from workbench.engines.kit.simulator import Part
from workbench.engines.kit.templates import Template
from workbench.identity import latest_moment
from workbench.levers.remembered import of_the_package

APart = TypeVar("APart", bound=Part)
MOST_KEPT = 64
MOST_BYTES = 1 << 20
"""Of the arrays of a part that is kept, without those of equal numbers."""


class _Kept(dict[Hashable, tuple[Any, Template[Any]] | None]):
    """Parts without the tuples that they run on, and what these tuples are copied from, by what determines them.

    None stands for a part that is too large.
    """

    def __identity__(self) -> tuple[()]:
        """Return nothing: it is no part of what a run's id stands for."""
        return ()


kept = _Kept()


def begun(make: Callable[..., APart], setup: Setup, seed: int, by: Hashable = None, **more: Hashable) -> APart:
    """Return `make(setup, seed, **more)`, or a part that began with the same, on a copy of its arrays.

    Parameters
    ----------
    make : function
    setup : Setup
        Of the part.
    seed : int
    by : hashable
        What else determines the part: its workload, by value, and what tests set.
    **more
        Further arguments of the function.
    """
    specs = setup.machine, setup.options, *setup.policies.values(), *more.values()
    key = latest_moment(), make, by, specs
    known = kept.get(key)
    if known is not None:
        part, template = known
        return part.on(template.copy())
    made = make(setup, seed, **more)
    if key not in kept and of_the_package(specs) and not made.draws:
        template = Template(made.lent)
        kept[key] = (made.off(), template) if template.nbytes <= MOST_BYTES else None
        if len(kept) > MOST_KEPT:
            kept.pop(next(iter(kept)), None)
    return made
