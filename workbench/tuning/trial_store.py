"""The trials of a study as they are kept, in Optuna's own format.

A trial is kept when it has an outcome, never before: a driver that dies leaves no trial unfinished or running. A disk
takes about as long as a sampler. So a batch is written to the disk while the next one is proposed. No run of the next
batch begins before that.

The sampler is not kept. A seeded sampler that is made again starts its random numbers again: it repeats trials, and
the study differs from one that was never interrupted (optuna/optuna#3255). So a study that goes on asks a fresh sampler
of the same seed for all its trials and gives it the outcomes that are kept. No pickle is written or read.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import StoreError

if TYPE_CHECKING:
    import optuna


HAND_OVER_SECONDS = 5e-5
"""A thread that waits for another to give way does so for 5 ms, unless that one rests."""


_CLOUD = ":optimizer:"
"""In the names of the attributes in which Optuna's CMA-ES keeps its normal distribution, pickled, in pieces."""


class Storage(Protocol):
    """The place of a study's trials: what is written there is there for good."""

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        """Return every trial that is kept, in order."""

    def add(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep one trial more: it outlives this process from now on, and this machine after `sync`."""

    def sync(self) -> None:
        """Bring to the disk what was kept; called from another thread."""

    def close(self) -> None:
        """Let go of it."""

    @property
    def where(self) -> str:
        """Return the name of the place of the trials in refusals."""


class TrialStore:
    """The trials of a study; without a storage, they end with the process."""

    def __init__(self, storage: Storage | None) -> None:
        self._storage = storage
        self._clerk = ThreadPoolExecutor(1, "workbench-trial-store")
        self._synced: Future[None] | None = None
        self.where = "" if storage is None else storage.where
        self.trials: list[optuna.trial.FrozenTrial] = [] if storage is None else storage.trials()

    def append(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep a trial that has an outcome, without the pickle that Optuna's CMA-ES notes in it."""
        trial.system_attrs = {key: one for key, one in trial.system_attrs.items() if _CLOUD not in key}
        self.trials.append(trial)
        if self._storage is not None:
            self._storage.add(trial)

    def sync(self) -> None:
        """Begin to bring to the disk what was appended; `settle` waits for it."""
        if self._storage is not None:
            self._synced = self._clerk.submit(self._storage.sync)
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

    def close(self) -> None:
        """Let the storage go; what was kept stays."""
        self._clerk.shutdown()
        if self._storage is not None:
            self._storage.close()


def refuse_another(text: str, identity: Mapping[str, Any], place: str, cure: str) -> None:
    """Refuse a place that holds another study, by the JSON text there, and say in what they differ."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        kept = None
    if not isinstance(kept, dict):
        raise StoreError(f"{place} is damaged: it does not say which study it holds; {cure}.")
    mine = json.loads(json.dumps(identity))
    differ = [key for key in {**mine, **kept} if kept.get(key) != mine.get(key)]
    if differ:
        words = ", ".join(key.replace("_", " ")[:40] for key in differ[:8])
        raise StoreError(f"{place} holds a study of another {words}; {cure}.")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep log lines and notes on experimental parts quiet within this context; the user's own settings hold
    afterwards."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(before)
