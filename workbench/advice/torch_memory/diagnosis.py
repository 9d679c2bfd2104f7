"""What replays of memory snapshots tell: trials of settings, holders, pins, curves, and the gain of freeing early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.advice.torch_memory.holdings import Holder, Pin, SegmentMap, by_site, by_size, pins
from workbench.advice.torch_memory.search_space import EXPANDABLE
from workbench.advice.torch_memory.snapshot import (
    CardHistory,
    Failure,
    Recorded,
    SnapshotReplay,
    recorded_of,
)
from workbench.advice.torch_memory.trial import (
    COSTS,
    Trial,
    evaluate,
    with_smallest_card,
)
from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.replay import NOTHING_TO_COMPARE, Exactness, ReplayInput
from workbench.engines.torch_allocator.settings import variable_of
from workbench.errors import InputError
from workbench.records.torch_allocator import CallCosts

if TYPE_CHECKING:
    import pandas as pd

LEAST_GAIN = 0.01
"""The share of the needed card that a setting must save to be worth a change, or another key."""
SPLIT_GAIN = 0.1
"""The share that `max_split_size_mb` must save where nothing failed: it makes the driver's calls many."""


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
    """What they took on the first card when memory was tightest."""
    own: Trial
    best: Trial
    """The recorded and the best settings without them."""


def with_immediate_frees(requests: ReplayInput, handles: np.ndarray) -> ReplayInput:
    """Return the requests as if the program freed some of its blocks as soon as it has them.

    Parameters
    ----------
    handles : int64[blocks]
        The blocks, by the numbers that the requests know them by.
    """
    requested = requests.requests
    chosen = np.isin(requested.handle, handles) & (requested.kind != rows.EMPTY_CACHE)
    gets, kept = chosen & (requested.kind == rows.ALLOC), ~chosen | (requested.kind == rows.ALLOC)
    behind = np.flatnonzero(gets[kept]) + 1
    is_refused = np.zeros(len(kept), bool)
    is_refused[requests.refused] = True

    def changed(column: np.ndarray, value: Any) -> np.ndarray:
        return np.insert(column[kept], behind, value)

    columns = rows.Requests(
        kind=changed(requested.kind, rows.FREE),
        handle=changed(requested.handle, requested.handle[gets]),
        size=changed(requested.size, 0),
        owner=changed(requested.owner, requested.owner[gets]),
        address=changed(requested.address, -1),
    )
    return requests._replace(
        requests=columns,
        event=changed(requests.event, requests.event[gets]),
        before=requests.before + int(gets[: requests.before].sum()),
        refused=np.flatnonzero(changed(is_refused, False)),
    )


