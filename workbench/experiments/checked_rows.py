"""The rows of a plan as verdicts have them: checked, provisional, or withdrawn because the code's inputs changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.experiments.plan import Plan
from workbench.mechanisms.measured_by import MeasuredBy
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, run_id

if TYPE_CHECKING:
    from workbench.experiments.store import Store
from workbench.experiments.verdicts import code_of


def withdraw_stale(plan: Plan, store: Store) -> list[str]:
    """Take back the rows whose code reads a file or a variable that has changed since; say so, a sentence each."""
    messages, verdicts = [], store.verdicts()
    for code, points in _points_by_code(plan).items():
        known = verdicts.get(code)
        if known is None or not (changed := known.reads.changed()):
            continue
        count = store.withdraw(_ids(plan, points), _stale(changed, name := _name(points[0])))
        store.forget_verdict(code)
        if count:
            messages.append(f"{count} kept rows are done anew: {changed}, which {name} reads, is another than it was.")
    return messages


def _points_by_code(plan: Plan) -> dict[str, list[PlannedPoint]]:
    """Return the points with code of the user's; measures of the package's own stand in its revision."""
    measured, groups = plan.sweep.measured_by(), dict[str, list[PlannedPoint]]()
    digests = {
        name: code for name, code in measured.user_measures.items() if not plan.sweep.user_measures[name].built_in
    }
    for point in plan.points:
        if code := code_of(point.setup, MeasuredBy(measured.engine, digests)):
            groups.setdefault(code, []).append(point)
    return groups


def _ids(plan: Plan, points: Iterable[PlannedPoint]) -> list[str]:
    return [run_id(point.id, seed) for point in points for seed in plan.sweep.seeds]


def _name(point: PlannedPoint) -> str:
    from workbench.runs.user_code import name_of

    classes = [name_of(cls) for cls, _ in point.setup.code]
    return ", ".join(dict.fromkeys(classes)) or f"the code of your own in {point.setup.engine}"


class Checked(NamedTuple):
    """How many rows are of code of the user's of which a fresh process has confirmed some runs: not each row."""

    rows: int = 0
    """Rows of runs in which code of the user's was executed."""
    checked: int = 0
    """Those whose code gave the same when it was repeated."""
    reasons: tuple[str, ...] = ()
    """Why the others are not checked, a part of a sentence for each code."""
    repeated: int = 0
    """How many runs of the checked code gave the same when they were repeated."""

    @property
    def sentences(self) -> list[str]:
        """Return what is to be said: nothing where no code of the user's was executed.

        >>> Checked(8, 8, repeated=2).sentences
        ['8 rows are of code of your own, all checked: 2 runs of it gave the same in a fresh process.']
        >>> Checked(8, 4, ("Mine: not repeated yet",), 3).sentences
        ['8 rows are of code of your own, 4 checked (3 runs gave the same in a fresh process); the others are \
provisional (Mine: not repeated yet).']
        """
        if not self.rows:
            return []
        rows = f"{self.rows} rows are of code of your own"
        if self.checked == self.rows:
            return [f"{rows}, all checked: {self.repeated} runs of it gave the same in a fresh process."]
        some = f" ({self.repeated} runs gave the same in a fresh process)" if self.checked else ""
        return [f"{rows}, {self.checked} checked{some}; the others are provisional ({'; '.join(self.reasons)})."]

    def plain(self) -> dict[str, Any]:
        """Return it as an entry of a manifest, and no entry where no code of the user's was executed."""
        return {"checked": {**self._asdict(), "reasons": list(self.reasons)}} if self.rows else {}


def standing(plan: Plan, store: Store, rows: Iterable[Row]) -> tuple[list[Row], Checked]:
    """Return rows of a plan as they stand now, and how many are checked.

    A row whose code reads a file or a variable that has changed since is withdrawn, though its store is not written to.
    """
    verdicts, groups = store.verdicts(), _points_by_code(plan)
    if not groups:
        return list(rows), Checked()
    codes = {point.id: code for code, points in groups.items() for point in points}
    changed = {code: verdicts[code].reads.changed() for code in groups if code in verdicts}
    result, count, confirmed, reasons = [], 0, 0, dict[str, None]()
    for row in rows:
        code = codes.get(row.point, "")
        if code and row.status == "done":
            name = _name(groups[code][0])
            if changed.get(code):
                row = row._replace(status="withdrawn", error=_stale(changed[code], name), measures={}, measured="")
            else:
                known = verdicts.get(code)
                count += 1
                confirmed += known is not None and known.outcome == "agreed"
                if known is None or known.outcome != "agreed":
                    reasons[f"{name}: {known.reason if known is not None else 'not repeated yet'}"] = None
        result.append(row)
    repeated = sum(one.runs for code, one in verdicts.items() if code in groups and one.outcome == "agreed")
    return result, Checked(count, confirmed, tuple(reasons), repeated if confirmed else 0)


def _stale(changed: str, name: str) -> str:
    return f"{changed}, which {name} reads, is not what it was when this row was kept; run the sweep again."
