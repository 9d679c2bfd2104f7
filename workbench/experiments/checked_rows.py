"""The rows of a plan as they stand: checked, provisional, or withdrawn because what they read has changed.

A row of a user's code is checked if its invocation ended with an agreeing verdict, and all that it read is among what
that verdict has seen. Else it is provisional.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.experiments.plan import Plan
from workbench.experiments.row_reads import RowReads, digest_of_folder, digest_of_place
from workbench.experiments.verdicts import code_of
from workbench.identity.reads import state_of
from workbench.mechanisms.measured_by import MeasuredBy
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, run_id

if TYPE_CHECKING:
    from workbench.experiments.store import Store


class Checked(NamedTuple):
    """How many rows are of code of the user's, and how many of these are checked."""

    rows: int = 0
    """Rows of runs in which code of the user's was executed."""
    checked: int = 0
    """Those of an invocation whose repeated runs all agreed, and that read nothing else than these."""
    reasons: tuple[str, ...] = ()
    """Why the others are provisional, a part of a sentence for each code."""
    repeated: int = 0
    """How many of the checked rows were repeated themselves."""

    @property
    def sentences(self) -> list[str]:
        """Return the note on the check: nothing where no code of the user's was executed.

        >>> Checked(8, 8, repeated=2).sentences
        ['8 rows are of code of your own: 2 of 8 rows repeated in a fresh process, all agree.']
        >>> Checked(8, 4, ("Mine: not repeated yet",), 3).sentences
        ['8 rows are of code of your own, 4 of them checked: 3 of 4 rows repeated in a fresh process, all agree. \
The other 4 are provisional (Mine: not repeated yet).']
        >>> Checked(8, 0, ("Mine: not repeated yet",)).sentences
        ['8 rows are of code of your own, all provisional (Mine: not repeated yet).']
        """
        if not self.rows:
            return []
        rows, reasons = f"{self.rows} rows are of code of your own", "; ".join(self.reasons)
        if not self.checked:
            return [f"{rows}, all provisional ({reasons})."]
        repeated = f"{self.repeated} of {self.checked} rows repeated in a fresh process, all agree."
        if self.checked == self.rows:
            return [f"{rows}: {repeated}"]
        others = self.rows - self.checked
        return [f"{rows}, {self.checked} of them checked: {repeated} The other {others} are provisional ({reasons})."]

    def plain(self) -> dict[str, Any]:
        """Return it as an entry of a manifest, and no entry where no code of the user's was executed."""
        return {"checked": {**self._asdict(), "reasons": list(self.reasons)}} if self.rows else {}


def standing(plan: Plan, store: Store, rows: Iterable[Row]) -> tuple[list[Row], Checked]:
    """Return rows of a plan as they stand now, and how many are checked.

    A row that read a file or a variable that has changed since is withdrawn, though its store is not written to.
    """
    groups = points_by_code(plan)
    if not groups:
        return list(rows), Checked()
    codes = {point.id: (code, name_of_code(points)) for code, points in groups.items() for point in points}
    in_setup = {point.id for points in groups.values() for point in points if is_in_setup(point)}
    judge, result, count, repeated, confirmed, reasons = _Judge(store), [], 0, 0, 0, dict[str, None]()
    for row in rows:
        code, name = codes.get(row.point, ("", ""))
        if row.status == "done" and (row.reads or row.point in in_setup) and code:
            if error := judge.stale(row.reads, name):
                row = row._replace(status="withdrawn", error=error, measures={}, measured="")
            else:
                count += 1
                if reason := judge.provisional(row.reads, code):
                    reasons[f"{name}: {reason}"] = None
                else:
                    confirmed += 1
                    repeated += judge.was_repeated(row, code)
        result.append(row)
    return result, Checked(count, confirmed, tuple(reasons), repeated)


