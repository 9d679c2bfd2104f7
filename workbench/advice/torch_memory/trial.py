"""Settings of PyTorch's allocator tried on a recorded program: what each reserves, and the smallest card it needs.

The candidates are a grid of what people set, then what Optuna proposes.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.replay import Asking, Played, play
from workbench.engines.torch_allocator.settings import INTERVALS, AllocatorSettings
from workbench.engines.torch_allocator.state import ROUND_LARGE
from workbench.metrics.torch_allocator import driver_ns
from workbench.records.torch_allocator import CallCosts

COSTS = CallCosts()


class RunsOut(NamedTuple):
    """The request at which a card is too small."""

    event: int
    """Its place among the events of its card's history, -1 = what was live before the first."""
    asked_bytes: int
    live_bytes: int
    """Bytes asked for and live before it."""
    reserved_bytes: int
    """Bytes that the allocator held when it gave up."""


class CardTrial(NamedTuple):
    """What one setting does on one card."""

    reserved_peak_bytes: int
    smallest_card_bytes: int | None = None
    """The smallest card on which nothing is refused; None = not looked for."""


def runs_out(replay: Asking, played: Played) -> RunsOut:
    """Return the request at which a card was too small."""
    row = played.first_refused
    return RunsOut(
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
    runs_out: RunsOut | None = None
    """Where it runs out on the named card; where no card was named, on one that is 2 MiB smaller than the smallest."""
    cards: tuple[CardTrial, ...] = ()
    """The same card by card, in the order of `Advice.cards`."""

    @property
    def is_simpler_by(self) -> tuple[int, int, str]:
        """Return what orders settings that do the same, the simplest first: fewest keys, the largest limit on
        splitting (which leaves most as it is), then by name."""
        limit = self.settings.max_split_size_mb or 1 << 40
        return self.conf.count(":") - self.conf.count(":["), -limit, self.conf

    @property
    def outcome(self) -> tuple[object, ...]:
        """Return what a table shows of it: settings that are equal in it did the same."""
        return self.reserved_peak_bytes, self.driver_calls, self.driver_ns, self.smallest_card_bytes, self.fits

    @property
    def needed_bytes(self) -> int:
        """Return the smallest card, or where none was looked for, what is reserved on the fullest."""
        if self.smallest_card_bytes is not None:
            return self.smallest_card_bytes
        return max((card.reserved_peak_bytes for card in self.cards), default=self.reserved_peak_bytes)

    def row(self) -> dict[str, object]:
        """Return the figures in plain types."""
        plain = self._asdict()
        del plain["settings"]
        runs_out = None if self.runs_out is None else self.runs_out._asdict()
        return {**plain, "runs_out": runs_out, "cards": [card._asdict() for card in self.cards]}


def assignment(variable: str, conf: str) -> str:
    """Return what to put before a command in a shell.

    >>> assignment("PYTORCH_CUDA_ALLOC_CONF", "roundup_power2_divisions:[8:0,>:8]")
    "PYTORCH_CUDA_ALLOC_CONF='roundup_power2_divisions:[8:0,>:8]'"
    """
    return f"{variable}={shlex.quote(conf)}"


def tried(requests: Sequence[Asking], settings: AllocatorSettings, costs: CallCosts = COSTS) -> Trial:
    """Serve what every card is asked for, on cards that never run out."""
    played = [played_on(one, settings) for one in requests]
    calls = [one.calls[one.calls[:, 0] >= its.before] for one, its in zip(played, requests, strict=True)]
    return Trial(
        conf=settings.conf,
        settings=settings,
        reserved_peak_bytes=sum(one.reserved_peak for one in played),
        driver_calls=sum(map(len, calls)),
        driver_ns=round(sum(driver_ns(its, costs) for its in calls)),
        pages_mapped=sum(one.pages_mapped for one in played),
        cards=tuple(CardTrial(one.reserved_peak) for one in played),
    )


def played_on(replay: Asking, settings: AllocatorSettings, card_bytes: int | None = None) -> Played:
    """Serve what a card is asked for; a card that runs out ends it."""
    rules = settings.rules(replay.private, card_bytes, stops=card_bytes is not None)
    return play(replay.requests, rules, replay.start)


def with_smallest_card(trial: Trial, requests: Sequence[Asking]) -> Trial:
    """Look for the smallest card on which nothing is refused, in steps of 2 MiB.

    On a smaller card cached memory goes back before a request fails, so that less can be enough than the peak on a card
    without end. A smaller card never serves what a larger one does not, as far as is looked for here.
    """
    peaks = [card.reserved_peak_bytes for card in trial.cards]
    smallest = [_smallest(one, trial.settings, peak) for one, peak in zip(requests, peaks, strict=True)]
    size, out = max(smallest, key=lambda each: each[0])
    cards = (card._replace(smallest_card_bytes=its[0]) for card, its in zip(trial.cards, smallest, strict=True))
    runs_out = out if trial.card_bytes is None else trial.runs_out
    return trial._replace(smallest_card_bytes=size, runs_out=runs_out, cards=tuple(cards))


def _smallest(replay: Asking, settings: AllocatorSettings, peak: int) -> tuple[int, RunsOut | None]:
    """Return the smallest card, and where one that is a step smaller runs out."""
    high = -(-peak // ROUND_LARGE)
    low, refused = int(replay.live.max(initial=0)) // ROUND_LARGE, None
    while low < high:
        middle = (low + high) // 2
        played = played_on(replay, settings, middle * ROUND_LARGE)
        if played.refused:
            low, refused = middle + 1, played
        else:
            high = middle
    return high * ROUND_LARGE, None if refused is None else runs_out(replay, refused)


def on_card(trial: Trial, requests: Sequence[Asking], card_bytes: int) -> Trial:
    """Say whether every card's program runs on cards of a size."""
    played = [played_on(one, trial.settings, card_bytes) for one in requests]
    out = next((runs_out(a, p) for a, p in zip(requests, played, strict=True) if p.refused), None)
    return trial._replace(card_bytes=card_bytes, fits=out is None, runs_out=out)


def given_back_at_once(requests: Asking, handles: np.ndarray) -> Asking:
    """Return the requests as if the program gave some of its blocks back as soon as it has them.

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


SPLITS = (0, 32, 64, 128, 256, 512, 1024)
DRAWN_SPLITS = (0, 20, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048)
DIVISIONS = (0, 2, 4, 8, 16)
DEFAULTS = AllocatorSettings.parse("")
"""PyTorch's own."""
EXPANDABLE = DEFAULTS.but(expandable_segments=True)
"""Expandable segments alone: what is recommended most."""
Score = Callable[[AllocatorSettings], tuple[int, int]]
"""What is to be small: the peak of reserved bytes, then driver calls."""


def grid(own: AllocatorSettings) -> list[AllocatorSettings]:
    """Return the recorded settings, PyTorch's defaults, and every combination of a few values of each lever.

    >>> [settings.conf for settings in grid(AllocatorSettings())[:3]]
    ['', 'expandable_segments:True', 'roundup_power2_divisions:2']
    """
    settings = [own, DEFAULTS, EXPANDABLE]
    settings += [_with(0, divisions, False) for divisions in DIVISIONS[1:]]
    settings += [_with(0, divisions, True) for divisions in DIVISIONS[1:]]
    settings += [_with(split, divisions, False) for split, divisions in itertools.product(SPLITS[1:], (0, 4, 8))]
    return list(dict.fromkeys(settings))


def _with(split: int, divisions: int, expandable: bool) -> AllocatorSettings:
    return DEFAULTS.but(
        max_split_size_mb=split,
        roundup_power2_divisions=(divisions,) * INTERVALS,
        expandable_segments=expandable,
    )


def proposed(score: Score, known: dict[AllocatorSettings, tuple[int, int]], trials: int) -> None:
    """Let Optuna propose so many settings, the same each time; those that it tries are entered in `known`."""
    import optuna

    from workbench.tuning.trial_store import quiet

    with quiet():
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=optuna.samplers.TPESampler(seed=0))
        for _ in range(trials):
            trial = study.ask()
            settings = _drawn(trial)
            if settings not in known:
                known[settings] = score(settings)
            study.tell(trial, known[settings])


def _drawn(trial: object) -> AllocatorSettings:
    """Return the settings as a trial of Optuna proposes them: sizes of several classes rounded apart, any limit of
    splitting."""
    suggest = trial.suggest_categorical  # type: ignore[attr-defined]
    expandable = suggest("expandable_segments", [False, True])
    split = 0 if expandable else suggest("max_split_size_mb", list(DRAWN_SPLITS))
    rounding = suggest("max_non_split_rounding_mb", [20, 64, 256]) if split else 20
    return DEFAULTS.but(
        max_split_size_mb=split,
        max_non_split_rounding_mb=rounding,
        roundup_power2_divisions=tuple(_steps(suggest)),
        expandable_segments=expandable,
    )


def _steps(suggest: Callable[..., int]) -> Iterator[int]:
    """Yield three classes of sizes: below 16 MiB, below 256 MiB, above."""
    for name, length in (("below_16_mib", 4), ("below_256_mib", 4), ("above", INTERVALS - 8)):
        yield from [suggest(f"divisions_{name}", [0, 2, 4, 8, 16])] * length
