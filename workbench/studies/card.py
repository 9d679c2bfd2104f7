"""What a notebook shows of results: how much was run, what differs, and what came out."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from workbench.studies.sentences import sentences

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet

MOST_VALUES, MOST_SENTENCES = 8, 12
"""Of a lever's values and of the sentences, how many are shown."""


def card(results: RunSet) -> str:
    """Return a small table in HTML: runs, points and seeds, measures, what differs, and a sentence a comparison."""
    sweep, points = results.plan.sweep, results.points
    failed = f", {len(results.failures)} failed" if results.failures else ""
    facts = {
        "engine": sweep.mechanism.engine.name,
        "runs": f"{len(results.rows):,} of {len(results.plan):,}{failed}",
        "points": f"{len(points):,} x {len(sweep.seeds):,} seeds",
        "measures": ", ".join(sweep.measures),
    }
    facts |= {path: _values([str(point.coordinates.get(path)) for point in points]) for path in results.varied}
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items())
    heading = escape(str(sweep.said.get("question") or sweep.name))
    return f"<b>{heading}</b><table>{rows}</table>{_list(sentences(results) if results.rows else [])}"


def _values(texts: list[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    more = f" and {len(distinct) - MOST_VALUES} more" if len(distinct) > MOST_VALUES else ""
    return ", ".join(distinct[:MOST_VALUES]) + more


def _list(lines: list[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in lines[:MOST_SENTENCES])
    if len(lines) > MOST_SENTENCES:
        items += f"<li>and {len(lines) - MOST_SENTENCES} more: results.sentences()</li>"
    return f"<ul>{items}</ul>" if items else ""
