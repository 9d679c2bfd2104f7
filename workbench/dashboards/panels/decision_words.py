"""One decision in words: the rule, what the policy saw, what it answered; as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.dashboards import markup
from workbench.dashboards.panels.measures_table import number
from workbench.studies.decisions import Decision
from workbench.studies.decisions.holes import holes

MOST_SHOWN = 12
"""Entries of an array in the table; the picture has more."""


def decision_words(decision: Decision) -> str:
    """Return what a page says of a decision."""
    who = f"<b>{markup.text(decision.policy)}</b> is asked: {markup.text(decision.question)}."
    rule = f"<p>{markup.text(decision.rule)}</p>" if decision.rule else ""
    return f"<p>{who}</p>{rule}<p><b>{markup.text(answer_words(decision))}</b></p>{_table(decision)}"


def answer_words(decision: Decision) -> str:
    """Return the answer in a sentence."""
    if "scores" in decision.wrote:
        return _score_words(decision)
    if {"free", "segments", "length"} <= decision.saw.keys():
        return _range_words(decision)
    meaning = f" ({decision.meaning})" if decision.meaning else ""
    return f"It answers {decision.answer}{meaning}."


def _score_words(decision: Decision) -> str:
    """Return which candidate has the highest score, and by how much."""
    modules, scores = candidates(decision, "modules"), candidates(decision, "scores", decision.wrote)
    ranked = sorted(zip(scores, modules, strict=True), reverse=True)
    best = [str(int(module)) for score, module in ranked if score == ranked[0][0]]
    behind = next((score for score, _ in ranked if score != ranked[0][0]), None)
    lead = f", the next best {number(behind)}" if behind is not None else ""
    modules_said = f"module{'s' * (len(best) > 1)} {', '.join(best)}"
    return f"Of {len(modules)} modules with room it rates {modules_said} highest, {number(ranked[0][0])}{lead}."


def _range_words(decision: Decision) -> str:
    """Return where a request goes, and how far that is from either end of the memory."""
    length, segments, start = (decision.saw["length"], decision.saw["segments"], decision.answer)
    free = holes(decision.saw["free"], segments, length)
    fitting = [hole for hole in free if hole.lowest >= 0]
    request = (
        f"{length} of {segments} segments are asked for; {len(fitting)} of {len(free)} free ranges are long enough"
    )
    if start < 0:
        return f"{request}. It refuses."
    inside = next((hole for hole in free if hole.start <= start < hole.start + hole.length), None)
    where = f" in the free range of {inside.length}" if inside else ""
    ends = f"{start} from the lower end, {segments - start - length} from the upper"
    return f"{request}. It takes segment {start}{where}: {ends}."


def candidates(decision: Decision, field: str, values: dict[str, Any] | None = None) -> list[float]:
    """Return an array of candidates as far as there are some; arrays may be longer."""
    column = (decision.saw if values is None else values)[field]
    return list(column[: decision.saw.get("count", len(column))])


def _table(decision: Decision) -> str:
    rows = "".join(
        f"<tr><td>{markup.text(name)}</td><td>{_short(value)}</td><td>{markup.text(decision.about[name])}</td></tr>"
        for name, value in {**decision.saw, **decision.wrote}.items()
        if name != "free" or "segments" not in decision.saw
    )
    table = f'<table class="wb-table wb-saw"><tbody>{rows}</tbody></table>'
    return f"<details><summary>What it saw</summary>{table}</details>"


def _short(value: Any) -> str:
    if not isinstance(value, Sequence):
        return number(float(value)) if isinstance(value, float) else f"{value:,}"
    entries = ", ".join(_short(one) for one in value[:MOST_SHOWN])
    return f"{entries}, ... ({len(value):,} in all)" if len(value) > MOST_SHOWN else entries or "none"
