"""Kept runs that lack a cell are simulated once more: which measures have changed, and was there any reason to?"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Collection

from workbench.experiments.measured import MeasuredBy, read
from workbench.experiments.row import Row
from workbench.experiments.store import Store


class MeasuringAgain:
    """Compares each run that is measured again with what was kept of it, to the bit."""

    def __init__(self, store: Store, again: Collection[str]) -> None:
        """Find what is kept of runs that are done but lack a cell, or were measured by other code, given their ids."""
        kept = store.kept() if again else ()
        self._before = {row.id: (json.loads(row.measures), read(row.measured)) for row in kept if row.id in again}
        self._edited = self._filled = 0
        self._columns: dict[str, None] = {}
        """The user's measures that were filled in."""
        self._changed: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._before)

    def see(self, row: Row) -> Row:
        """Return the row of a run that ended as it is to be kept, compared with what was kept of it, if anything was.

        Cells of the user's that were not computed this time are carried over. Where the same code gives another
        value, it is the row of a run that failed.
        """
        if row.id not in self._before or row.status != "done":
            return row
        cells, by = self._before[row.id]
        now = read(row.measured)
        other = [name for name in cells.keys() & row.measures.keys() if _bits(cells[name]) != _bits(row.measures[name])]
        if unlike := sorted(name for name in other if by.same(now, name)):
            error = _unlike(unlike[0], cells[unlike[0]], row.measures[unlike[0]])
            return row._replace(status="failed", error=error, measures={}, measured="")
        self._count(row.id, other, by, now)
        carried = {name: digest for name, digest in by.own.items() if name not in now.own and name in cells}
        measures = {**row.measures, **{name: cells[name] for name in carried}}
        return row._replace(measures=measures, measured=MeasuredBy(now.engine, {**carried, **now.own}).text)

    def note(self, row: Row, failed_again: dict[str, Row]) -> None:
        """Note a run that is kept as done and failed now; forget one that is done again."""
        if row.id in self._before and row.status != "done":
            failed_again[row.id] = row
        else:
            failed_again.pop(row.id, None)

    def _count(self, run: str, other: list[str], by: MeasuredBy, now: MeasuredBy) -> None:
        self._filled += by.engine == now.engine
        self._edited += by.engine != now.engine
        self._columns |= dict.fromkeys(name for name in now.own if not by.same(now, name))
        for name in other:
            self._changed[name] += 1
            self._first.setdefault(name, run)

    def sentence(self) -> str:
        """Say what was measured again and which measures changed; empty where nothing was."""
        return " ".join(one for one in (self._of_edited(), self._of_filled()) if one)

    def _of_filled(self) -> str:
        if not self._filled:
            return ""
        return (
            f"{self._filled} runs were simulated once more to fill {', '.join(self._columns)}; "
            "their other measures are the same to the bit."
        )

    def _of_edited(self) -> str:
        if not self._edited:
            return ""
        messages = [
            f"{name} changed in {count} (such as {self._first[name]})" for name, count in self._changed.most_common()
        ]
        changed = "; ".join(messages) or "no value changed"
        warning = (
            " A measure that changed though nobody edited it means that the engine gives other results."
            if messages
            else ""
        )
        return f"{self._edited} runs were measured again, as the code of their measures was edited: {changed}.{warning}"


def _unlike(name: str, before: float, now: float) -> str:
    return (
        f"simulated once more, {name} is {now!r} and was {before!r} when this run was kept, though the code that "
        "computes it is the same: the engine or this machine gives other results. What was kept stays."
    )


def _bits(value: float) -> bytes:
    return struct.pack("<d", float(value))
