"""Which settings of PyTorch's allocator would have carried a recorded program, on which card: `workbench advise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.advice.torch_memory.advice_json import plain_advice
from workbench.advice.torch_memory.answer import five_lines
from workbench.advice.torch_memory.diagnosis import Diagnosis, rank_trials
from workbench.advice.torch_memory.driver_pool import DriverPoolSnapshot, driver_pool_of
from workbench.advice.torch_memory.holdings import SegmentSnapshot, segment_snapshot_of
from workbench.advice.torch_memory.page import notebook_of, page_of
from workbench.advice.torch_memory.search_space import EXPANDABLE, grid, sample_with_tpe
from workbench.advice.torch_memory.sentences import sentences_of
from workbench.advice.torch_memory.snapshot import (
    CardHistory,
    Read,
    check_events,
    failed_first,
)
from workbench.advice.torch_memory.trial import (
    COSTS,
    Need,
    Trial,
    evaluate,
    on_card,
    with_smallest_card,
)
from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.offline_plan import MOST_BLOCKS, planned_bytes
from workbench.engines.torch_allocator.replay import NOTHING_TO_COMPARE, ReplayInput
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import InputError
from workbench.records.torch_allocator import CallCosts
from workbench.workloads.allocator_log import FREE_COMPLETED, OTHER, AllocatorLog
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot
from workbench.workloads.importers.unreadable import as_one_sentence

TRIALS, FEWEST, ROWS_IN_ALL = 60, 8, 4_000_000
"""How many settings Optuna proposes at most and at least; fewer of a long history, so that all have so many rows."""
MOST_ROWS = 100_000
"""Requests up to which the smallest card is looked for under every setting; above it under the best and the usual."""
ENOUGH = 0.9
"""The share of a recording that a replay must reproduce: below it there is no advice."""
Say = Callable[[str], None]
Log = tuple[str, AllocatorLog]
"""The history of one card, and the file that it is from."""


class Advice(Diagnosis):
    """What memory snapshots say about the settings of PyTorch's allocator.

    `best` is the setting to take, `table` has a row a setting, `exactness` says how much of the recording the replay
    reproduced: what the advice rests on. `cards` begins with the card that failed; `lines` says it in five lines. In a
    notebook it shows itself.
    """

    def lines(self) -> list[str]:
        """Return the answer in five lines: which card and when, what it held, why, what to set, where it fits."""
        return five_lines(self)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types, as `workbench advise --json` prints it."""
        return plain_advice(self)

    def sentences(self) -> list[str]:
        """Return the five lines, and all else that came out, in words."""
        return sentences_of(self)

    def html(self) -> str:
        """Return a page of its own that needs nothing else: five lines, curves, the map of segments, who holds what."""
        return page_of(self)

    def _repr_html_(self) -> str:
        return notebook_of(self)

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def advise(
    path: str | Path | Sequence[str | Path],
    card_bytes: int | None = None,
    say: Say | None = None,
    costs: CallCosts = COSTS,
) -> Advice:
    """Try the settings of PyTorch's allocator on what memory snapshots recorded.

    Parameters
    ----------
    path : str, Path or a sequence of them
        Memory snapshots with a history, as `torch.cuda.memory._dump_snapshot` writes them; of several (ranks, steps)
        one setting is looked for that serves all, and the card that fares worst comes first.
    card_bytes : int, optional
        Bytes of a card that the program should fit on.
    say : callable, optional
        Receives a sentence as soon as it is known how exactly the recording is replayed.
    costs : CallCosts, optional
        What the driver's calls cost, in nanoseconds; measure them on your card.

    Returns
    -------
    Advice
        `.best`, `.table`, `.exactness`, `.lines()` and more.

    Raises
    ------
    InputError
        A file is no memory snapshot, or holds no history, or its replay does not reproduce it.
    """
    paths = [str(it) for it in ([path] if isinstance(path, (str, Path)) else path)]
    return advise_histories([(it, history_of(it)) for it in paths], card_bytes, say, costs)


