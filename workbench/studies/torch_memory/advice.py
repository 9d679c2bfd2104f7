"""Which settings of PyTorch's allocator would have carried a recorded program, on which card: `workbench advise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.address_plan import MOST_BLOCKS, planned_bytes
from workbench.engines.torch_allocator.asking import Asking, asking_of
from workbench.engines.torch_allocator.exactness import Exactness
from workbench.engines.torch_allocator.recording import Recording, reserved_by_event
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import InputError
from workbench.records.torch_allocator import CallCosts
from workbench.studies.torch_memory.candidates import grid, proposed
from workbench.studies.torch_memory.holdings import Holder, Pin, SegmentMap, by_site, by_size, pins, segments_at
from workbench.studies.torch_memory.lives import Lives, lives_of
from workbench.studies.torch_memory.moment import moment_of
from workbench.studies.torch_memory.replay import Recorded, SnapshotReplay, snapshot_replay
from workbench.studies.torch_memory.still import Still, still_of
from workbench.studies.torch_memory.trial import COSTS, Trial, on_card, tried, with_smallest_card
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED, OTHER, AllocatorLog
from workbench.workloads.importers.bad_line import as_one_sentence
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot

if TYPE_CHECKING:
    import pandas as pd

TRIALS, FEWEST, ROWS_IN_ALL = 60, 8, 4_000_000
"""How many settings Optuna proposes at most and at least; fewer of a long history, so that all have so many rows."""
MOST_ROWS = 400_000
"""Requests up to which the smallest card is looked for under every setting; above it under the best and the own."""
Say = Callable[[str], None]


class Curve(NamedTuple):
    """Bytes over the events of a history."""

    name: str
    bytes: np.ndarray


class Failure(NamedTuple):
    """A request that the recorded allocator could not serve."""

    event: int
    asked_bytes: int
    reserved_bytes: int
    """What the allocator held then, after all that was free had gone back."""
    driver_free_bytes: int
    """What the driver still had, -1 = not told."""


class Advice:
    """What a memory snapshot says about the settings of PyTorch's allocator.

    `best` is the value of PYTORCH_ALLOC_CONF to set, `table` has a row a setting, `exactness` says how much of the
    recording the replay reproduced: what the advice rests on. In a notebook it shows itself.
    """

    def __init__(
        self,
        path: str,
        replay: SnapshotReplay,
        requests: Sequence[Asking],
        trials: Sequence[Trial],
        plan_bytes: int,
        card_bytes: int | None,
    ) -> None:
        self.path = path
        self.replay = replay
        self.exactness: Exactness = replay.exactness
        self.recorded: Recorded = replay.recorded
        self.card_bytes = card_bytes
        self.trials: list[Trial] = _best_first(trials)
        self.active_peak_bytes = sum(int(one.live.max(initial=0)) for one in requests)
        self.offline_plan_bytes = plan_bytes
        self._asked = list(requests)

    @property
    def best(self) -> str:
        """Return the value of PYTORCH_ALLOC_CONF under which the least is reserved; empty = PyTorch's defaults."""
        return self.best_trial.conf

    @property
    def best_trial(self) -> Trial:
        """Return the first of the settings: one that fits on the named card, with the least peak; of those with the
        same peak and within a tenth of the fewest driver calls, the simplest (see `Trial.is_simpler_by`)."""
        return self.trials[0]

    @property
    def as_good(self) -> int:
        """Return how many settings reserve as little as the best with no more than a tenth of driver calls more."""
        return len(_as_good(sorted(self.trials, key=_order)))

    @property
    def own_trial(self) -> Trial:
        """Return the settings that the program was recorded with."""
        own = self.replay.replays[0].recording.settings
        return next(trial for trial in self.trials if trial.settings == own)

    @property
    def is_whole(self) -> bool:
        """Return whether the history begins with an allocator that held nothing, so that nothing before it is
        unknown."""
        return self.replay.is_whole

    @property
    def smallest_card_bytes(self) -> int | None:
        """Return the smallest card on which the program runs under any of the settings."""
        return min((it.smallest_card_bytes for it in self.trials if it.smallest_card_bytes is not None), default=None)

    @property
    def failures(self) -> list[Failure]:
        """Return the requests that the recorded allocator could not serve."""
        return [failure for one in self.replay.replays for failure in _failures(one.recording)]

    @property
    def table(self) -> pd.DataFrame:
        """Return a row a setting, the best first: what it reserves, driver calls, the smallest card, where it runs
        out."""
        import pandas as pd

        return pd.DataFrame([_flat(trial) for trial in self.trials])

    def peak_segments(self) -> list[SegmentMap]:
        """Return the recorded segments with their live blocks when most bytes were live, all cards together."""
        peaks = [_peak_event(one.recording) for one in self.replay.replays]
        return [it for k, event in enumerate(peaks) for it in self._segments(k, event)]

    def holders(self) -> list[Holder]:
        """Return who asked for what was live at the peak."""
        return by_site(self.peak_segments())

    def sizes(self) -> list[Holder]:
        """Return what was live at the peak by classes of size."""
        return by_size(self.peak_segments())

    def pins(self) -> list[Pin]:
        """Return which live blocks kept free bytes from going back when most was reserved."""
        fullest = [_fullest_event(one.recording) for one in self.replay.replays]
        return pins(it for k, event in enumerate(fullest) for it in self._segments(k, event))

    def _segments(self, card: int, event: int) -> list[SegmentMap]:
        """Return the segments of a card after one of its events."""
        return segments_at(moment_of(self._lives[card], event + 1), self.replay.replays[card].recording.log.sites)

    @cached_property
    def _lives(self) -> list[Lives]:
        return [lives_of(one.recording) for one in self.replay.replays]

    def curves(self) -> list[Curve]:
        """Return the bytes over the events of the first card: live and reserved as recorded, reserved under the best
        setting."""
        from workbench.studies.torch_memory.curves import curves_of

        return curves_of(self.replay.replays[0].recording, self._asked[0], self.best_trial.settings)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types, as `workbench advise --json` prints it."""
        from workbench.studies.torch_memory.plain_advice import plain_advice

        return plain_advice(self)

    def sentences(self) -> list[str]:
        """Return what came out, in words."""
        from workbench.studies.torch_memory.sentences import sentences_of

        return sentences_of(self)

    def html(self) -> str:
        """Return a page of its own that needs nothing else: curves, the map of segments at the peak, every setting."""
        from workbench.studies.torch_memory.page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        from workbench.studies.torch_memory.page import notebook_of

        return notebook_of(self)

    def __repr__(self) -> str:
        return "\n".join(self.sentences())


def _order(trial: Trial) -> tuple[Any, ...]:
    return trial.fits is False, trial.reserved_peak_bytes, trial.driver_calls, trial.is_simpler_by


def _best_first(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials by peak and driver calls, and in front of all the simplest of those that are as good."""
    ordered = sorted(trials, key=_order)
    best = min(_as_good(ordered), key=lambda trial: trial.is_simpler_by)
    return [best, *(trial for trial in ordered if trial is not best)]


