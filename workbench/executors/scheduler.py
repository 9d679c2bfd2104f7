"""Hand bundles of runs to a pool, collect their rows, and say which run is to blame when a worker dies or hangs.

A run is suspected when its worker died, or did not answer, while it was under way; it is then tried alone. What else
was in its bundle is simply done again.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from typing import NamedTuple, Protocol

from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.executors.bundles import Bundle, Bundler
from workbench.runs.crashes import CrashPolicy, Death, WorkerFailure
from workbench.runs.execution import failed_row
from workbench.runs.faults import fault
from workbench.runs.interrupts import is_own
from workbench.runs.row import Row
from workbench.runs.watchdog import Board, Report, Reporter
from workbench.runs.worker import BundleResult

LOOK_SECONDS = 1.0
"""How often the driver looks at its workers while nothing ends."""

SLACK_SECONDS = 5.0
"""How much later than the limit the driver gives a worker up: usually it says itself that a run does not end."""

START_SECONDS = 180.0
"""How long a worker may take to start and to open what it is sent."""

NO_ANSWER = "the run did not end within {limit:g} s, and its worker did not answer (stopped, or in native code)."

MOST_UNHEARD = 3
"""A bundle that was lost so often without a report was perhaps begun where no process can report."""


class BundleExecutor(Protocol):
    """Workers that do bundles of runs."""

    @property
    def width(self) -> int:
        """Return the number of bundles that should be under way at once."""

    @property
    def reports(self) -> bool:
        """Return whether every worker is known to report the runs that it begins."""

    def submit(self, bundle: Bundle, limit: float, report: Reporter) -> Future[BundleResult]:
        """Have a bundle done, no run longer than a limit in seconds; raises BrokenExecutor when the pool is broken."""

    def death(self, problem: BaseException, pid: int) -> Death | None:
        """Return the end of a worker as a future's exception tells it; its process last reported as `pid`.

        None if it is of another kind. Raises WorkbenchError if the pool is lost.
        """

    def end(self, future: Future[BundleResult], pid: int) -> bool:
        """End the worker that does a bundle and does not answer; return False if that is not this pool's to do.

        The future then ends by the death of its worker.
        """

    def replace(self, worker: str) -> None:
        """Replace a worker in which a run goes on whose result is no longer needed."""

    def look(self) -> None:
        """Refuse to wait on when the workers are gone for good (WorkbenchError)."""

    def leave(self, under_way: Sequence[Future[BundleResult]]) -> None:
        """Leave a sweep that ended, or was stopped while something was under way."""


class _Submission(NamedTuple):
    """A bundle under way."""

    bundle: Bundle
    reporter: Reporter
    quarantined: bool
    """Whether it is one suspect alone."""


class _Suspect(NamedTuple):
    bundle: Bundle
    ready_at: float


class Scheduler:
    """The bundles of one sweep, in one pool."""

    def __init__(self, bundler: Bundler, executor: BundleExecutor, limit: float) -> None:
        self._bundler, self._executor, self._limit = bundler, executor, limit
        self._board = Board()
        self._under_way: dict[Future[BundleResult], _Submission] = {}
        self._again: deque[Bundle] = deque()
        self._suspects: deque[_Suspect] = deque()
        self._late: dict[Future[BundleResult], int] = {}
        """The futures whose worker was given up -> the process that was."""
        self._began: dict[Future[BundleResult], float] = {}
        """When a bundle was handed to a worker that has reported nothing yet."""
        self._crashes = CrashPolicy()
        self._unheard: Counter[str] = Counter()
        """Deaths of bundles of which nothing had been reported."""
        self._judges_from = 0.0

    @property
    def under_way(self) -> list[Future[BundleResult]]:
        """Return the bundles that were submitted and not collected."""
        return list(self._under_way)

    def submit(self) -> bool:
        """Submit until enough is under way, a suspect alone; return False when all is done."""
        if any(submission.quarantined for submission in self._under_way.values()):
            return True
        if suspect := self._ready_suspect():
            if not self._under_way:
                self._suspects.remove(suspect)
                self._start(suspect.bundle, quarantined=True)
            return True
        width = self._executor.width
        while len(self._under_way) < width and (bundle := self._next(width)) is not None:
            self._start(bundle)
        return bool(self._under_way or self._suspects)

    def _ready_suspect(self) -> _Suspect | None:
        now = time.monotonic()
        return next((suspect for suspect in self._suspects if suspect.ready_at <= now), None)

    def _next(self, width: int) -> Bundle | None:
        return self._again.popleft() if self._again else self._bundler.next(width)

    def _start(self, bundle: Bundle, quarantined: bool = False) -> None:
        reporter = self._board.reporter()
        future: Future[BundleResult] = Future()
        try:
            future = self._executor.submit(bundle, self._limit, reporter)
        except WorkbenchError:
            raise
        except BrokenExecutor as problem:
            future.set_exception(problem)
        except BaseException as problem:  # of a user's object that is not to be pickled
            if is_own(problem):
                raise
            if len(bundle.setups) > 1:
                self._board.release(reporter)
                for part in bundle.by_point():
                    self._start(part)
                return
            ((_, setup),) = bundle.setups.items()
            future.set_result(BundleResult(_unsent(bundle, setup, problem)))
        self._under_way[future] = _Submission(bundle, reporter, quarantined)

    def wait(self) -> None:
        """Wait until something ends, or it is time to look again."""
        began = time.monotonic()
        patience = self._patience(began)
        if not self._under_way:
            time.sleep(patience)
        elif not wait(self._under_way, patience, FIRST_COMPLETED).done:
            self._executor.look()
        lost = time.monotonic() - began - patience
        if lost > LOOK_SECONDS:  # this process was stopped, and perhaps its workers with it: they get their time back
            self._judges_from = time.monotonic() + min(lost, self._limit) + SLACK_SECONDS

    def _patience(self, now: float) -> float:
        ready = [suspect.ready_at - now for suspect in self._suspects if suspect.ready_at > now]
        return max(min([LOOK_SECONDS, *ready]), 0.001)

    def collect(self) -> Iterator[BundleResult]:
        """Yield the outcomes of the bundles that ended; give those up whose workers do not answer."""
        for future in [future for future in self._under_way if future.done()]:
            submission = self._under_way.pop(future)
            report = self._board.read(submission.reporter)
            self._board.release(submission.reporter)
            problem = CancelledError() if future.cancelled() else future.exception()
            if problem is None:
                yield self._succeeded(submission, future.result())
            elif verdict := self._verdict(submission, future, report, problem):
                yield BundleResult([failed_row(submission.bundle.tasks[0], verdict)])
            self._late.pop(future, None)
            self._began.pop(future, None)
        for future, submission, report in list(self._overdue()):
            self._late[future] = report.pid
            if not self._executor.end(future, report.pid):
                del self._under_way[future], self._late[future]  # its place stays taken: the worker may come back
                yield self._given_up(submission.bundle, report.run)

    def _given_up(self, bundle: Bundle, run: int) -> BundleResult:
        """Blame a run whose worker cannot be ended, without another attempt: it would cost one more worker."""
        self._again.extend(bundle.without([run]))
        return BundleResult([failed_row(bundle.tasks[run], self._no_answer())])

    def _succeeded(self, submission: _Submission, done: BundleResult) -> BundleResult:
        self._bundler.learn(done.rows)
        self._again.extend(submission.bundle.after(len(done.rows)))
        if done.stuck:
            self._executor.replace(done.worker)
        return done

    def _verdict(
        self, submission: _Submission, future: Future[BundleResult], report: Report | None, problem: BaseException
    ) -> str | None:
        """Return the sentence that blames the run of a bundle; where none is to blame yet, have the bundle done again.

        What was under way is suspected and tried alone; the rest is simply done again.
        """
        try:
            death = self._executor.death(problem, report.pid if report else 0)
        except WorkbenchError as lost:
            raise self._lost_with(lost, submission, report) from None
        if death is None:
            raise _no_death(problem)
        first = submission.bundle.tasks[0].id
        if report is None:
            self._unheard[first] += 1
        if report is None and (self._executor.reports or self._unheard[first] <= MOST_UNHEARD):
            self._again.append(submission.bundle)  # none of its runs had begun
        elif not submission.quarantined:
            self._suspect(submission.bundle, _suspected(submission.bundle, report, death))
        elif future in self._late:
            return self._no_answer()
        elif sentence := self._crashes.add(first, death):
            return sentence
        else:
            self._suspects.append(_Suspect(submission.bundle, time.monotonic() + death.pause_seconds))
        return None

    def _lost_with(self, lost: WorkbenchError, submission: _Submission, report: Report | None) -> WorkbenchError:
        """Return the error for a pool that is lost, which names the runs that were under way: one of them did it."""
        others = ((other, self._board.read(other.reporter)) for other in self._under_way.values())
        begun = [
            (one.bundle, report_text.run)
            for one, report_text in [(submission, report), *others]
            if report_text is not None
        ]
        named = ", ".join(bundle.description(run) for bundle, run in begun)
        return WorkbenchError(f"{lost} Under way when it was lost: {named}.") if named else lost

    def _suspect(self, bundle: Bundle, indices: range) -> None:
        """Suspect runs of a bundle; have the others done again."""
        self._again.extend(bundle.without(indices))
        self._suspects.extend(_Suspect(one, 0.0) for one in bundle.only(indices))

    def _no_answer(self) -> str:
        return NO_ANSWER.format(limit=self._limit)

    def _overdue(self) -> Iterable[tuple[Future[BundleResult], _Submission, Report]]:
        now = time.monotonic()
        if now < self._judges_from:
            return
        for future, submission in self._under_way.items():
            report = self._board.read(submission.reporter)
            if report is None and self._executor.reports and future.running():
                report = Report(0, 0, self._began.setdefault(future, now) + START_SECONDS)
            # Each process is given up once; the process that replaces it may be late too.
            if report is not None and now > report.deadline + SLACK_SECONDS and self._late.get(future) != report.pid:
                yield future, submission, report

    def close(self) -> None:
        """Leave what is under way."""
        self._executor.leave(self.under_way)
        self._board.close()


def _suspected(bundle: Bundle, report: Report | None, death: Death) -> range:
    """Return the suspected runs of a bundle: the one under way, or each where it is not known which was.

    Where the worker lives and could not go on, the run before may be the cause; before the first of a bundle that was
    one of another bundle, which is done.
    """
    if report is None:
        return range(len(bundle.tasks))
    if not death.counts and report.run == 0:
        return range(0)
    return range(max(report.run - bool(death.why), 0), report.run + 1)


def _unsent(bundle: Bundle, setup: Setup, problem: BaseException) -> list[Row]:
    error = f"the setup cannot be sent to a worker: {fault(problem, setup)}"
    return [failed_row(task, error) for task in bundle.tasks]


def _no_death(problem: BaseException) -> WorkbenchError:
    """Return the error for what is neither a run's fault nor a worker's death: no run can be done there."""
    return (
        problem
        if isinstance(problem, WorkbenchError)
        else WorkbenchError(
            f"a worker cannot do a run: {problem if isinstance(problem, WorkerFailure) else fault(problem)}"
        )
    )
