"""The event log of a node: what passes between its parts, a row a message (spec 6, R2)."""

from __future__ import annotations

import numpy as np

from workbench.records.node import NodeRecord
from workbench.records.node_messages import KIND, WORDS, fields_of

RANKS = 32
"""Moments of a cycle."""

WHO = ("application", "stream", "step", "group", "wave", "phase", "touch")


def events(record: NodeRecord) -> dict[str, np.ndarray]:
    """Return every message in the order in which it came about, as columns.

    Returns
    -------
    dict of arrays
        cycle, serial, rank, part, card, kind, whose it is (application, stream, step, group, wave, phase, touch; -1 =
        absent), and up to four values.
    """
    rows = record.messages
    who = np.array([fields_of(int(a), int(b)) for a, b in rows[:, 3:5]], np.int64).reshape(-1, 8)
    words = np.array([WORDS[name][:2] for name in KIND._fields]).reshape(-1, 2)
    return {
        "cycle": rows[:, 0] // RANKS,
        "serial": np.arange(len(rows)),
        "rank": rows[:, 0] % RANKS,
        "part": words[rows[:, 1], 0],
        "kind": words[rows[:, 1], 1],
        "card": rows[:, 2],
        **{name: who[:, place + 1] for place, name in enumerate(WHO)},
        **{f"value_{place}": rows[:, 5 + place] for place in range(4)},
    }
