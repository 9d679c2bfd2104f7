"""One trial: what was tried, which run points that is, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.experiments.plan import PlannedPoint, read_setup
from workbench.experiments.planned_code import with_code
from workbench.experiments.run_id import point_id
from workbench.levers import Spec
from workbench.studies.tuning.constraints import Constraint
from workbench.studies.tuning.dimension import Dimension
from workbench.studies.tuning.space import draw
from workbench.studies.tuning.study import Study


class Proposal(NamedTuple):
    """What a trial tries."""

    said: dict[str, Any]
    """Machine, options and policy as a sweep says them."""
    chosen: dict[str, Any]
    """The value of every dimension that matters, by path."""


class Trial(NamedTuple):
    """A trial that is over."""

    number: int
    proposal: Proposal
    point: str
    """The id of its point: trials that try the same have the same, and share their runs."""
    values: tuple[float, ...] | None
    """One an objective, the mean over the seeds; None when it failed or was given up."""
    error: str
    """Why it failed, in one sentence."""
    limits: tuple[float, ...] = ()
    """One a constraint, the mean of its measure over the seeds; empty when there are no values."""
    beaten_by: int | None = None
    """The trial that made this one hopeless, if it was given up."""

    @property
    def status(self) -> str:
        """Return `done`, `failed` or `pruned`."""
        if self.values is not None:
            return "done"
        return "failed" if self.beaten_by is None else "pruned"

    def feasible(self, constraints: Sequence[Constraint]) -> bool:
        """Return whether it is done and keeps every constraint."""
        kept = zip(constraints, self.limits, strict=False)
        return self.values is not None and all(one.kept_by(value) for one, value in kept)


def proposed(study: Study, choose: Any) -> Proposal:
    """Return what is tried when `choose` answers each dimension."""
    chosen: dict[str, Any] = {}

    def remembered(dimension: Dimension) -> Any:
        chosen[dimension.path] = choose(dimension)
        return chosen[dimension.path]

    return Proposal(draw(study.space, remembered), chosen)


def planned(study: Study, proposal: Proposal, workload: Any) -> PlannedPoint:
    """Return the point of a proposal: the same, with the same name, as an ordinary sweep would have."""
    setup = read_setup(study.sweep, {**proposal.said, "workload": workload})
    name = point_id(setup.identity(), study.sweep.mechanism.revision)
    return PlannedPoint(name, with_code(setup), {}, None)


def shown(value: Any) -> Any:
    """Return a chosen value as a table shows it."""
    return value.short() if isinstance(value, Spec) else value