def withdraw_stale(plan: Plan, store: Store) -> list[str]:
    """Take back the rows that read a file or a variable that has changed since; say so, a sentence each."""
    judge, texts = _Judge(store), store.reads()
    stale: dict[str, dict[str, list[str]]] = {}
    for points in points_by_code(plan).values():
        name, in_setup = name_of_code(points), is_in_setup(points[0])
        for run in ids_of(plan, points):
            row = store.kept_row(run)
            text = texts.get(row.reads, "") if row is not None else ""
            if row is None or row.status != "done" or not (text or in_setup):
                continue
            if error := judge.stale(text, name):
                stale.setdefault(judge.message(text, name), {}).setdefault(error, []).append(run)
    messages = []
    for message, runs_by_error in stale.items():
        count = sum(store.withdraw(runs, error) for error, runs in runs_by_error.items())
        messages.append(f"{count} kept rows {message}")
    return messages


class _Judge:
    """Looks at what rows read; each file and each text once."""

    def __init__(self, store: Store) -> None:
        self._verdicts = store.verdicts()
        self._state = functools.cache(state_of)
        self._folder = digest_of_folder(os.getcwd(), store.folder)
        self._place = digest_of_place(store.folder)
        self.read = functools.cache(lambda text: RowReads.read(text, store.folder))
        self.changed = functools.cache(lambda text: self.read(text).reads.changed(self._state))
        self._short = functools.cache(lambda text: self.read(text).reads.changed(self._state, os.path.basename))
        self.provisional = functools.cache(self._provisional)

    def stale(self, text: str, name: str) -> str:
        """Return the reason why a row does not stand any more, empty if it does; in the sentence files have no
        folders."""
        if not text:
            return f"what {name} read was not noted when this row was kept; run the sweep again."
        if not self.changed(text):
            return ""
        what = self._short(text)
        return f"{what}, which {name} reads, is not what it was when this row was kept; run the sweep again."

    def message(self, text: str, name: str) -> str:
        """Return the treatment of rows that do not stand any more, as a part of a sentence."""
        if not text:
            return f"of {name} are done again: what they read was not recorded."
        return f"are done again: {self.changed(text)}, which {name} reads, is another than it was."

    def _provisional(self, text: str, code: str) -> str:
        """Return the reason why rows that read the same are not checked; empty if they are."""
        invocation, reads = self.read(text)
        verdict = self._verdicts.get((code, invocation))
        if verdict is not None and verdict.outcome != "agreed":
            return verdict.reason
        if reads.acts:
            return f"it {reads.acts[0]}"
        if verdict is None:
            return "not repeated yet"
        if verdict.place != self._place and reads.files:
            return "not repeated yet where the folder lies now"
        if reads.folder not in ("", self._folder):
            return "it asks for the working folder, or names files from it, and that was another one"
        return "" if reads.within(verdict.reads) else "a file that it reads changed while runs went on"

    def was_repeated(self, row: Row, code: str) -> bool:
        """Return whether a checked row gave the same when it was repeated."""
        return self._verdicts[code, self.read(row.reads).invocation].has_repeated(row.id)


def points_by_code(plan: Plan) -> dict[str, list[PlannedPoint]]:
    """Return the points with code of the user's; measures of the package's own stand in its revision."""
    measured, groups = plan.sweep.measured_by(), dict[str, list[PlannedPoint]]()
    digests = {
        name: code for name, code in measured.user_measures.items() if not plan.sweep.user_measures[name].built_in
    }
    for point in plan.points:
        if code := code_of(point.setup, MeasuredBy(measured.engine, digests)):
            groups.setdefault(code, []).append(point)
    return groups


def is_in_setup(point: PlannedPoint) -> bool:
    """Return whether code of the user's is part of a point itself; else measures alone are, which a row may lack."""
    return bool(point.setup.code or point.setup.engine_code)


def ids_of(plan: Plan, points: Iterable[PlannedPoint]) -> list[str]:
    """Return the ids of all runs of some points."""
    return [run_id(point.id, seed) for point in points for seed in plan.sweep.seeds]


def name_of_code(points: Iterable[PlannedPoint]) -> str:
    """Return the name in messages of the user's code in some points, which is the same in all of them."""
    from workbench.runs.user_code import name_of

    point = next(iter(points))
    classes = [name_of(cls) for cls, _ in point.setup.code]
    return ", ".join(dict.fromkeys(classes)) or f"the code of your own in {point.setup.engine}"
