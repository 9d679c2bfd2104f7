"""Which measures and figures of a sweep a bundle shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import wrong_value
from workbench.experiments.plan import Plan
from workbench.experiments.run_set import RunSet
from workbench.experiments.sweep import Sweep
from workbench.figures import figure
from workbench.figures.estimates import measure_of

Selection = Mapping[str, Sequence[str]]
"""`measures`, `figures`, or both, each with the names that were chosen."""


def selection(measures: Sequence[str] | None, figures: Sequence[str] | None) -> dict[str, list[str]]:
    """Return what was chosen; what was not stands as the sweep has it.

    >>> selection(None, ["pareto"])
    {'figures': ['pareto']}
    """
    choices = {"measures": measures, "figures": figures}
    return {what: list(dict.fromkeys(names)) for what, names in choices.items() if names is not None}


def selected(runs: RunSet, chosen: Selection) -> RunSet:
    """Return the same runs of a sweep that shows what was chosen.

    Raises
    ------
    InputError
        There is no such measure or figure, a measure of the user's was not computed, or no measure is left.
    """
    if not chosen:
        return runs
    sweep = runs.plan.sweep
    if not chosen.get("measures", sweep.measures):
        raise wrong_value("", "measures", "must name at least one measure", [])
    for name in chosen.get("measures", ()):
        measure_of(runs, name)
        sweep.check_computed(name)
    for name in chosen.get("figures", ()):
        figure(name, sweep.mechanism.engine.name)
    result = RunSet(replace(runs.plan, sweep=showing(sweep, chosen)), runs.rows.values(), runs.folder, runs.seconds)
    result.checked = runs.checked
    return result


def showing(sweep: Sweep, chosen: Selection) -> Sweep:
    """Return a sweep that shows what was chosen of its measures and figures."""
    measures, figures = chosen.get("measures", sweep.measures), chosen.get("figures", sweep.figures)
    return sweep._replace(measures=list(measures), figures=list(figures))


def plan_of_manifest(plan: Plan, manifest: Mapping[str, Any]) -> Plan:
    """Return the plan of a bundle's sweep, showing what its manifest says was chosen; errors as of `selected`."""
    return selected(RunSet(plan, ()), manifest.get("selected", {})).plan
