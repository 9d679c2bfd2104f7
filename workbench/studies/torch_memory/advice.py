"""Which settings of PyTorch's allocator would have carried a recorded program, on which card: `workbench advise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.offline_plan import MOST_BLOCKS, planned_bytes
from workbench.engines.torch_allocator.replay import NOTHING_TO_COMPARE, Asking, Exactness
from workbench.engines.torch_allocator.settings import AllocatorSettings, variable_of
from workbench.errors import InputError
from workbench.records.torch_allocator import CallCosts
from workbench.studies.torch_memory.holdings import Holder, Pin, SegmentMap, Still, by_site, by_size, pins, still_of
from workbench.studies.torch_memory.snapshot import (
    CardHistory,
    Failure,
    Read,
    Recorded,
    SnapshotReplay,
    check_events,
    failed_first,
    recorded_of,
)
from workbench.studies.torch_memory.trial import (
    COSTS,
    EXPANDABLE,
    Trial,
    given_back_at_once,
    grid,
    on_card,
    proposed,
    tried,
    with_smallest_card,
)
from workbench.workloads.allocator_log import FREE_COMPLETED, OTHER, AllocatorLog
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot
from workbench.workloads.importers.unreadable import as_one_sentence

if TYPE_CHECKING:
    import pandas as pd

TRIALS, FEWEST, ROWS_IN_ALL = 60, 8, 4_000_000
"""How many settings Optuna proposes at most and at least; fewer of a long history, so that all have so many rows."""
MOST_ROWS = 100_000
"""Requests up to which the smallest card is looked for under every setting; above it under the best and the usual."""
LEAST_GAIN = 0.01
"""The share of the needed card that a setting must save to be worth a change, or another key."""
SURE, ENOUGH = 0.999, 0.9
"""The share of a recording that a replay reproduces: below the first the advice says so before all, below the second
there is none."""
Say = Callable[[str], None]
Log = tuple[str, AllocatorLog]
"""The history of one card, and the file that it is from."""


class Curve(NamedTuple):
    """Bytes over the events of a history."""

    name: str
    bytes: np.ndarray


class WhatIf(NamedTuple):
    """What would have been reserved if the program had given some of its blocks back as soon as it had them."""

    line: str
    """FILE:LINE that asked for them."""
    blocks: int
    bytes_at_peak: int
    """What they took on the first card when it was decided."""
    own: Trial
    best: Trial
    """The recorded and the best settings without them."""


class Advice:
    """What memory snapshots say about the settings of PyTorch's allocator.

    `best` is the setting to take, `table` has a row a setting, `exactness` says how much of the recording the replay
    reproduced: what the advice rests on. `cards` begins with the card that failed; `lines` says it in five lines. In a
    notebook it shows itself.
    """

    def __init__(
        self,
        path: str,
        cards: Sequence[CardHistory],
        trials: Sequence[Trial],
        plan_bytes: int,
        card_bytes: int | None,
        costs: CallCosts = COSTS,
    ) -> None:
        self.path = path
        self.cards = list(cards)
        self.card_bytes = card_bytes
        self.costs = costs
        self.own_trial = next(trial for trial in trials if trial.settings == self.cards[0].own)
        self.trials: list[Trial] = best_first(trials, self.own_trial, [card.failure for card in self.cards])
        self.exactness: Exactness = sum((card.replay.exactness for card in self.cards), NOTHING_TO_COMPARE)
        self.recorded: Recorded = recorded_of([card.replay.recording for card in self.cards])
        self.active_peak_bytes = sum(int(card.requests.live.max(initial=0)) for card in self.cards)
        self.offline_plan_bytes = plan_bytes

    @property
    def best(self) -> str:
        """Return the value of PYTORCH_CUDA_ALLOC_CONF to set; empty = PyTorch's defaults."""
        return self.best_trial.conf

    @property
    def best_trial(self) -> Trial:
        """Return the setting to take: the recorded one, unless another needs a card that is 1 % smaller or carries what
        failed; then expandable segments alone, unless another setting needs 1 % less still."""
        return self.trials[0]

    @property
    def replay(self) -> SnapshotReplay:
        """Return the histories, each replayed as it was recorded."""
        return SnapshotReplay(tuple(card.replay for card in self.cards), self.exactness, self.recorded)

    @property
    def is_change(self) -> bool:
        """Return whether the best setting is another than the recorded one."""
        return self.best_trial.settings != self.own_trial.settings

    @property
    def variable(self) -> str:
        """Return the environment variable that the recording's own PyTorch reads."""
        return variable_of(self.cards[0].log.settings)

    @property
    def is_whole(self) -> bool:
        """Return whether every history begins with an allocator that held nothing, so that nothing before it is
        unknown."""
        return all(card.replay.recording.is_whole for card in self.cards)

    @property
    def smallest_card_bytes(self) -> int | None:
        """Return the smallest card on which the program runs under any of the settings."""
        return min((it.smallest_card_bytes for it in self.trials if it.smallest_card_bytes is not None), default=None)

    @property
    def failures(self) -> list[Failure]:
        """Return the requests that the recorded allocators could not serve."""
        return [failure for card in self.cards for failure in card.failures]

    @property
    def table(self) -> pd.DataFrame:
        """Return a row a setting, the best first: what it reserves, driver calls, the smallest card, where it runs
        out."""
        import pandas as pd

        return pd.DataFrame([_flat(trial) for trial in self.trials])

    @cached_property
    def segments(self) -> list[SegmentMap]:
        """Return the segments with their live blocks of the first card when it was decided: before it failed, else when
        most was reserved."""
        return self.cards[0].segments(self.cards[0].decisive)

    def holders(self) -> list[Holder]:
        """Return who asked for what was live on the first card when it was decided."""
        return by_site(self.segments)

    def sizes(self) -> list[Holder]:
        """Return what was live on the first card when it was decided, by classes of size."""
        return by_size(self.segments)

    def pins(self) -> list[Pin]:
        """Return which live blocks kept free bytes of the first card from going back when it was decided."""
        return pins(self.segments)

    def curves(self) -> list[Curve]:
        """Return the bytes over the events of the first card: live and reserved as recorded, reserved under the best
        setting, or where that is the recorded one, under expandable segments or without."""
        card = self.cards[0]
        other = self.best_trial.settings if self.is_change else card.own.but(expandable_segments=False)
        if other == card.own:
            other = EXPANDABLE
        return [
            Curve("live", card.recorded.allocated[1:]),
            Curve("reserved, recorded", card.recorded.reserved[1:]),
            Curve(f"reserved, {other.conf or 'defaults'}", card.reserved(other)[1:]),
        ]

    def what_if_freed(self, line: str) -> WhatIf:
        """Return what the peak and the smallest card would be if what a line of the program asks for went back at once.

        Parameters
        ----------
        line : str
            FILE:LINE, as of the holders: `model.py:39`, or with folders before it.

        Raises
        ------
        InputError
            No block was asked for there.
        """
        chosen = [_handles_of(card, line) for card in self.cards]
        if not any(map(len, chosen)):
            names = ", ".join(holder.name for holder in self.holders()[:3])
            raise InputError(f"{self.path}: no block was asked for at {line}; most is held by {names}.")
        requests = [given_back_at_once(card.requests, it) for card, it in zip(self.cards, chosen, strict=True)]
        own, best = (
            with_smallest_card(tried(requests, it.settings, self.costs), requests)
            for it in (self.own_trial, self.best_trial)
        )
        held = sum(block.size for segment in self.segments for block in segment.blocks if is_at(block.site, line))
        return WhatIf(line, sum(map(len, chosen)), held, own, best)

    def lines(self) -> list[str]:
        """Return the answer in five lines: which card and when, what it held, why, what to set, where it fits."""
        from workbench.studies.torch_memory.sentences import five_lines

        return five_lines(self)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types, as `workbench advise --json` prints it."""
        from workbench.studies.torch_memory.sentences import plain_advice

        return plain_advice(self)

    def sentences(self) -> list[str]:
        """Return the five lines, and all else that came out, in words."""
        from workbench.studies.torch_memory.sentences import sentences_of

        return sentences_of(self)

    def html(self) -> str:
        """Return a page of its own that needs nothing else: five lines, curves, the map of segments, who holds what."""
        from workbench.studies.torch_memory.page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        from workbench.studies.torch_memory.page import notebook_of

        return notebook_of(self)

    def __repr__(self) -> str:
        return "\n".join(self.lines())


def best_first(trials: Sequence[Trial], own: Trial, failures: Sequence[Failure | None]) -> list[Trial]:
    """Return the setting to take, then the others: those that carry most of what failed first, on the smallest cards.

    Parameters
    ----------
    own : Trial
        The recorded settings.
    failures : sequence of Failure or None
        Of each card what it ran out of memory with.
    """

    def order(trial: Trial) -> tuple[Any, ...]:
        short = _short(trial, failures)
        return short, trial.needed_bytes, trial.reserved_peak_bytes, trial.driver_calls, trial.is_simpler_by

    ordered = sorted(trials, key=order)
    looked = [trial for trial in ordered if trial.smallest_card_bytes is not None] or ordered
    most = [trial for trial in looked if _short(trial, failures) == _short(looked[0], failures)]
    least = most[0].needed_bytes
    alike = [trial for trial in most if trial.needed_bytes == least]
    usual = [trial for trial in most if trial.settings == own.settings or trial.settings == EXPANDABLE]
    near = [trial for trial in usual if trial.needed_bytes - least < LEAST_GAIN * trial.needed_bytes]
    near.sort(key=lambda trial: trial.settings != own.settings)
    best = near[0] if near else min(alike, key=lambda trial: trial.is_simpler_by)
    return [best, *(trial for trial in ordered if trial is not best)]


def _short(trial: Trial, failures: Sequence[Failure | None]) -> int:
    """Return on how many cards a setting does not carry what was recorded, or would not on the named one."""
    rooms = [None if failure is None else failure.room_bytes for failure in failures]
    needs = [card.smallest_card_bytes or card.reserved_peak_bytes for card in trial.cards]
    count = sum(room is not None and need > room for room, need in zip(rooms, needs, strict=True))
    return count + (trial.fits is False)


def is_at(site: str, line: str) -> bool:
    """Return whether a place in a program is a line of it, whatever folders are named before the file.

    >>> is_at("net/model.py:39 forward", "model.py:39"), is_at("net/model.py:390 forward", "model.py:39")
    (True, False)
    """
    where = site.split(" ", 1)[0]
    line = line.replace("\\", "/")
    return where == line or where.endswith("/" + line) or line.endswith("/" + where)


def _handles_of(card: CardHistory, line: str) -> np.ndarray:
    """Return the blocks of a card, as its requests know them, that a line of the program asked for: int64[blocks]."""
    is_there = np.array([is_at(site, line) for site in card.log.sites] + [False], bool)
    requests, blocks, start = card.requests.requests, card.lives.blocks, card.replay.recording.start
    before = blocks.born == 0
    chosen = {int(at) for at in blocks.address[before][is_there[blocks.site[before]]]}
    held = start.handle >= 0
    early = [handle for at, handle in zip(start.address[held], start.handle[held], strict=True) if int(at) in chosen]
    within = (requests.kind == rows.ALLOC) & (card.requests.event >= 0)
    within[card.requests.refused] = False
    late = np.flatnonzero(within)
    late = late[is_there[card.log.events.site[card.requests.event[late]]]]
    return np.concatenate([np.array(early, np.int64), requests.handle[late]])


def _flat(trial: Trial) -> dict[str, Any]:
    row = trial.row()
    del row["cards"]
    out = row.pop("runs_out")
    flat = out if isinstance(out, dict) else {}
    return {**row, "runs_out_at_event": flat.get("event"), "runs_out_asked_bytes": flat.get("asked_bytes")}


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
    logs = [(it, log) for it in paths for log in _history(it)]
    for it in paths:
        check_events([log for file, log in logs if file == it], it)
    return advise_logs(logs, card_bytes, say, costs)


def _history(path: str, read: Read = read_snapshot) -> tuple[AllocatorLog, ...]:
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
    trials = _with_cards(_tried(requests, cards[0].own, costs), requests, cards[0].own, card_bytes)
    return Advice(where, cards, trials, _planned(requests, trials), card_bytes, costs)


def _check_exactness(card: CardHistory) -> None:
    """Refuse to advise on what a replay does not reproduce."""
    share = card.replay.exactness.share
    if share < ENOUGH:
        raise InputError(
            f"{card.file}: the replay by PyTorch's rules reproduces {share:.1%} of what {card.name} recorded "
            f"({card.replay.exactness}), and no advice rests on less than {ENOUGH:.0%}; was another allocator in use, "
            "or a setting that the snapshot does not tell? What was recorded: workbench trace import."
        )


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
    first = min(trials, key=lambda trial: (trial.fits is False, *_score(trial), trial.is_simpler_by)).settings
    looked = (few or trial.settings in (own, EXPANDABLE, first) for trial in trials)
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


def advice_or_still(
    path: str | Path | Sequence[str | Path],
    card_bytes: int | None = None,
    say: Say | None = None,
    costs: CallCosts = COSTS,
    read: Read = read_snapshot,
) -> Advice | Still:
    """Return advice, or, of a snapshot with no history to replay, what its segments tell; as `advise` otherwise.

    `read` reads the one file; who has read it already hands over what came of that.
    """
    if isinstance(path, (str, Path)):
        logs = _history(str(path), read)
        events = sum(int(np.count_nonzero(log.events.action <= FREE_COMPLETED)) for log in logs)
        if events <= 1 and any(len(log.segments.size) for log in logs):
            return still_of(logs, str(path))
        check_events(logs, str(path))
        return advise_logs([(str(path), log) for log in logs], card_bytes, say, costs)
    return advise(path, card_bytes, say, costs)
