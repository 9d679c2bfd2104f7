"""Two runs over one axis of requests: how full each card is, of its own, of what it lends, of what it keeps cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.dashboards.panels.canvas_widget import CanvasWidget, column, script
from workbench.dashboards.panels.curves import curve
from workbench.metrics.pool import cached, in_use, lent_out, reserved
from workbench.metrics.statistics import Steps
from workbench.records.pool import PoolRecord

PLACES = 150
"""Spans of requests, in each of which the memory after its last one is shown."""
BAND = 34
"""Pixels that a card is high."""
ROWS = 100
"""Of a band: per cent of the card's memory."""
FILLS = ("#0072b2", "#c8501e", "#d8dfe6")
KEY = [[text, fill] for text, fill in zip(("own", "lent to others", "cached"), FILLS, strict=True)]
_GIB = 1 << 30


class CardMemoryPanel(CanvasWidget):
    """Bands and lines; a card under the pointer says what it holds on both sides, dragging zooms."""

    _esm = script("card_words.js", "time_panels.js")

    def show(self, names: Sequence[str], records: Sequence[PoolRecord]) -> None:
        """Show one run of each side."""
        self.put(memory_scene(names, records))


def memory_scene(names: Sequence[str], records: Sequence[PoolRecord]) -> dict[str, Any]:
    """Return what the browser draws of two runs of the same requests; the first card is on top."""
    record = records[0]
    cards = np.flatnonzero(record.capacity)
    rows, until = ROWS * cards.size, max(record.time.size, 1)
    return {
        "names": list(names),
        "high": BAND * cards.size,
        "rows": rows,
        "axis": "card",
        "ticks": [[rows - (k + 0.5) * ROWS, record.cards[card]] for k, card in enumerate(cards)],
        "rules": [k * ROWS for k in range(1, cards.size)],
        "fills": FILLS,
        "key": KEY,
        "until": until,
        "note": "",
        "strips": [{"says": "", "pieces": column(_pieces(one, cards))} for one in records],
        "lines": [
            {"label": label, "curves": [curve(_steps(series(one)), until) for one in records]}
            for label, series in (("in use (GiB)", _asked), ("reserved (GiB)", _reserved))
        ],
        "cards": [record.cards[card] for card in cards],
    }


def _pieces(record: PoolRecord, cards: np.ndarray) -> np.ndarray:
    """Return the columns item, begin, end, base, length and fill of every piece, one after the other."""
    if not record.time.size:
        return np.empty(0)
    ends = np.unique(np.linspace(0, record.time.size, PLACES + 1).round().astype(np.int64))
    blocks = []
    for k, card in enumerate(cards.tolist()):
        lent = lent_out(record, card)
        parts = np.stack([in_use(record, card) - lent, lent, cached(record, card)])[:, ends[1:] - 1]
        share = parts * (ROWS / record.capacity[card])
        base = (len(cards) - 1 - k) * ROWS + np.cumsum(share, axis=0) - share
        fill, place = np.nonzero(share)
        item = place * len(cards) + k
        blocks.append(np.stack([item, ends[place], ends[place + 1], base[fill, place], share[fill, place], fill]))
    return np.concatenate(blocks, axis=1).ravel()


def _steps(size: np.ndarray) -> Steps:
    return Steps(0, np.arange(size.size), size / _GIB)


def _asked(record: PoolRecord) -> np.ndarray:
    return in_use(record)


def _reserved(record: PoolRecord) -> np.ndarray:
    return np.sum([reserved(record, card) for card in range(len(record.cards))], axis=0)
