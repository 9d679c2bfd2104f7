"""Which memory setting would have carried a program, and how large a pool: of logs of RMM and of profiles.

A log tells requests and no segments, so each setting is replayed. `advice.rmm` has RMM's resources, the engine `pool`
has the caches of PyTorch and TensorFlow.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.advice.program_settings import (
    NEWEST_RMM,
    RMM,
    Candidate,
    Least,
    Make,
    Program,
    candidates,
    least_of,
    program_of,
)
from workbench.advice.rmm import CardRequests, Driver, Served, requests_by_card, rules_of, serve
from workbench.metrics.pool import in_use, reserved
from workbench.metrics.torch_allocator import driver_ns
from workbench.number_text import bytes_said, to_decimals
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.caching_allocators import NoCache
from workbench.records.pool import BYTES, ROW, PoolRecord
from workbench.records.torch_allocator import BYTES as SEGMENT_BYTES
from workbench.records.torch_allocator import CallCosts
from workbench.workloads.recorded import TraceFile, trace_in
from workbench.workloads.recorded_memory import memory_events

if TYPE_CHECKING:
    import pandas as pd


CARD_BYTES = 1 << 42
"""Of the cards that requests are replayed on, so that nothing is ever refused."""
FEW_CALLS = 2
"""Driver calls a card up to which settings are compared by their memory alone."""
WORTH = 0.01
"""The least share of reserved memory for which a program is told to leave the defaults."""


class ResourceTrial(NamedTuple):
    """What one setting does with a program, all cards together."""

    setting: str
    """What to write in the program."""
    reserved_peak_bytes: int
    driver_calls: int
    driver_ns: int
    """What these calls cost."""
    fits: bool | None = None
    """Whether everything is served on cards of the named size; None = none was named."""
    settable: bool = True
    """Whether a program like the recorded one can make it; if not, it is there for comparison."""


class ResourceAdvice:
    """What a log of requests says about memory settings; in a notebook it shows itself as a table.

    `best` is a setting that the program can make: of those with at most `FEW_CALLS` driver calls a card, the one that
    reserves least. `least_pool_bytes` is the smallest pool that serves everything without growing.
    """

    def __init__(
        self,
        path: str,
        trials: list[ResourceTrial],
        live_peak: int,
        least: Least,
        streams: int,
        from_profile: bool,
        program: Program = RMM,
        cards: int = 1,
        card_bytes: int | None = None,
    ) -> None:
        self.path = path
        self.trials = _ordered(trials, program, cards)
        self.active_peak_bytes = live_peak
        self.least_pool_bytes, self.least_arena_bytes = least
        self.streams = streams
        self.program = program
        self.cards = cards
        self.card_bytes = card_bytes
        self._from_profile = from_profile

    @property
    def best(self) -> str:
        """Return the lines to write in the program; empty = no setting is known that it can make."""
        return self.trials[0].setting if self.trials[0].settable else ""

    @property
    def table(self) -> pd.DataFrame:
        """Return a row a setting, the best first."""
        import pandas as pd

        return pd.DataFrame([trial._asdict() for trial in self.trials])

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types."""
        return {
            "file": self.path,
            "program": self.program.framework,
            "best": self.trials[0]._asdict() if self.best else None,
            "settings": [trial._asdict() for trial in self.trials],
            "active_peak_bytes": self.active_peak_bytes,
            "least_pool_bytes": self.least_pool_bytes,
            "least_arena_bytes": self.least_arena_bytes,
            "streams": self.streams,
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """Say what came out, in words."""
        of_all = f" on {self.cards} cards together" if self.cards > 1 else ""
        return [
            f"{self.path}: {bytes_said(self.active_peak_bytes)} live at the peak{of_all}.",
            *(
                self._best(of_all)
                if self.best
                else ["What wrote this recording is not known, so no setting is advised."]
            ),
            *self._on_card(),
            *({"RMM": self._of_rmm, "PyTorch": self._of_pytorch}.get(self.program.framework, list)()),
            *(
                ["The trace tells no addresses: a release is taken for that of the latest block of its size."]
                if self._from_profile
                else []
            ),
        ]

    def _best(self, of_all: str) -> list[str]:
        best = self.trials[0]
        calls = f"{best.driver_calls:,} driver call{'s' * (best.driver_calls != 1)}"
        return [
            f"Best: {best.setting}. It reserves {bytes_said(best.reserved_peak_bytes)} at the peak{of_all}, in {calls} "
            f"(about {to_decimals(best.driver_ns / 1e6, 1)} ms).",
            *(
                ["Hand it to rmm.mr.set_current_device_resource before the first allocation."]
                if best.setting.startswith("rmm.mr.")
                else []
            ),
        ]

    def _on_card(self) -> list[str]:
        """Say whether anything fits on the card that was named."""
        if self.card_bytes is None:
            return []
        fitting = sum(trial.fits is True for trial in self.trials if trial.settable)
        of_all = sum(trial.settable for trial in self.trials)
        return [f"On a card of {bytes_said(self.card_bytes)}, {fitting} of {of_all} settings serve everything."]

    def _of_rmm(self) -> list[str]:
        live = self.active_peak_bytes
        over = f", {self.least_pool_bytes / live - 1:.1%} above what is live at the peak" if live else ""
        streams = "one stream" if self.streams == 1 else f"{self.streams} streams, told apart as RMM does"
        return [
            "The smallest pool that serves everything without growing has "
            f"{bytes_said(self.least_pool_bytes)} a card{over}.",
            f"The smallest arena that serves everything has {bytes_said(self.least_arena_bytes)} a card; an "
            "arena never grows.",
            f"This rests on RMM's documented rules for pool, arena and binning, and on {streams}.",
            "Time that a stream waits for another stream's memory is not counted.",
            "CudaAsyncMemoryResource is not tried: the rules of the driver's own pool are not published.",
        ]

    def _of_pytorch(self) -> list[str]:
        return [
            "A profile names no segments, so PyTorch's settings are approximated here.",
            "A memory snapshot of the same program is replayed exactly; advise on that before you change a setting.",
            "RMM and TensorFlow are there for comparison: a program of PyTorch cannot set them by one of its settings.",
        ]

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.sentences()) + str(self.table.to_html(index=False))

    def __repr__(self) -> str:
        return "\n".join(self.sentences())