def _as_good(ordered: Sequence[Trial]) -> list[Trial]:
    """Return the trials with the first one's peak, and driver calls within a tenth of its own."""
    first = ordered[0]
    alike = (it for it in ordered if (it.fits, it.reserved_peak_bytes) == (first.fits, first.reserved_peak_bytes))
    return [trial for trial in alike if 10 * trial.driver_calls <= 11 * first.driver_calls]


def _flat(trial: Trial) -> dict[str, Any]:
    row = trial.row()
    out = row.pop("runs_out")
    flat = out if isinstance(out, dict) else {}
    return {**row, "runs_out_at_event": flat.get("event"), "runs_out_asked_bytes": flat.get("asked_bytes")}


def advise(path: str | Path, card_bytes: int | None = None, say: Say | None = None, costs: CallCosts = COSTS) -> Advice:
    """Try the settings of PyTorch's allocator on what a memory snapshot recorded.

    Parameters
    ----------
    path : str or Path
        A memory snapshot with a history, as `torch.cuda.memory._dump_snapshot` writes it.
    card_bytes : int, optional
        Bytes of a card that the program should fit on.
    say : callable, optional
        Receives a sentence as soon as it is known how exactly the recording is replayed.
    costs : CallCosts, optional
        What the driver's calls cost, in nanoseconds; measure them on your card.

    Returns
    -------
    Advice
        `.best`, `.table`, `.exactness` and more.

    Raises
    ------
    InputError
        The file is no memory snapshot, or holds no history.
    """
    return advise_logs(_history(path), str(path), card_bytes, say, costs)


def _history(path: str | Path) -> tuple[AllocatorLog, ...]:
    from workbench.workloads.catalogue import trace_file

    source = Source(trace_file(str(path)))
    if not source.head.startswith(b"\x80"):
        raise InputError(
            f"{path}: is no memory snapshot of PyTorch; write one with torch.cuda.memory._dump_snapshot, or see what "
            "other caches would do with this trace: workbench replay."
        )
    with as_one_sentence(source, "torch_memory_snapshot"):
        logs = read_snapshot(source)
    if not logs.of_allocator:
        raise InputError(f"{path}: was made of a profile and does not tell the allocator's segments; take a snapshot.")
    return logs.logs


