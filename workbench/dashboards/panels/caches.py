"""What each cache would have kept of a dropped trace's memory, in GiB, and the smallest card that holds it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.dashboards import markup
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import WorkbenchError
from workbench.policies.policy import policies
from workbench.studies.pool.replay import Replayed, replay_sweep, replayed
from workbench.units import bytes_said

CARDS_GIB = (4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 141, 192, 256, 288)
"""Memories of cards that are sold, for the column that says which holds a program."""
CACHES = ("no_cache", "pytorch_caching", "expandable_segments", "best_fit", "split_and_coalesce", "stitching", "bfc")
"""Those of the table, as far as there are some by this name; `workbench replay` shows all."""
_HEAD = (
    "cache",
    "reserved at most",
    "in use then",
    "lost to fragments",
    "driver calls",
    "from cache",
    "fits a card of",
)


def caches_of(path: str) -> str:
    """Return the table of a trace as HTML, or in a sentence why there is none."""

    known = policies("cache")
    try:
        results = PairedRuns(replay_sweep(path, caches=[name for name in CACHES if name in known])).advance(math.inf)
        return caches_table(replayed(results))  # which reads the file once more: it is gone where its page was closed
    except WorkbenchError as mistake:
        return markup.fine(str(mistake).replace(path, Path(path).name))


def caches_table(rows: Sequence[Replayed]) -> str:
    """Return the rows from the one that reserves least to the one that reserves most; what was recorded comes first."""
    ordered = sorted(rows, key=lambda row: (row.policy != "recorded", row.reserved_peak_bytes))
    head = "".join(f"<th>{word}</th>" for word in _HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(row))}</tr>" for row in ordered)
    title = "<h4>This program's memory under other caches</h4>"
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Replayed) -> Iterable[str]:
    yield markup.text(row.policy.replace("_", " "))
    yield _bytes(row.reserved_peak_bytes)
    yield _bytes(row.active_peak_bytes)
    yield _share(row.fragmentation)
    yield "-" if math.isnan(row.driver_calls) else f"{row.driver_calls:,.0f}"
    yield _share(row.cache_hit_rate)
    yield smallest_card(row.reserved_peak_bytes)


def smallest_card(size: float) -> str:
    """Return the smallest card that is sold and holds so much.

    >>> smallest_card(3.4 * 2**30), smallest_card(500 * 2**30), smallest_card(float("nan"))
    ('4 GiB', 'none', '-')
    """
    if math.isnan(size):
        return "-"
    return next((f"{card} GiB" for card in CARDS_GIB if size <= card << 30), "none")


def _bytes(size: float) -> str:
    return "-" if math.isnan(size) else bytes_said(size)


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1%}"