def _ordered(trials: list[ResourceTrial], program: Program, cards: int) -> list[ResourceTrial]:
    """Return the settings in the order of their worth; what the program cannot set comes last."""

    def worth(trial: ResourceTrial) -> tuple[bool, bool, bool, int, int]:
        many = trial.driver_calls > FEW_CALLS * cards
        return not trial.settable, trial.fits is False, many, trial.reserved_peak_bytes, trial.driver_calls

    ordered = sorted(trials, key=worth)
    default, best = trials[0], ordered[0]
    close = default.reserved_peak_bytes * (1 - WORTH) <= best.reserved_peak_bytes
    if program.framework == "PyTorch" and default.fits == best.fits and close:
        ordered.remove(default)
        ordered.insert(0, default)
    return ordered


def advise_resources(
    path: str | Path, card_bytes: int | None = None, costs: CallCosts | None = None, rmm_version: str = NEWEST_RMM
) -> ResourceAdvice:
    """Try memory settings on what a log of RMM, or a profile with memory events, recorded.

    Parameters
    ----------
    path : str or Path
        The trace, or the name of a public one.
    card_bytes : int, optional
        Bytes of a card on which everything should fit.
    costs : CallCosts, optional
        What the driver's calls cost, in nanoseconds.
    rmm_version : str
        The version of RMM whose rules and settings are meant, such as 21.08.

    Raises
    ------
    InputError
        The file is no trace, or tells of no allocation; or the version has another pool.

    Examples
    --------
    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp(), "rmm.csv")
    >>> rows = [f"1,9:00:0{k}.0,allocate,0x{k + 1}0,3145728,0" for k in range(4)]
    >>> _ = log.write_text("\\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]))
    >>> advise_resources(log).least_pool_bytes >> 20
    12
    """
    rules = rules_of(rmm_version)
    runs = _Runs(str(path))
    cards, costs, program = requests_by_card(runs.file), costs or CallCosts(), program_of(trace_in(runs.file))
    least = least_of(cards, rules)
    trials = [
        _engine_trial(runs, candidate, candidate.does, costs, card_bytes)
        if isinstance(candidate.does, Cache)
        else _resource_trial(candidate, candidate.does, cards, costs, card_bytes, rules.limited)
        for candidate in candidates(program, cards, least, rmm_version)
    ]
    rows, live = memory_events(runs.file, -1), sum(runs.live_peak())
    streams, from_profile = 1 if rows.stream is None else len(np.unique(rows.stream)), rows.address is None
    return ResourceAdvice(str(path), trials, live, least, streams, from_profile, program, len(cards), card_bytes)


