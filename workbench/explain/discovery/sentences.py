"""A scenario in words: its limits as conditions, and the box with its share of the points and its p-value."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from workbench.explain.discovery.cases import Cases, Column, Interest
from workbench.explain.discovery.prim import Limit
from workbench.explain.discovery.scenario import LEVEL, Scenario
from workbench.number_text import MOST_DIGITS, number, probability

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
        return f"{name} {limit.side} {number(limit.value, MOST_DIGITS)}"
    return f"{name} is {' or '.join(map(str, limit.value))}"


def box_condition(scenario: Scenario) -> str:
    """Return all limits of a box as one condition."""
    names = lever_names(scenario.cases.columns)
    return " and ".join(condition(one, names[one.place]) for one, _ in scenario.limits)


def _predicate(cases: Cases) -> str:
    """Return the common property of the points of interest: `loses drain_cycles`, `has drain_cycles above 900`."""
    interest, name = cases.interest, cases.measure.name
    if interest.is_compared:
        clear = "clearly " if interest.clear else ""
        return f"{clear}{'loses' if interest.kind == 'lose' else 'wins'} in {name}"
    return f"has {name} {interest.kind} {interest.threshold:g}"


def points_word(interest: Interest) -> str:
    """Return the name of a point of interest."""
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
