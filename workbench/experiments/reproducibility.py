"""Runs repeated in a fresh process: what they depend on beside code, levers and seed shows as a difference.

No list of what code may not read can be complete. So every new code of the user's is run twice: its first and its last
seed, and of every point that is new one seed, are repeated beside the sweep, the last first, in a process with another
hash seed, time zone, clock, working directory and number of threads. Until that agrees the rows of this code are
*provisional*, then *checked*; where it differs they are withdrawn. What the code reads of files and of the environment
is kept with the verdict and compared whenever its rows are looked up. And a run into a folder that holds rows repeats
one in a hundred of them.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.experiments.mechanism import Task
from workbench.experiments.plan import Plan, PlannedPoint, PlannedRun
from workbench.experiments.pools.worker_process import DIFFERENCES, Worker, WorkerDied, request_of
from workbench.experiments.row import MeasuredBy, Row, canonical, digest, run_id
from workbench.experiments.scheduler import Chunk, Requests
from workbench.experiments.watchdog import SILENT
from workbench.experiments.worker import Done
from workbench.identity.observed import Reads, declared_reads

if TYPE_CHECKING:
    from workbench.experiments.store import Store


VARIABLE = "WORKBENCH_REPEAT"
"""In the environment, 0 turns repeating off where nobody says anything else."""

ONE_IN = 100
"""How many kept rows one is repeated of, at each run into their folder."""

MOST_POINTS, ONE_IN_NEW = 30, 10
"""Of how many points of new runs one is repeated, each code, and of how many of these runs there is one at most."""

LIMIT_SECONDS = 600.0
"""Of each run that is repeated."""

_NOT_DONE = re.compile(
    "cannot be opened in a worker|not what it was when this run was planned|not what the driver has|did not end within|"
    "raised PicklingError"
)
"""In what a run says that could not be repeated at all: that is no difference."""

Outcome = Literal["agreed", "differs", "open"]


class Verdict(NamedTuple):
    """What became of the runs of some code that were repeated."""

    outcome: Outcome
    """`agreed`, `differs` (rows that were not withdrawn are to be repeated), or `open`: they could not be repeated, or
    nothing can stand for what the code does."""
    reason: str = ""
    """Why not agreed, as a part of a sentence."""
    reads: Reads = Reads()
    """What the code read, as it was then."""
    when: str = ""
    runs: int = 0
    """How many runs gave the same when they were repeated."""

    def text(self) -> str:
        """Return the verdict as a store keeps it.

        >>> Verdict.read(Verdict("open", "it could not be repeated").text()).reason
        'it could not be repeated'
        """
        return canonical({**self._asdict(), "reads": self.reads._asdict()})

    @staticmethod
    def read(text: str) -> Verdict:
        """Return a verdict from its text."""
        facts = json.loads(text)
        reads = facts["reads"]
        return Verdict(**{**facts, "reads": Reads(reads["files"], reads["variables"], tuple(reads["acts"]))})


def repeats(repeat: bool | None) -> bool:
    """Return whether runs are repeated: as somebody says, else unless the environment has `WORKBENCH_REPEAT=0`."""
    return os.environ.get(VARIABLE, "1") != "0" if repeat is None else repeat


def code_of(setup: Setup, measured: MeasuredBy) -> str:
    """Return 32 hexadecimal digits for the user's code in a run, whatever its levers; empty where there is none."""
    own = sorted(code for _, code in setup.code)
    if not (own or setup.engine_code or measured.own):
        return ""
    return digest(canonical([setup.engine, setup.engine_code, own, measured.engine, dict(measured.own)]))


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
    own = {name: code for name, code in measured.own.items() if not plan.sweep.own[name].built_in}
    for point in plan.points:
        if code := code_of(point.setup, MeasuredBy(measured.engine, own)):
            groups.setdefault(code, []).append(point)
    return groups


def _ids(plan: Plan, points: Iterable[PlannedPoint]) -> list[str]:
    return [run_id(point.id, seed) for point in points for seed in plan.sweep.seeds]


