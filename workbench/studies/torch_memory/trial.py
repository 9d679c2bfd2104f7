"""One setting tried on a recorded program: what it reserves, and on how small a card it would still run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.engines.torch_allocator.asking import Asking
from workbench.engines.torch_allocator.play import Played, play
from workbench.engines.torch_allocator.settings import AllocatorSettings
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

    def row(self) -> dict[str, object]:
        """Return the figures in plain types."""
        plain = self._asdict()
        del plain["settings"]
        return {**plain, "runs_out": None if self.runs_out is None else self.runs_out._asdict()}


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
    smallest = [_smallest(one, trial.settings) for one in requests]
    size, out = max(smallest, key=lambda each: each[0])
    return trial._replace(smallest_card_bytes=size, runs_out=out if trial.card_bytes is None else trial.runs_out)


def _smallest(replay: Asking, settings: AllocatorSettings) -> tuple[int, RunsOut | None]:
    """Return the smallest card, and where one that is a step smaller runs out."""
    high = -(-played_on(replay, settings).reserved_peak // ROUND_LARGE)
    low, out = int(replay.live.max(initial=0)) // ROUND_LARGE, None
    while low < high:
        middle = (low + high) // 2
        played = played_on(replay, settings, middle * ROUND_LARGE)
        if played.refused:
            low, out = middle + 1, runs_out(replay, played)
        else:
            high = middle
    return high * ROUND_LARGE, out


def on_card(trial: Trial, requests: Sequence[Asking], card_bytes: int) -> Trial:
    """Say whether every card's program runs on cards of a size."""
    played = [played_on(one, trial.settings, card_bytes) for one in requests]
    out = next((runs_out(a, p) for a, p in zip(requests, played, strict=True) if p.refused), None)
    return trial._replace(card_bytes=card_bytes, fits=out is None, runs_out=out)


def runs_out(replay: Asking, played: Played) -> RunsOut:
    """Return the request at which a card was too small."""
    row = played.first_refused
    return RunsOut(
        event=int(replay.event[row]),
        asked_bytes=int(replay.requests.size[row]),
        live_bytes=int(replay.live[row - 1]) if row else 0,
        reserved_bytes=int(played.reserved[row]),
    )
