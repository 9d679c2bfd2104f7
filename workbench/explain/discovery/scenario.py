"""Scenario discovery as a whole: the search, its test against chance, and its result as tables and sentences.

The search peels, takes the clearest box, pastes, drops idle limits, and asks chance: would labels scattered at random
give a box as clear? A search always returns one; this says whether to heed it.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.explain.discovery.cases import LOSSES, Cases, Column, Interest, cases_of
from workbench.explain.discovery.prim import Box, Limit, limits, members, paste, peel, quasi_p, whole, without_idle
from workbench.statistics import holm
from workbench.statistics.quantities import probability
from workbench.streams import Streams

if TYPE_CHECKING:
    import pandas as pd


class Discovery:
    """Where the policies of a sweep lose."""

    def __init__(self, results: RunSet, scenarios: list[Scenario]) -> None:
        self.results = results
        """The runs behind it."""
        self.scenarios = scenarios
        """One a policy and box; the last of a policy may be none."""

    @functools.cached_property
    def boxes(self) -> pd.DataFrame:
        """Return one row a limit: policy, box, lever, side (`>=`, `<=`, `in`), value, quasi_p, and of the whole box
        coverage, density, mass, p, and p_holm (over all policies and boxes); no row of a policy without a box."""
        import pandas as pd

        names = ["policy", "box", "lever", "side", "value", "quasi_p", "coverage", "density", "mass", "p", "p_holm"]
        rows = [row for one in self.scenarios if one.is_box for row in _limits(one)]
        return pd.DataFrame(rows, columns=names)

    @functools.cached_property
    def trajectory(self) -> pd.DataFrame:
        """Return one row a peeled box: policy, box, step, lever that it was peeled on, coverage, density, mass,
        restricted levers, points, hits."""
        import pandas as pd

        return pd.DataFrame([row for one in self.scenarios for row in _steps(one)])

    @functools.cached_property
    def cases(self) -> pd.DataFrame:
        """Return one row a point that was searched: policy, box, point, a column a lever, value (its gain or mean), hit
        (whether it is of interest), inside (whether it is in the box)."""
        import pandas as pd

        return pd.concat([_points(one) for one in self.scenarios], ignore_index=True)

    def sentences(self) -> list[str]:
        """Say where each policy loses, one sentence a box; and where no box is better than the base rate."""
        return [sentence(one, 10_000) for one in self.scenarios]

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(text)}</li>" for text in self.sentences())
        return f"<ul>{items}</ul>"


def discover(
    runs: RunSet,
    measure: str | None = None,
    interest: Interest = LOSSES,
    boxes: int = 1,
    density: float | None = None,
) -> Discovery:
    """Search, of each policy of a sweep, the box of levers that holds most losses and little else.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    interest : Interest
        Losses, wins, or a mean above or below a threshold.
    boxes : int
        How many boxes a policy at most, each among the points outside of those before.
    density : float, optional
        Take the largest box that is at least so dense, not the one that tells losses best.

    Raises
    ------
    InputError
        As `cases_of` and `scenarios`.
    """
    every = cases_of(runs, measure, interest)
    return Discovery(runs, corrected([one for cases in every for one in scenarios(cases, boxes, density)]))


def _limits(one: Scenario) -> list[dict[str, Any]]:
    box, head = one.box, _head(one)
    shares = {**_shares(box), "p": one.p_value, "p_holm": one.p_adjusted}
    return [
        {
            **head,
            "lever": one.cases.columns[limit.place].path,
            "side": limit.side,
            "value": ", ".join(limit.value) if isinstance(limit.value, tuple) else limit.value,
            "quasi_p": p,
            **shares,
        }
        for limit, p in one.limits
    ]


def _steps(one: Scenario) -> list[dict[str, Any]]:
    return [
        {
            **_head(one),
            "step": step,
            "lever": box.step,
            **_shares(box),
            "restricted": len(box.restricted),
            "points": box.size,
            "hits": box.hits,
        }
        for step, box in enumerate(one.trajectory)
    ]


def _shares(box: Box) -> dict[str, float]:
    return {"coverage": box.coverage, "density": box.density, "mass": box.mass}


def _points(one: Scenario) -> pd.DataFrame:
    import pandas as pd

    cases = one.cases
    levers = {column.path: [(*column.values, None)[code] for code in column.codes] for column in cases.columns}
    sides = {"value": cases.value, "hit": cases.hit, "inside": inside_of(one) & one.is_box}
    return pd.DataFrame({**_head(one), "point": list(cases.points), **levers, **sides})


def _head(one: Scenario) -> dict[str, Any]:
    return {"policy": one.cases.policy, "box": one.number}


LEVEL = 0.05
"""What the p-value of a search must be below for its box to be one."""


class Scenario(NamedTuple):
    """One box, and whether it is one."""

    cases: Cases
    """The points that were searched: of a second box those outside of the first."""
    number: int
    """From 1; each box is searched among the points outside of those before."""
    trajectory: list[Box]
    """From the whole space inwards."""
    box: Box
    """The chosen box after pasting, without idle limits; the whole space if there is none."""
    p_value: float
    """How likely a search among shuffled labels finds one as clear; 1 where there is nothing to search."""
    p_adjusted: float
    """The same after Holm's correction over all searches of the discovery: its policies and their boxes."""

    @property
    def is_box(self) -> bool:
        """Return whether there is a box that is better than the base rate."""
        return self.p_adjusted < LEVEL and bool(self.box.restricted)

    @property
    def limits(self) -> list[tuple[Limit, float]]:
        """Return each limit of the box with its quasi-p-value."""
        columns, hit = self.cases.columns, self.cases.hit
        return [(one, quasi_p(columns, hit, self.box, one)) for one in limits(columns, self.box)]