def advise_logs(
    logs: Sequence[AllocatorLog],
    where: str,
    card_bytes: int | None = None,
    say: Say | None = None,
    costs: CallCosts = COSTS,
) -> Advice:
    """Try settings on histories that are read already; see `advise`."""
    replay = snapshot_replay(logs, where)
    if say is not None:
        say(_first_line(where, replay))
    requests = [asking_of(one.recording) for one in replay.replays]
    own = replay.replays[0].recording.settings
    trials = _with_cards(_tried(requests, own, costs), requests, own, card_bytes)
    return Advice(where, replay, requests, trials, _planned(requests, trials), card_bytes)


def _first_line(where: str, replay: SnapshotReplay) -> str:
    return f"{where}: {replay.exactness.allocs:,} allocations; replayed by PyTorch's rules: {replay.exactness}."


def _tried(requests: Sequence[Asking], own: AllocatorSettings, costs: CallCosts) -> list[Trial]:
    """Return a trial of each setting of the grid, and of what Optuna proposes."""
    known = {settings: tried(requests, settings, costs) for settings in grid(own)}
    scores = {settings: _score(trial) for settings, trial in known.items()}

    def score(settings: AllocatorSettings) -> tuple[int, int]:
        known[settings] = tried(requests, settings, costs)
        return _score(known[settings])

    count = sum(len(one.requests.kind) for one in requests)
    proposed(score, scores, min(max(ROWS_IN_ALL // max(count, 1), FEWEST), TRIALS))
    return list(known.values())


def _score(trial: Trial) -> tuple[int, int]:
    return trial.reserved_peak_bytes, trial.driver_calls


def _with_cards(
    trials: list[Trial], requests: Sequence[Asking], own: AllocatorSettings, card_bytes: int | None
) -> list[Trial]:
    if card_bytes is not None:
        trials = [on_card(trial, requests, card_bytes) for trial in trials]
    few = sum(len(one.requests.kind) for one in requests) <= MOST_ROWS
    first = _best_first(trials)[0].settings
    looked = (few or trial.settings in (own, first) for trial in trials)
    return [with_smallest_card(it, requests) if look else it for it, look in zip(trials, looked, strict=True)]


def _planned(requests: Sequence[Asking], trials: Sequence[Trial]) -> int:
    """Return what a plan of addresses needs; of very many blocks the least that any setting reserved, which is one
    too."""
    least = min(trial.reserved_peak_bytes for trial in trials)
    if max(int((one.requests.kind == rows.ALLOC).sum()) for one in requests) > MOST_BLOCKS:
        return least
    return min(sum(_plan_of(one) for one in requests), least)


def _plan_of(replay: Asking) -> int:
    requests = replay.requests
    born = np.flatnonzero(requests.kind == rows.ALLOC)
    gone = np.full(int(requests.handle.max(initial=0)) + 1, len(requests.kind))
    ends = np.flatnonzero((requests.kind == rows.FREE) | (requests.kind == rows.COMPLETE))
    gone[requests.handle[ends]] = ends
    size = -(-np.maximum(requests.size[born], 1) // rows.MIN_BLOCK) * rows.MIN_BLOCK
    return planned_bytes(born, gone[requests.handle[born]], size)


def _peak_event(recording: Recording) -> int:
    """Return the event after which most bytes were live."""
    events = recording.log.events
    change = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    return int(np.argmax(np.cumsum(change))) if len(change) else -1


def _fullest_event(recording: Recording) -> int:
    """Return the event after which most bytes were reserved and not in use, among those of the highest reserve."""
    grown = np.cumsum(reserved_by_event(recording.log))
    return len(grown) - 1 - int(np.argmax(grown[::-1])) if len(grown) else -1


def _failures(recording: Recording) -> list[Failure]:
    events, held = recording.log.events, recording.reserved_at_start + np.cumsum(reserved_by_event(recording.log))
    return [
        Failure(at, int(events.size[at]), int(held[at]), int(events.address[at])) for at in recording.failed.tolist()
    ]


def advice_or_still(
    path: str | Path, card_bytes: int | None = None, say: Say | None = None, costs: CallCosts = COSTS
) -> Advice | Still:
    """Return advice, or, of a snapshot without a history, what its segments tell; as `advise` otherwise."""
    logs = _history(path)
    events = sum(int(np.count_nonzero(log.events.action < OTHER)) for log in logs)
    if not events and any(len(log.segments.size) for log in logs):
        return still_of(logs, str(path))
    return advise_logs(logs, str(path), card_bytes, say, costs)