def advise_histories(
    histories: Sequence[tuple[str, Sequence[AllocatorLog]]],
    card_bytes: int | None = None,
    say: Say | None = None,
    costs: CallCosts = COSTS,
) -> Advice:
    """Try settings on snapshots that are read already, each with its file's name; see `advise`."""
    further = ", or leave it out" if len(histories) > 1 else ""
    for file, logs in histories:
        of_driver = driver_pool_of(logs, file)
        if of_driver is not None:
            raise InputError(
                f"{file}: its settings choose backend:{of_driver.backend}, under which PyTorch's settings have no "
                "effect; record the program with backend:native. What the file tells: workbench advise with it alone."
            )
        check_events(logs, file, further)
    return advise_logs([(file, log) for file, logs in histories for log in logs], card_bytes, say, costs)


def history_of(path: str, read: Read = read_snapshot) -> tuple[AllocatorLog, ...]:
    """Return the logs of a memory snapshot, one a card.

    Raises
    ------
    InputError
        The file is no memory snapshot, or was made of a profile.
    """
    from workbench.workloads.catalogue import trace_file

    source = Source(trace_file(path))
    if not source.head.startswith(b"\x80"):
        raise InputError(
            f"{path}: is no memory snapshot of PyTorch; write one with torch.cuda.memory._dump_snapshot, or see what "
            "other caches would do with this trace: workbench trace replay."
        )
    with as_one_sentence(source, "torch_memory_snapshot"):
        logs = read(source)
    if not logs.of_allocator:
        raise InputError(f"{path}: was made of a profile and does not tell the allocator's segments; take a snapshot.")
    return logs.logs


def advise_logs(
    logs: Sequence[Log], card_bytes: int | None = None, say: Say | None = None, costs: CallCosts = COSTS
) -> Advice:
    """Try settings on histories that are read already, each with its file's name; see `advise`."""
    cards = failed_first([CardHistory(log, file) for file, log in logs if np.any(log.events.action < OTHER)])
    where = ", ".join(dict.fromkeys(file for file, _ in logs))
    exactness = sum((card.replay.exactness for card in cards), NOTHING_TO_COMPARE)
    if say is not None:
        say(f"{where}: {exactness.allocs:,} allocations; replayed by PyTorch's rules: {exactness}.")
    for card in cards:
        _check_exactness(card)
    requests = [card.requests for card in cards]
    trials = _with_cards(_evaluate_all(requests, cards[0].own, costs), cards, card_bytes)
    return Advice(where, cards, _settled(trials, cards), _planned(requests, trials), card_bytes, costs)


def _check_exactness(card: CardHistory) -> None:
    """Refuse to advise on what a replay does not reproduce."""
    share = card.replay.exactness.share
    if share < ENOUGH:
        raise InputError(
            f"{card.file}: the replay by PyTorch's rules reproduces {share:.1%} of what {card.name} recorded "
            f"({card.replay.exactness}), and no advice rests on less than {ENOUGH:.0%}; was another allocator in use, "
            "or a setting that the snapshot does not tell? What was recorded: workbench trace import."
        )