def scenarios(cases: Cases, boxes: int = 1, density: float | None = None) -> list[Scenario]:
    """Return so many boxes at most, each among the points outside of those before; the last may be none.

    Parameters
    ----------
    boxes : int
        How many at most.
    density : float, optional
        The largest peeled box that is at least so dense, or the densest; the one that tells points of interest best if
        None.

    Raises
    ------
    InputError
        The density is not above 0 and at most 1, or the number of boxes not at least 1.
    """
    if density is not None and not 0 < density <= 1:
        raise InputError(f"density must be above 0 and at most 1. Got {density}.")
    if boxes < 1:
        raise InputError(f"boxes must be at least 1. Got {boxes}.")
    result: list[Scenario] = []
    while len(result) < boxes:
        result.append(_scenario(cases, len(result) + 1, density))
        cases = cases.at(~members(cases.columns, result[-1].box.inside))
        if not result[-1].is_box or not cases.hit.any():
            break
    return result


def _scenario(cases: Cases, number: int, density: float | None) -> Scenario:
    columns, hit = cases.columns, cases.hit
    if hit.all() or not hit.any():
        return Scenario(cases, number, [whole(columns, hit)], whole(columns, hit), 1.0, 1.0)
    trajectory = peel(columns, hit)
    p_value = p_by_chance(columns, hit, clearest(trajectory).contrast)
    chosen = paste(columns, hit, _chosen(trajectory, density))
    if density is None:
        chosen = without_idle(columns, hit, chosen)
    return Scenario(cases, number, trajectory, chosen if p_value < LEVEL else trajectory[0], p_value, p_value)


