"""Runs whose measures were computed by other code are simulated once more: which measures have changed?"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Collection

from workbench.experiments.row import Row
from workbench.experiments.store import Store


class MeasuringAgain:
    """Compares each run that is measured again with what was kept of it, to the bit."""

    def __init__(self, store: Store, again: Collection[str]) -> None:
        """Find what is kept of the runs that are done, but were measured by other code, given their ids."""
        kept = store.kept() if again else ()
        self._before = {row.id: json.loads(row.measures) for row in kept if row.id in again}
        self._compared = 0
        self._changed: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._before)

    def see(self, row: Row) -> None:
        """Compare a run that ended with what was kept of it, if anything was."""
        before = self._before.get(row.id)
        if before is None or row.status != "done":
            return
        self._compared += 1
        for name in before.keys() & row.measures.keys():
            if _bits(before[name]) != _bits(row.measures[name]):
                self._changed[name] += 1
                self._first.setdefault(name, row.id)

    def sentence(self) -> str:
        """Say which measures changed, in how many runs; empty where nothing was measured again."""
        if not self._compared:
            return ""
        told = [
            f"{name} changed in {count} (such as {self._first[name]})" for name, count in self._changed.most_common()
        ]
        changed = "; ".join(told) or "no value changed"
        warning = (
            " A measure that changed though nobody edited it means that the engine gives other results." if told else ""
        )
        return (
            f"{self._compared} runs were measured again, as the code of their measures was edited: {changed}.{warning}"
        )


def _bits(value: float) -> bytes:
    return struct.pack("<d", float(value))
