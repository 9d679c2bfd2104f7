"""Settings of PyTorch's allocator tried on a recorded program: what each reserves, and the smallest card it needs."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from workbench.engines.torch_allocator.replay import ReplayInput, ReplayResult, play
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import EMPTY_CACHE, ROUND_LARGE
from workbench.metrics.torch_allocator import driver_ns
from workbench.records.torch_allocator import CallCosts

COSTS = CallCosts()
STEPS, ROWS_OF_STEPS = 1, 4_000_000
"""Replays on smaller and smaller cards before the smallest is looked for by bisection; and the rows of all such replays
for a card that is printed."""


class OutOfMemory(NamedTuple):
    """The request at which a card is too small."""

    event: int
    """Its place among the events of its card's history, -1 = what was live before the first."""
    asked_bytes: int
    live_bytes: int
    """Bytes asked for and live before it."""
    reserved_bytes: int
    """Bytes that the allocator held when it gave up."""


class Need(NamedTuple):
    """The memory that a program needs on one card."""

    reserved_peak_bytes: int
    """On a card that never runs out."""
    smallest_card_bytes: int
    """The smallest card on which nothing is refused."""
    runs_out: OutOfMemory | None
    """Where a card that is 2 MiB smaller runs out; None = it is smaller than what is live."""


class CardTrial(NamedTuple):
    """What one setting does on one card."""

    reserved_peak_bytes: int
    smallest_card_bytes: int | None = None
    """The smallest card on which nothing is refused; None = not looked for."""
    driver_calls: int = 0
    driver_ns: int = 0
    pages_mapped: int = 0


def runs_out(replay: ReplayInput, played: ReplayResult) -> OutOfMemory:
    """Return the request at which a card was too small."""
    row = played.first_refused
    return OutOfMemory(
        event=int(replay.event[row]),
        asked_bytes=int(replay.requests.size[row]),
        live_bytes=int(replay.live[row - 1]) if row else 0,
        reserved_bytes=int(played.reserved[row]),
    )


class Trial(NamedTuple):
    """What one setting does with a program; over several cards peaks and calls are added up."""

    conf: str
    settings: AllocatorSettings
    reserved_peak_bytes: int
    driver_calls: int
    """Segments and ranges of pages got and given back within the history."""
    driver_ns: int
    """What these calls cost."""
    pages_mapped: int
    smallest_card_bytes: int | None = None
    """Of the largest card if there are several; None = not looked for."""
    card_bytes: int | None = None
    fits: bool | None = None
    """Whether it runs on a card of `card_bytes`; None = no card was named."""
    runs_out: OutOfMemory | None = None
    """Where it runs out on the named card; where no card was named, on one that is 2 MiB smaller than the smallest."""
    cards: tuple[CardTrial, ...] = ()
    """The same card by card, in the order of `Advice.cards`."""

    @property
    def simplicity_key(self) -> tuple[int, int, str]:
        """Return the key that orders settings with equal results, the simplest first: fewest keys, the largest limit on
        splitting (which leaves most as it is), then by name."""
        limit = self.settings.max_split_size_mb or 1 << 40
        return self.conf.count(":") - self.conf.count(":["), -limit, self.conf

    @property
    def outcome(self) -> tuple[object, ...]:
        """Return its row in a table: settings with equal rows did the same."""
        return self.reserved_peak_bytes, self.driver_calls, self.driver_ns, self.smallest_card_bytes, self.fits

    @property
    def needed_bytes(self) -> int:
        """Return the smallest card, or where none was looked for, what is reserved on the fullest."""
        if self.smallest_card_bytes is not None:
            return self.smallest_card_bytes
        return max((card.reserved_peak_bytes for card in self.cards), default=self.reserved_peak_bytes)

    def row(self) -> dict[str, object]:
        """Return the figures in plain types: those of the first card, then those of each; no sum of several."""
        plain = self._asdict()
        del plain["settings"]
        runs_out = None if self.runs_out is None else self.runs_out._asdict()
        cards = [card._asdict() for card in self.cards]
        first = {name: value for name, value in cards[0].items() if name != "smallest_card_bytes"}
        return {**plain, **first, "runs_out": runs_out, "cards": cards}


def assignment(variable: str, conf: str) -> str:
    """Return the words to put before a command in a shell.

    >>> assignment("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[8:0,>:8]")
    "PYTORCH_CUDA_ALLOC_CONF='roundup_power2_divisions:[8:0,>:8]'"
    """
    return f"{variable}={shlex.quote(conf)}"