def _name(point: PlannedPoint) -> str:
    from workbench.experiments.user_code import name_of

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
        own = f"{self.rows} rows are of code of your own"
        if self.checked == self.rows:
            return [f"{own}, all checked: {self.repeated} runs of it gave the same in a fresh process."]
        some = f" ({self.repeated} runs gave the same in a fresh process)" if self.checked else ""
        return [f"{own}, {self.checked} checked{some}; the others are provisional ({'; '.join(self.reasons)})."]

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
    result, own, confirmed, reasons = [], 0, 0, dict[str, None]()
    for row in rows:
        code = codes.get(row.point, "")
        if code and row.status == "done":
            name = _name(groups[code][0])
            if changed.get(code):
                row = row._replace(status="withdrawn", error=_stale(changed[code], name), measures={}, measured="")
            else:
                known = verdicts.get(code)
                own += 1
                confirmed += known is not None and known.outcome == "agreed"
                if known is None or known.outcome != "agreed":
                    reasons[f"{name}: {known.reason if known is not None else 'not repeated yet'}"] = None
        result.append(row)
    repeated = sum(one.runs for code, one in verdicts.items() if code in groups and one.outcome == "agreed")
    return result, Checked(own, confirmed, tuple(reasons), repeated if confirmed else 0)


def _stale(changed: str, name: str) -> str:
    return f"{changed}, which {name} reads, is not what it was when this row was kept; run the sweep again."


_agreed: dict[str, Verdict] = {}
"""The verdicts of this process, for runs whose rows live in memory."""