def _resource_trial(
    candidate: Candidate, make: Make, cards: list[CardRequests], costs: CallCosts, card_bytes: int | None, limited: bool
) -> ResourceTrial:
    """Return the result of a resource of `advice.rmm` for the requests of all cards.

    What does not fit on the named card shows what it takes where the card never runs out.
    """
    results = [serve(make(Driver(card_bytes)), requests) for requests in cards]
    fits = all(result.failed_at < 0 for result in results)
    if not fits and card_bytes is not None and not limited:
        results = [serve(make(Driver()), requests) for requests in cards]
    return _trial(candidate, results, costs, None if card_bytes is None else fits)


def _trial(candidate: Candidate, results: list[Served], costs: CallCosts, fits: bool | None) -> ResourceTrial:
    sizes = np.array([size for result in results for size in result.calls], np.int64)
    calls = np.zeros((len(sizes), 4), np.int64)
    calls[:, SEGMENT_BYTES] = sizes
    return ResourceTrial(
        setting=candidate.setting,
        reserved_peak_bytes=sum(result.reserved_peak for result in results),
        driver_calls=len(sizes),
        driver_ns=round(driver_ns(calls, costs)),
        fits=fits,
        settable=candidate.settable,
    )


class _Runs:
    """Runs of the engine `pool` on the requests of a trace, one cache after another."""

    def __init__(self, path: str) -> None:
        from workbench.advice.replay import replay_sweep
        from workbench.experiments.plan import make_plan
        from workbench.experiments.sweep import read_sweep
        from workbench.mechanisms.mechanism import mechanism

        config = {**replay_sweep(path, ["no_cache"], card_bytes=CARD_BYTES), "figures": [], "measures": []}
        config["policy"] = {"cache": "no_cache", "target": "local_only"}
        self._setup: Any = make_plan(read_sweep(config)).points[0].setup
        self._engine: Any = mechanism("pool").engine
        self.file: TraceFile = self._setup.workload.trace_file()
        self.before = int(self._setup.workload.facts(self._setup.machine)["allocations_from_before"])

    def of(self, cache: Cache) -> PoolRecord:
        """Return the run under a cache."""
        setup = self._setup._replace(policies={**self._setup.policies, "cache": cache})
        record: PoolRecord = self._engine.simulate(setup, 0)
        return record

    def live_peak(self) -> list[int]:
        """Return the most bytes that were live on each card that was asked."""
        record = self.of(NoCache())
        cards = np.unique(record.borrower).tolist()
        return in_use(record, "asked")[cards].max(axis=1, initial=0).tolist()


def _engine_trial(
    runs: _Runs, candidate: Candidate, cache: Cache, costs: CallCosts, card_bytes: int | None
) -> ResourceTrial:
    """Return the result of a cache; a card that never runs out tells whether a smaller one would."""
    record = runs.of(cache)
    cards = np.unique(record.borrower).tolist()
    peaks = reserved(record)[cards].max(axis=1, initial=0).tolist()
    own = record.calls[(record.calls[:, ROW] >= runs.before) | (record.calls[:, BYTES] > 0)]
    calls = np.column_stack([own, np.zeros(len(own), np.int64)])[:, [0, 2, 3, 4]]
    return ResourceTrial(
        setting=candidate.setting,
        reserved_peak_bytes=sum(peaks),
        driver_calls=len(own),
        driver_ns=round(driver_ns(calls, costs)),
        fits=None if card_bytes is None else max(peaks, default=0) <= card_bytes,
        settable=candidate.settable,
    )