class Diagnosis:
    """The trials of settings on memory snapshots, and who held what when memory was tightest.

    `cards` begins with the card that failed. `exactness` says how much of the recording the replay reproduced.
    """

    def __init__(
        self,
        path: str,
        cards: Sequence[CardHistory],
        trials: Sequence[Trial],
        plan_bytes: Sequence[int],
        card_bytes: int | None,
        costs: CallCosts = COSTS,
    ) -> None:
        self.path = path
        self.cards = list(cards)
        self.card_bytes = card_bytes
        self.costs = costs
        self.own_trial = next(trial for trial in trials if trial.settings == self.cards[0].own)
        self.trials: list[Trial] = rank_trials(trials, self.own_trial, [card.failure for card in self.cards])
        others = [it for it in trials if not it.settings.expandable_segments or it is self.own_trial]
        self.next_best: Trial = rank_trials(others, self.own_trial, [card.failure for card in self.cards])[0]
        """The setting to take where expandable segments cannot be used."""
        self.exactness: Exactness = sum((card.replay.exactness for card in self.cards), NOTHING_TO_COMPARE)
        self.recorded: Recorded = recorded_of([card.replay.recording for card in self.cards])
        self.active_peaks = [int(card.requests.live.max(initial=0)) for card in self.cards]
        self.offline_plans = list(plan_bytes)

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
    def active_peak_bytes(self) -> int:
        """Return the most bytes live at a time on the first card; `active_peaks` has those of each."""
        return self.active_peaks[0]

    @property
    def offline_plan_bytes(self) -> int:
        """Return the need of addresses planned beforehand on the first card; `offline_plans` has those of each."""
        return self.offline_plans[0]

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
        """Return a row a setting and card, the best setting first: what it reserves, driver calls, the smallest card,
        where it runs out."""
        import pandas as pd

        names = [card.name for card in self.cards]
        return pd.DataFrame([row for trial in self.trials for row in _flat(trial, names, self.cards)])

    @cached_property
    def segments(self) -> list[SegmentMap]:
        """Return the segments with their live blocks of the first card when memory was tightest: before it failed, else
        after the request that a smaller card does not serve."""
        return self.cards[0].segments(self.cards[0].decisive)

    def holders(self) -> list[Holder]:
        """Return the holders of what was live on the first card when memory was tightest."""
        return by_site(self.segments)

    def sizes(self) -> list[Holder]:
        """Return the live memory of the first card when memory was tightest, by classes of size."""
        return by_size(self.segments)

    def pins(self) -> list[Pin]:
        """Return the live blocks that kept free bytes of the first card from going back when memory was tightest."""
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
        """Return the peak and the smallest card if the memory that a line of the program requests went back at once.

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
        requests = [with_immediate_frees(card.requests, it) for card, it in zip(self.cards, chosen, strict=True)]
        own, best = (
            with_smallest_card(evaluate(requests, it.settings, self.costs), requests)
            for it in (self.own_trial, self.best_trial)
        )
        held = sum(
            block.size for segment in self.segments for block in segment.blocks if is_source_line(block.site, line)
        )
        return WhatIf(line, sum(map(len, chosen)), held, own, best)


def fragmentation(advice: Diagnosis) -> float:
    """Return the share of the reserved bytes that was free but pinned on the first card when memory was tightest."""
    reserved = sum(segment.size for segment in advice.segments)
    return sum(segment.pinned for segment in advice.segments) / reserved if reserved else 0.0


def shortfall_bytes(advice: Diagnosis) -> int | None:
    """Return the bytes that the first card lacked under the best setting; None = it did not fail, or how much space it
    had is not told."""
    failure = advice.cards[0].failure
    available = None if failure is None else failure.room_bytes
    if available is None:
        return None
    return max((advice.best_trial.cards[0].smallest_card_bytes or advice.best_trial.needed_bytes) - available, 0)


def rank_trials(trials: Sequence[Trial], own: Trial, failures: Sequence[Failure | None]) -> list[Trial]:
    """Return the setting to take, then the others: those that carry most of what failed first, on the smallest cards.

    Parameters
    ----------
    own : Trial
        The recorded settings.
    failures : sequence of Failure or None
        Of each card what it ran out of memory with.
    """
    lacked = [failure.lacked_bytes for failure in failures if failure is not None]

    def order(trial: Trial) -> tuple[Any, ...]:
        short = _short(trial, failures)
        return short, trial.needed_bytes, trial.reserved_peak_bytes, trial.driver_calls, trial.simplicity_key

    def is_proposed(trial: Trial) -> bool:
        splits = trial.settings.max_split_size_mb and trial.settings != own.settings
        gains = trial.needed_bytes <= (1 - SPLIT_GAIN) * own.needed_bytes
        return not splits or gains or own.fits is False or any(it != 0 for it in lacked)

    ordered = sorted(trials, key=order)
    proposed = [trial for trial in ordered if is_proposed(trial)]
    looked = [trial for trial in proposed if trial.smallest_card_bytes is not None] or proposed
    most = [trial for trial in looked if _short(trial, failures) == _short(looked[0], failures)]
    least = most[0].needed_bytes
    alike = [trial for trial in most if trial.needed_bytes == least]
    # A fresh start lays out well enough what PyTorch did not.
    fails_all_the_same = any(lacked) and not _short(own, failures)
    usual = [trial for trial in most if trial.settings == own.settings or trial.settings == EXPANDABLE]
    near = [trial for trial in usual if trial.needed_bytes - least < LEAST_GAIN * trial.needed_bytes]
    near.sort(key=lambda trial: (trial.settings != own.settings) != fails_all_the_same)
    best = near[0] if near else min(alike, key=lambda trial: trial.simplicity_key)
    return [best, *(trial for trial in ordered if trial is not best)]


def _short(trial: Trial, failures: Sequence[Failure | None]) -> int:
    """Return on how many cards a setting does not carry what was recorded, or would not on the named one."""
    rooms = [None if failure is None else failure.room_bytes for failure in failures]
    needs = [card.smallest_card_bytes or card.reserved_peak_bytes for card in trial.cards]
    count = sum(room is not None and need > room for room, need in zip(rooms, needs, strict=True))
    return count + (trial.fits is False)


def is_source_line(site: str, line: str) -> bool:
    """Return whether a place in a program is a line of it, whatever folders are named before the file.

    >>> [is_source_line(site, "model.py:39") for site in ("net/model.py:39 forward", "net/model.py:390 forward")]
    [True, False]
    """
    where = site.split(" ", 1)[0]
    line = line.replace("\\", "/")
    return where == line or where.endswith("/" + line) or line.endswith("/" + where)


def _handles_of(card: CardHistory, line: str) -> np.ndarray:
    """Return the blocks of a card, as its requests know them, that a line of the program asked for: int64[blocks]."""
    is_there = np.array([is_source_line(site, line) for site in card.log.sites] + [False], bool)
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


def _flat(trial: Trial, names: Sequence[str], cards: Sequence[CardHistory]) -> Iterator[dict[str, Any]]:
    """Yield a row a card; the file is named where there are several, and only the card that runs out says where."""
    row = trial.row()
    del row["cards"], row["runs_out"]
    has_files = len({card.file for card in cards}) > 1
    short = _card_that_runs_out(trial)
    for place, (own, name, card) in enumerate(zip(trial.cards, names, cards, strict=True)):
        out = trial.runs_out if place == short else None
        where = {"card": f"{name} of {card.file}" if has_files else name}
        ends = {
            "runs_out_at_event": None if out is None else out.event,
            "runs_out_asked_bytes": None if out is None else out.asked_bytes,
        }
        yield {**row, **own._asdict(), **where, **ends}


def _card_that_runs_out(trial: Trial) -> int:
    """Return the card that `Trial.runs_out` is of, -1 = not known."""
    if len(trial.cards) < 2:
        return 0
    needs = [card.smallest_card_bytes or 0 for card in trial.cards]
    if trial.card_bytes is None:
        return needs.index(max(needs))
    return next((place for place, need in enumerate(needs) if need > (trial.card_bytes or 0)), -1)