class Repeating:
    """Repeats runs of a plan in a fresh process while they are done."""

    def __init__(self, plan: Plan, store: Store, kept: Iterable[str]) -> None:
        """Choose what is repeated: two runs of each new code, one run a point of new runs, one in a hundred kept rows.

        Of the points of a code those with the lowest digests are taken, at most 30 and no more than a tenth of its new
        runs; of each the seed whose run's id is lowest. Of kept rows it is at least one a code, and where one differed
        one of every point of this code.

        Parameters
        ----------
        kept : iterable of str
            The ids of the plan's runs that are kept and not done anew.
        """
        self._plan, self._store = plan, store
        self._groups = _points_by_code(plan)
        self._reads: dict[str, Reads] = {}
        self._new: dict[str, list[PlannedRun]] = {}
        self._before: dict[str, int] = {}
        """How many runs of a code that is checked have agreed before."""
        self._again: list[PlannedRun] = []
        self._codes = {point.id: code for code, points in self._groups.items() for point in points}
        self._repeated: dict[str, Row] = {}
        self._reads_again: dict[str, Reads] = {}
        self._left: list[list[PlannedRun]] = []
        """Runs that the process did not come to, as another one stopped it."""
        self._why: dict[str, str] = {}
        """Why runs of a code were not repeated: they cannot be sent to another process, or they end it."""
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._choose(set(kept))

    def _choose(self, kept: set[str]) -> None:
        verdicts = self._store.verdicts()
        for code, points in self._groups.items():
            known = verdicts.get(code) or _agreed.get(code)
            differed = known is not None and known.outcome == "differs"
            runs = self._drawn(points, set() if differed else kept, None if differed else MOST_POINTS)
            if known is not None and known.outcome == "agreed" and not known.reads.changed():
                self._before[code] = known.runs
                if code not in verdicts:
                    self._store.keep_verdict(code, known)
            else:
                seeds = dict.fromkeys((self._plan.sweep.seeds[0], self._plan.sweep.seeds[-1]))
                runs = [*(PlannedRun(run_id(points[0].id, seed), points[0], seed) for seed in seeds), *runs]
            if runs:
                self._new[code] = list({run.id: run for run in runs}.values())
        turn = self._store.count_of_repeats()  # others each time, the same ones whoever chooses
        there = sorted((run for run in self._plan.runs() if run.id in kept), key=lambda run: digest(f"{run.id}/{turn}"))
        first = {self._codes.get(run.point.id, ""): run for run in reversed(there)}
        wanted = [run for code, run in first.items() if code and code not in self._new]
        some = there[: math.ceil(len(there) / ONE_IN)]
        compared = {run.id for runs in self._new.values() for run in runs}
        chosen = {run.id: run for run in [*wanted, *some]}
        self._again = [run for run in chosen.values() if run.id not in compared]

    def _drawn(self, points: Iterable[PlannedPoint], kept: set[str], most: int | None) -> list[PlannedRun]:
        """Return one of the runs of each point that are not kept, of all points or of as many as are repeated."""
        by_point = [
            [
                run
                for run in (PlannedRun(run_id(point.id, seed), point, seed) for seed in self._plan.sweep.seeds)
                if run.id not in kept
            ]
            for point in points
        ]
        most = most and min(most, math.ceil(sum(map(len, by_point)) / ONE_IN_NEW))
        drawn = (min(runs, key=lambda run: run.id) for runs in by_point if runs)
        return sorted(drawn, key=lambda run: run.point.id)[:most]

    def begin(self) -> None:
        """Start the process, unless there is nothing to repeat; runs are in an order that no sweep has."""
        runs = [*(run for runs in self._new.values() for run in runs), *self._again]
        if not runs:
            return
        self._store.count_repeats()
        try:
            request = self._request(runs)
        except WorkbenchError:
            runs = [run for code, some in self._by_code(runs).items() if self._can_be_sent(code, some) for run in some]
            if not runs:
                return
            request = self._request(runs)
        self._thread = threading.Thread(target=self._repeat, args=(runs, request), daemon=True)
        self._thread.start()

    def _by_code(self, runs: Iterable[PlannedRun]) -> dict[str, list[PlannedRun]]:
        by_code: dict[str, list[PlannedRun]] = {}
        for run in runs:
            by_code.setdefault(self._codes.get(run.point.id, ""), []).append(run)
        return by_code

    def _request(self, runs: Iterable[PlannedRun]) -> bytes:
        runs = sorted(runs, key=lambda run: run.seed, reverse=True)
        chunk = Chunk(
            {run.point.id: run.point.setup for run in runs},
            [Task(run.id, run.point.id, run.seed) for run in runs],
            self._plan.sweep.own,
        )
        return request_of((*Requests().pack(chunk, LIMIT_SECONDS, SILENT), False))

    def _can_be_sent(self, code: str, runs: Iterable[PlannedRun]) -> bool:
        """Return whether the runs of one code, by itself, can be sent to another process; note why they cannot."""
        try:
            return bool(self._request(runs))
        except WorkbenchError as problem:
            self._why[code] = str(problem).rstrip(".")
            return False

    def _repeat(self, runs: list[PlannedRun], request: bytes) -> None:
        """Repeat runs in a process of theirs; where one stops it, runs of other code are left for another process."""
        with tempfile.TemporaryDirectory(prefix="workbench-") as elsewhere:
            try:
                self._worker = Worker(Path(elsewhere))
                self._worker.ready()
                reply: Any = self._worker.ask(request)
            except WorkerDied as died:
                reply = f"the process that repeated it ended with status {died.status}"
            except BaseException as problem:
                reply = problem
            finally:
                if self._worker is not None:
                    self._worker.close()
        by_code = self._by_code(runs)
        if isinstance(reply, Done):
            self._repeated |= {row.id: row for row in reply.rows}
            for point, reads in reply.reads.items():
                self._reads_again[point] = self._reads_again.get(point, Reads()) | reads
            if reply.stuck:
                by_code.pop(self._codes.get(reply.rows[-1].point, ""))
                rest = [run for some in by_code.values() for run in some if run.id not in self._repeated]
                self._left += [rest] if rest else []
        elif len(by_code) > 1:
            self._left += by_code.values()
        else:
            self._why[next(iter(by_code))] = str(reply).rstrip(".")

    def see(self, row: Row, reads: Mapping[str, Reads]) -> None:
        """Note what the code of a row that was done read."""
        if row.point in reads:
            self._reads[row.point] = self._reads.get(row.point, Reads()) | reads[row.point]

    def kill(self) -> None:
        """End the process: the sweep was stopped, and what is not checked stays provisional."""
        if self._worker is not None:
            self._worker.kill()

    def end(self) -> Iterator[str]:
        """Wait for the process, keep what became of it, and yield a sentence for each difference."""
        if self._thread is not None:
            self._thread.join()
        while self._left:
            self._repeat(runs := self._left.pop(), self._request(runs))
        rows = self._repeated
        for code, runs in self._new.items():
            verdict, name = self._judged(code, runs), _name(runs[0].point)
            self._store.keep_verdict(code, verdict)
            if verdict.outcome == "agreed":
                _agreed[code] = verdict
            if verdict.outcome == "differs":
                error = f"{name}: {verdict.reason}; let it depend on its code, its levers and the seed alone."
                count = self._store.withdraw(_ids(self._plan, self._groups[code]), error)
                yield f"{count} rows are withdrawn. {error}"
            elif verdict.outcome == "open":
                yield f"the rows of {name} stay provisional: {verdict.reason}."
        stale = {run.point.id: run for run in self._again if run.id in rows and self._differs(run, rows[run.id])}
        for run in stale.values():
            code, short = self._codes.get(run.point.id, ""), run.point.id[:8]
            when = f"when seed {run.seed} of point {short} was repeated in a fresh process"
            reason = f"{self._differs(run, rows[run.id])} {when}"
            if code:
                self._store.keep_verdict(code, self._store.verdicts()[code]._replace(outcome="differs", reason=reason))
                _agreed.pop(code, None)
            error = (
                f"{reason}, so this row was made by other code or other inputs than its id says; run the sweep again."
            )
            if count := self._store.withdraw(_ids(self._plan, [run.point]), error):
                whose = f"of {_name(run.point)}, point {short}," if code else f"of point {short}"
                yield f"{count} kept rows {whose} are withdrawn: {error}"

    def _judged(self, code: str, runs: list[PlannedRun]) -> Verdict:
        points, rows = self._groups[code], self._repeated
        reads = declared_reads([cls for point in points for cls, _ in point.setup.code])
        reads |= declared_reads(one.function for one in self._plan.sweep.own.values() if not one.built_in)
        for point in points:
            reads |= self._reads.get(point.id, Reads()) | self._reads_again.get(point.id, Reads())
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        agreed, why = 0, ""
        for run in runs:
            if not (before := self._kept(run.id)):
                continue  # it failed: there is no number that could be another one
            if run.id not in rows:
                why = why or self._why.get(code, "none of its runs ended")
            elif _NOT_DONE.search(rows[run.id].error):
                why = rows[run.id].error.rstrip(".")
            elif difference := self._difference(before, rows[run.id]):
                return Verdict(
                    "differs", f"{difference} when seed {run.seed} was repeated with {DIFFERENCES}", reads, now
                )
            else:
                agreed += 1
        agreed += self._before.get(code, 0)
        if reads.acts:
            return Verdict("open", f"{reads.acts[0]}, and no digest can stand for that", reads, now)
        if why or not agreed:
            reason = f"they could not be repeated ({why or 'none of its runs ended'})"
            return Verdict("open", reason, reads, now)
        return Verdict("agreed", "", reads, now, agreed)

    def _kept(self, run: str) -> Mapping[str, float]:
        row = self._store.kept_row(run)
        return json.loads(row.measures) if row is not None and row.status == "done" else {}

    def _differs(self, run: PlannedRun, row: Row) -> str:
        before = {} if _NOT_DONE.search(row.error) else self._kept(run.id)
        return self._difference(before, row) if before else ""

    def _difference(self, before: Mapping[str, float], row: Row) -> str:
        """Return how a repeated run differs from what was kept of it; empty where it does not."""
        if row.status != "done":
            return f"a run that was done fails ({row.error.rstrip('.')})"
        for name in dict.fromkeys((*self._plan.sweep.measures, *sorted(before))):
            if name in before and name in row.measures:
                one, other = float(before[name]), float(row.measures[name])
                if one != other and not (math.isnan(one) and math.isnan(other)):
                    return f"{name} was {one:.10g} and is {other:.10g}"
        return ""
