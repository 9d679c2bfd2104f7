"""What a dashboard begins with: an engine, its first question, and what can be turned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from workbench.levers import Spec
from workbench.workloads.workload import Workload


class NoViewLevers(Spec):
    """A view without levers."""


class DashboardConfig(NamedTuple):
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
    machine_summary: Callable[[Any], str]
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
    """The keys other than presets that may give the machine: the words of the drop-down, and the levers below it."""
    dropped_file_workload: type[Workload] | None = None
    """The workload that a file dropped into the page becomes, by its lever `trace`; None = none can be dropped."""
    cards: Callable[[], Sequence[Any]] = tuple
    """Makes the levers that the page is about, of which each gets a card on top of it (`CardLever`)."""
    set_names: tuple[str, str] = ("baseline", "other")
    """The names of the two sets of policies with which the page opens, for where too many slots differ to be listed."""
    options_titled: str = ""
    """The name of a section of the engine's options alone, before that of the policies that both sides share."""


_extra_slots: ContextVar[tuple[str, ...]] = ContextVar("extra compared slots", default=())


@contextmanager
def extra_compared_slots(slots: Sequence[str]) -> Iterator[None]:
    """Let both sides of the pages that are made within this context differ in further slots."""
    before = _extra_slots.set(tuple(slots))
    try:
        yield
    finally:
        _extra_slots.reset(before)


def with_extra_compared_slots(config: DashboardConfig) -> DashboardConfig:
    """Return a configuration with the further slots in which the two sides may differ."""
    return config._replace(compared=tuple(dict.fromkeys([*config.compared, *_extra_slots.get()])))