def corrected(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return the boxes of all policies with their p-values corrected together; what is then none is the whole space.

    A box that was searched outside of one that is none now is none either.
    """
    adjusted = holm({k: one.p_value for k, one in enumerate(scenarios)})
    result: list[Scenario] = []
    for k, one in enumerate(scenarios):
        earlier = [other for other in result if other.cases.policy == one.cases.policy]
        p_adjusted = max([adjusted[k], *(other.p_adjusted for other in earlier)])
        box = one.box if p_adjusted < LEVEL else one.trajectory[0]
        if all(other.is_box for other in earlier):
            result.append(one._replace(p_adjusted=p_adjusted, box=box))
    return result


def _chosen(trajectory: list[Box], density: float | None) -> Box:
    if density is None:
        return clearest(trajectory)
    dense = [box for box in trajectory if box.density >= density]
    return max(dense, key=lambda box: box.hits) if dense else max(trajectory, key=lambda box: box.density)


def inside_of(scenario: Scenario) -> np.ndarray:
    """Return which of the searched points are inside: bool[points]."""
    return members(scenario.cases.columns, scenario.box.inside)


SHUFFLES = 199
"""Of the labels; the smallest p-value is 1 in 200."""


def clearest(boxes: Sequence[Box]) -> Box:
    """Return the box whose being inside goes most with being of interest; of equal ones that of fewer levers, then the
    larger one."""
    return max(boxes, key=lambda box: (box.contrast, -len(box.restricted)))


def p_by_chance(columns: tuple[Column, ...], hit: np.ndarray, contrast: Fraction, shuffles: int = SHUFFLES) -> float:
    """Return the p-value of a peeled box: how often the whole search does as well on shuffled labels.

    It answers for the search over all levers and limits, which a quasi-p-value does not. The shuffles are drawn anew
    from the same seed, so the same points give the same number.
    """
    draws = np.random.default_rng(Streams(0).integer("scenario discovery"))
    as_clear = sum(clearest(peel(columns, draws.permutation(hit))).contrast >= contrast for _ in range(shuffles))
    return (1 + as_clear) / (1 + shuffles)


NOUNS = {"lose": "losses", "win": "wins"}
WIDTH = 80


def lever_names(columns: Sequence[Column]) -> list[str]:
    """Return the levers as sentences name them: their path without its first word, where that is clear.

    >>> from workbench.explain.discovery.cases import column
    >>> lever_names([column("machine.segments", [1, 2]), column("workload.size.uniform[1]", [1, 2])])
    ['segments', 'size.uniform[1]']
    """
    short = [one.path.split(".", 1)[-1] for one in columns]
    return [name if short.count(name) == 1 else one.path for name, one in zip(short, columns, strict=True)]


def condition(limit: Limit, name: str) -> str:
    """Return a limit as a condition."""
    if limit.side == "given":
        return f"{name} is given"
    if limit.side != "in":
        return f"{name} {limit.side} {_number(limit.value)}"
    return f"{name} is {' or '.join(map(str, limit.value))}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.10g}"


def box_condition(scenario: Scenario) -> str:
    """Return all limits of a box as one condition."""
    names = lever_names(scenario.cases.columns)
    return " and ".join(condition(one, names[one.place]) for one, _ in scenario.limits)


def _predicate(cases: Cases) -> str:
    """Return what the points of interest have in common: `loses drain_cycles`, `has drain_cycles above 900`."""
    interest, name = cases.interest, cases.measure.name
    if interest.is_compared:
        clear = "clearly " if interest.clear else ""
        return f"{clear}{'loses' if interest.kind == 'lose' else 'wins'} in {name}"
    return f"has {name} {interest.kind} {interest.threshold:g}"


def points_word(interest: Interest) -> str:
    """Return what a point of interest is called."""
    return NOUNS.get(interest.kind) or f"points {interest.kind} {interest.threshold:g}"


def sentence(scenario: Scenario, width: int = WIDTH) -> str:
    """Return the box in words, in lines of so many columns at most."""
    cases = scenario.cases
    subject = f"{cases.policy or 'the sweep'} {_predicate(cases)}"
    rest = _box(scenario) if scenario.is_box else _none(scenario)
    text = f"{subject} {rest}"
    left = f" {cases.left_out} points had no value." if cases.left_out else ""
    return textwrap.fill(text + left, width, subsequent_indent="  ", break_on_hyphens=False)


def _box(scenario: Scenario) -> str:
    box, name = scenario.box, points_word(scenario.cases.interest)
    rate = f"{_percent(box.all_hits, box.points)} of all points are"
    others = "" if scenario.number == 1 else f" outside of the box{'es' if scenario.number > 2 else ''} above"
    return (
        f"where {box_condition(scenario)}: {_percent(box.hits, box.all_hits)} of the {name}{others}, "
        f"{_percent(box.hits, box.size)} of that box are {name} ({box.hits} of {box.size} points; {rate}), "
        f"p {probability(scenario.p_adjusted)}."
    )


def _none(scenario: Scenario) -> str:
    box = scenario.box
    at = f"{box.all_hits} of {box.points} points"
    if scenario.number > 1:
        return f"at {at} outside of the boxes above, and no further box tells them apart, {_chance(scenario)}."
    if box.all_hits == 0:
        return f"at none of {box.points} points."
    if box.all_hits == box.points:
        return f"at all {box.points} points, so that there is no box to look for."
    return f"at {at}, and no box is better than that base rate: undecided, {_chance(scenario)}."


def _chance(scenario: Scenario) -> str:
    if scenario.p_adjusted < LEVEL:
        return "no single limit earns its place"
    if scenario.p_value < LEVEL:
        return (
            f"p {probability(scenario.p_value)} alone: yes; {probability(scenario.p_adjusted)} after correction over "
            "all policies and boxes: no"
        )
    return f"as shuffled labels give as clear a box, p {probability(scenario.p_value)}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"