def evaluate(requests: Sequence[ReplayInput], settings: AllocatorSettings, costs: CallCosts = COSTS) -> Trial:
    """Serve what every card is asked for, on cards that never run out."""
    played = [replay_on_card(one, settings) for one in requests]
    calls = [one.calls[one.calls[:, 0] >= its.before] for one, its in zip(played, requests, strict=True)]
    cards = tuple(
        CardTrial(one.reserved_peak, None, len(its), round(driver_ns(its, costs)), one.pages_mapped)
        for one, its in zip(played, calls, strict=True)
    )
    return Trial(
        conf=settings.conf,
        settings=settings,
        reserved_peak_bytes=sum(card.reserved_peak_bytes for card in cards),
        driver_calls=sum(card.driver_calls for card in cards),
        driver_ns=sum(card.driver_ns for card in cards),
        pages_mapped=sum(card.pages_mapped for card in cards),
        cards=cards,
    )


def replay_on_card(replay: ReplayInput, settings: AllocatorSettings, card_bytes: int | None = None) -> ReplayResult:
    """Serve what a card is asked for; a card that runs out ends it."""
    rules = settings.rules(replay.private, card_bytes, stops=card_bytes is not None)
    if card_bytes is None or card_bytes >= replay.reserved_at_start:
        return play(replay.requests, rules, replay.start, replay.supply)
    kind = replay.requests.kind.copy()
    kind[0] = EMPTY_CACHE
    played = play(replay.requests._replace(kind=kind), rules, replay.start, replay.supply)
    return played if played.reserved[0] <= card_bytes else played._replace(refused=1, first_refused=0)


def with_smallest_card(
    trial: Trial,
    requests: Sequence[ReplayInput],
    known: Sequence[Need | None] | None = None,
    is_printed: bool = False,
) -> Trial:
    """Look for the smallest card on which nothing is refused, in steps of 2 MiB.

    On a smaller card cached memory goes back before a request fails, so that less can be enough than the peak on a card
    without end. A smaller card never serves what a larger one does not, as far as is looked for here.

    Parameters
    ----------
    known : sequence, optional
        What is known of a card already.
    is_printed : bool
        Whether to take the `steps_of` a card that is printed.
    """
    needs = [
        need or need_of(one, trial.settings, card.reserved_peak_bytes, steps_of(one) if is_printed else STEPS)
        for one, card, need in zip(requests, trial.cards, known or [None] * len(requests), strict=True)
    ]
    largest = max(needs, key=lambda need: need.smallest_card_bytes)
    cards = (
        card._replace(smallest_card_bytes=need.smallest_card_bytes)
        for card, need in zip(trial.cards, needs, strict=True)
    )
    runs_out = largest.runs_out if trial.card_bytes is None else trial.runs_out
    return trial._replace(smallest_card_bytes=largest.smallest_card_bytes, runs_out=runs_out, cards=tuple(cards))


def steps_of(replay: ReplayInput) -> int:
    """Return the steps of `need_of` for settings whose smallest card is printed."""
    return max(ROWS_OF_STEPS // max(len(replay.requests.kind), 1), STEPS)


def need_of(replay: ReplayInput, settings: AllocatorSettings, peak: int, steps: int = STEPS) -> Need:
    """Return the smallest card that serves everything and above which every card does, and where one that is a step
    smaller runs out.

    If a card serves everything with p bytes reserved at most, every card down to p does the same: its driver refuses
    the same requests before a flush. So the search goes on below p, and passes over no card. After so many steps the
    rest is bisected, as if no smaller card served more than a larger one. An early flush can make that false.

    Parameters
    ----------
    peak : int
        Bytes of a card that is large enough.
    steps : int
        Replays before the rest is bisected.
    """
    high = -(-math.ceil(peak / settings.per_process_fraction) // ROUND_LARGE)
    low, refused = min(int(replay.live.max(initial=0)) // ROUND_LARGE, high), None
    while low < high:
        descends = steps > 0 and settings.per_process_fraction == 1
        at = high - 1 if descends else (low + high) // 2
        steps -= 1
        played = replay_on_card(replay, settings, at * ROUND_LARGE)
        if played.refused:
            low, refused = at + 1, played
        elif settings.per_process_fraction == 1:
            high = min(at, max(-(-int(played.reserved.max(initial=0)) // ROUND_LARGE), low))
        else:
            high = at
    return Need(peak, high * ROUND_LARGE, None if refused is None else runs_out(replay, refused))


def on_card(trial: Trial, requests: Sequence[ReplayInput], card_bytes: int) -> Trial:
    """Say whether every card's program runs on cards of a size."""
    played = [replay_on_card(one, trial.settings, card_bytes) for one in requests]
    out = next((runs_out(a, p) for a, p in zip(requests, played, strict=True) if p.refused), None)
    return trial._replace(card_bytes=card_bytes, fits=out is None, runs_out=out)
