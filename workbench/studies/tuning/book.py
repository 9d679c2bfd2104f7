"""What keeps a study: its trials in Optuna's own format, and the sampler between two batches.

A trial is kept when it has been told, never before: a driver that dies leaves no trial half told or running for ever.
What it was about to learn is proposed again by the next driver, and what is in the store is not run again.

A disk takes about as long as a sampler, so a batch is brought to the disk while the next one is proposed; nothing of
that is run before it is there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from workbench.errors import StoreError
from workbench.studies.tuning.objectives import Direction
from workbench.studies.tuning.sampler_state import SamplerState, as_bytes, check_trial, read_state

if TYPE_CHECKING:
    import optuna

KEEP_SECONDS = 1.0
"""Writing the sampler after every trial would take as long as proposing one."""

HAND_OVER_SECONDS = 5e-5
"""A thread that waits for another to give way does so for 5 ms, unless that one rests."""


class Title(NamedTuple):
    """What a book is about."""

    name: str
    measures: list[str]
    """The names of the objectives."""
    directions: list[Direction]
    identity: Mapping[str, Any]
    """What makes the study the same study, in plain types."""


class Shelf(Protocol):
    """Where a book lies: what is written there is there for good."""

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        """Return every trial that is kept, in order."""

    def add(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep one trial more: it outlives this process from now on, and this machine after `sync`."""

    def sync(self) -> None:
        """Bring to the disk what was kept; called from another thread."""

    def state(self) -> bytes | None:
        """Return the sampler that was kept last."""

    def put_state(self, content: bytes) -> None:
        """Keep the sampler, instead of the one before."""

    def close(self) -> None:
        """Let go of it."""

    @property
    def where(self) -> str:
        """Return what refusals call the place of the sampler."""


class Book:
    """The trials of a study and its sampler; without a shelf, nothing outlives the process."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf
        self._clerk = ThreadPoolExecutor(1, "workbench-book")
        self._synced: Future[None] | None = None
        self._state: SamplerState | None = None
        self._written = 0.0
        self.trials: list[optuna.trial.FrozenTrial] = [] if shelf is None else shelf.trials()
        for trial in self.trials:
            check_trial(trial, shelf.where if shelf is not None else "")

    def state(self) -> SamplerState | None:
        """Return the sampler as it was after the last whole batch."""
        content = None if self._shelf is None else self._shelf.state()
        return None if content is None or self._shelf is None else read_state(content, self._shelf.where)

    def append(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep a trial that has been told."""
        self.trials.append(trial)
        if self._shelf is not None:
            self._shelf.add(trial)

    def sync(self) -> None:
        """Begin to bring to the disk what was appended; `settle` waits for it."""
        if self._shelf is not None:
            self._synced = self._clerk.submit(self._shelf.sync)
            time.sleep(HAND_OVER_SECONDS)

    def settle(self) -> None:
        """Wait until all that was appended is on the disk.

        Raises
        ------
        StoreError
            The disk does not take it.
        """
        if self._synced is not None:
            self._synced.result()

    def keep(self, state: SamplerState) -> None:
        """Keep the sampler after a whole batch: now and then at once, the last one when the book is closed.

        After a death the sampler goes on from an earlier batch: it proposes the trials since then again, whose
        outcomes are kept. What is not written at once must be written before the sampler goes on, or not at all.
        """
        if self._shelf is None:
            return
        self._state = state
        if time.perf_counter() - self._written >= KEEP_SECONDS:
            self.write()

    def write(self) -> None:
        """Write what is not written yet; the sampler is never ahead of its trials."""
        self.settle()
        if self._shelf is not None and self._state is not None:
            self._shelf.put_state(as_bytes(self._state))
            self._state, self._written = None, time.perf_counter()

    def close(self) -> None:
        """Let the shelf go; what was kept stays."""
        self._clerk.shutdown()
        if self._shelf is not None:
            self._shelf.close()


def refuse_another(kept: Mapping[str, Any], identity: Mapping[str, Any], place: str, cure: str) -> None:
    """Refuse a place that holds another study, and say in what they differ."""
    mine = json.loads(json.dumps(identity))
    differ = [key for key in {**mine, **kept} if kept.get(key) != mine.get(key)]
    if differ:
        words = ", ".join(key.replace("_", " ") for key in differ)
        raise StoreError(f"{place} holds a study of another {words}; {cure}.")
