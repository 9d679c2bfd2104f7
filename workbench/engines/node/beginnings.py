"""How parts of a node begin: made once for equal machines, policies, levers and tables, then copied for each run.

A part that draws as it begins is made for each run. So is one with a user's policy or machine, whose code may change
between two runs. The package's own code may change between two plans, so no part is kept for the next plan.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from workbench.engines.kit.engine import Setup
from workbench.engines.kit.simulator import Part
from workbench.engines.kit.templates import Template
from workbench.identity import latest_moment
from workbench.levers.remembered import of_the_package

APart = TypeVar("APart", bound=Part)
MOST_KEPT = 64
MOST_BYTES = 1 << 20
"""Of the arrays of a part that is kept, without those of equal numbers."""


class _Beginning(NamedTuple):
    """A part without the tuple that it runs on, and what that tuple is copied from."""

    part: Any
    template: Template[Any]


ONCE = "once"
"""Instead of a beginning: a part was made once, and what it begins with is kept when it is made again."""


class _Kept(dict[Hashable, _Beginning | str | None]):
    """Beginnings of parts by what determines them.

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
    if isinstance(known, _Beginning):
        return known.part.on(known.template.copy())
    made = make(setup, seed, **more)
    if key not in kept and of_the_package(specs) and not made.draws:  # one that is asked for once costs no template
        kept[key] = ONCE
        if len(kept) > MOST_KEPT:
            kept.pop(next(iter(kept)), None)
    elif known is ONCE:
        template = Template(made.lent)
        kept[key] = _Beginning(made.off(), template) if template.nbytes <= MOST_BYTES else None
    return made