def _evaluate_all(requests: Sequence[ReplayInput], own: AllocatorSettings, costs: CallCosts) -> list[Trial]:
    """Return a trial of each setting of the grid, and of what Optuna proposes."""
    known = {settings: evaluate(requests, settings, costs) for settings in grid(own)}
    scores = {settings: _score(trial) for settings, trial in known.items()}

    def score(settings: AllocatorSettings) -> tuple[int, int]:
        known[settings] = evaluate(requests, settings, costs)
        return _score(known[settings])

    count = sum(len(one.requests.kind) for one in requests)
    sample_with_tpe(score, scores, min(max(ROWS_IN_ALL // max(count, 1), FEWEST), TRIALS))
    return list(known.values())


def _score(trial: Trial) -> tuple[int, int]:
    return trial.reserved_peak_bytes, trial.driver_calls


def _with_cards(trials: list[Trial], cards: Sequence[CardHistory], card_bytes: int | None) -> list[Trial]:
    requests, own = [card.requests for card in cards], cards[0].own
    if card_bytes is not None:
        trials = [on_card(trial, requests, card_bytes) for trial in trials]
    few = sum(len(one.requests.kind) for one in requests) <= MOST_ROWS
    first = min(trials, key=lambda trial: (trial.fits is False, *_score(trial), trial.simplicity_key)).settings
    looked = (few or trial.settings in (own, EXPANDABLE, first) for trial in trials)
    return [
        with_smallest_card(it, requests, [_known(card, it.settings) for card in cards]) if look else it
        for it, look in zip(trials, looked, strict=True)
    ]


def _settled(trials: list[Trial], cards: Sequence[CardHistory]) -> list[Trial]:
    """Return the trials; above the smallest cards of the best, with expandable segments and without, every card serves
    everything."""
    failures, requests, own = [card.failure for card in cards], [card.requests for card in cards], cards[0].own
    settled = {own}
    while True:
        recorded = next(trial for trial in trials if trial.settings == own)
        without = [it for it in trials if it is recorded or not it.settings.expandable_segments]
        best = [rank_trials(some, recorded, failures)[0] for some in (trials, without)]
        open_ones = [trial for trial in best if trial.settings not in settled]
        if not open_ones:
            return trials
        settled |= {trial.settings for trial in open_ones}
        trials = [with_smallest_card(it, requests, is_printed=True) if it in open_ones else it for it in trials]


def _known(card: CardHistory, settings: AllocatorSettings) -> Need | None:
    """Return the need of a card under its own settings, if the history tells its whole beginning."""
    return card.need if settings == card.own and card.replay.recording.is_whole else None


def _planned(requests: Sequence[ReplayInput], trials: Sequence[Trial]) -> list[int]:
    """Return the need of a plan of addresses on each card; of very many blocks the least that any setting reserved,
    which is a plan too."""
    least = [min(trial.cards[k].reserved_peak_bytes for trial in trials) for k in range(len(requests))]
    return [
        own if int((one.requests.kind == rows.ALLOC).sum()) > MOST_BLOCKS else min(_plan_of(one), own)
        for one, own in zip(requests, least, strict=True)
    ]


def _plan_of(replay: ReplayInput) -> int:
    requests = replay.requests
    born = np.flatnonzero(requests.kind == rows.ALLOC)
    gone = np.full(int(requests.handle.max(initial=0)) + 1, len(requests.kind))
    ends = np.flatnonzero((requests.kind == rows.FREE) | (requests.kind == rows.COMPLETE))
    gone[requests.handle[ends]] = ends
    size = -(-np.maximum(requests.size[born], 1) // rows.MIN_BLOCK) * rows.MIN_BLOCK
    return planned_bytes(born, gone[requests.handle[born]], size)


def advice_or_segments(
    path: str | Path | Sequence[str | Path],
    card_bytes: int | None = None,
    say: Say | None = None,
    costs: CallCosts = COSTS,
    read: Read = read_snapshot,
) -> Advice | SegmentSnapshot | DriverPoolSnapshot:
    """Return advice; of a snapshot with no history or of the driver's pool, what it tells. As `advise` otherwise.

    `read` reads the one file; who has read it already hands over what came of that.
    """
    if isinstance(path, (str, Path)):
        logs = history_of(str(path), read)
        of_driver = driver_pool_of(logs, str(path))
        if of_driver is not None:
            return of_driver
        events = sum(int(np.count_nonzero(log.events.action <= FREE_COMPLETED)) for log in logs)
        if events <= 1 and any(len(log.segments.size) for log in logs):
            return segment_snapshot_of(logs, str(path))
        check_events(logs, str(path))
        return advise_logs([(str(path), log) for log in logs], card_bytes, say, costs)
    return advise(path, card_bytes, say, costs)
