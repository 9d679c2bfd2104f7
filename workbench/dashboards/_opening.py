"""What a dashboard opens with: an engine, its first question, and what can be turned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from workbench.levers import Spec
from workbench.workloads.workload import Workload


class NothingToChoose(Spec):
    """A view without levers."""


class Opening(NamedTuple):
    """An engine, and what a dashboard of it asks before anything was turned."""

    engine: str
    title: str
    """The heading of the page."""
    summary: str
    """What the page shows, in a sentence."""
    machine: Mapping[str, Any]
    """As a sweep says it: a preset, or the levers of a rule; it differs from a preset in `machine_levers` alone."""
    machine_levers: Sequence[str]
    """The levers of the machine that can be turned."""
    machine_line: Callable[[Any], str]
    """What the machine has, in a line below them."""
    regime: str
    length: int | Mapping[str, Any]
    """The length of every regime's queues here, or levers that bound it where a regime has them, so that a run is done
    within a move."""
    baseline: Mapping[str, Any]
    """The policy of each slot, where it is not the engine's default."""
    other: Mapping[str, Any]
    """The policies of the other side, where they are not the baseline's."""
    compared: Sequence[str]
    """The slots in which the two sides may differ."""
    options: Mapping[str, Any]
    """Levers of the engine that are not at their defaults."""
    seeds: int
    measure: str
    """What is compared seed by seed: what the first claim of the specification names first, at a length of queue at
    which the default seeds decide it."""
    view: type[Spec]
    """What the panels let one choose to look at."""
    first: Sequence[str] = ()
    """The levers that matter first, as patterns of their paths: they stand on top."""
    machine_rules: Mapping[str, type[Spec]] = {}
    """What else may say the machine, beside the presets: the words of the drop-down, and the levers below it."""
    dropped: type[Workload] | None = None
    """The workload that a file dropped into the page becomes, by its lever `trace`; None = none can be dropped."""
    cards: Callable[[], Sequence[Any]] = tuple
    """Makes the levers that the page is about, of which each gets a card on top of it (`CardLever`)."""
    options_titled: str = ""
    """The name of a section of the engine's options alone, before that of the policies that both sides share."""


_further: ContextVar[tuple[str, ...]] = ContextVar("further compared slots", default=())


@contextmanager
def further_slots(slots: Sequence[str]) -> Iterator[None]:
    """Let both sides of the pages that are made within this context differ in further slots."""
    before = _further.set(tuple(slots))
    try:
        yield
    finally:
        _further.reset(before)


def with_further_slots(opening: Opening) -> Opening:
    """Return an opening with the further slots in which the sides of the page that is made may differ."""
    return opening._replace(compared=tuple(dict.fromkeys([*opening.compared, *_further.get()])))
