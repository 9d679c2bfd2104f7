"""The trials of a study as they are kept, in Optuna's own format, and the sampler between two batches.

A trial is kept when it has been told, never before: a driver that dies leaves no trial half told or running for ever.
What it was about to learn is proposed again by the next driver, and what is in the store is not run again. A disk takes
about as long as a sampler, so a batch is brought to the disk while the next one is proposed; nothing of that is run
before it is there.

A seeded sampler that is made anew starts its random numbers again: it repeats trials, and the study differs from one
that was never interrupted (optuna/optuna#3255). So its state is kept, as a pickle that may hold nothing but a sampler.
"""

from __future__ import annotations

import io
import json
import pickle
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from workbench.errors import StoreError

if TYPE_CHECKING:
    import optuna


KEEP_SECONDS = 1.0
"""Writing the sampler after every trial would take as long as proposing one."""

HAND_OVER_SECONDS = 5e-5
"""A thread that waits for another to give way does so for 5 ms, unless that one rests."""


class Storage(Protocol):
    """The place of a study's trials: what is written there is there for good."""

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


class TrialStore:
    """The trials of a study and its sampler; without a storage, nothing outlives the process."""

    def __init__(self, storage: Storage | None) -> None:
        self._storage = storage
        self._clerk = ThreadPoolExecutor(1, "workbench-trial-store")
        self._synced: Future[None] | None = None
        self._state: SamplerState | None = None
        self._written = 0.0
        self.trials: list[optuna.trial.FrozenTrial] = [] if storage is None else storage.trials()
        for trial in self.trials:
            check_trial(trial, storage.where if storage is not None else "")

    def state(self) -> SamplerState | None:
        """Return the sampler as it was after the last whole batch."""
        content = None if self._storage is None else self._storage.state()
        return None if content is None or self._storage is None else read_state(content, self._storage.where)

    def append(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep a trial that has been told."""
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

    def keep(self, state: SamplerState) -> None:
        """Keep the sampler after a whole batch: now and then at once, the last one when the store is closed.

        After a death the sampler goes on from an earlier batch: it proposes the trials since then again, whose
        outcomes are kept. What is not written at once must be written before the sampler goes on, or not at all.
        """
        if self._storage is None:
            return
        self._state = state
        if time.perf_counter() - self._written >= KEEP_SECONDS:
            self.write()

    def write(self) -> None:
        """Write what is not written yet; the sampler is never ahead of its trials."""
        self.settle()
        if self._storage is not None and self._state is not None:
            self._storage.put_state(pickle.dumps(tuple(self._state)))
            self._state, self._written = None, time.perf_counter()

    def close(self) -> None:
        """Let the storage go; what was kept stays."""
        self._clerk.shutdown()
        if self._storage is not None:
            self._storage.close()


def refuse_another(kept: Mapping[str, Any], identity: Mapping[str, Any], place: str, cure: str) -> None:
    """Refuse a place that holds another study, and say in what they differ."""
    mine = json.loads(json.dumps(identity))
    differ = [key for key in {**mine, **kept} if kept.get(key) != mine.get(key)]
    if differ:
        words = ", ".join(key.replace("_", " ") for key in differ)
        raise StoreError(f"{place} holds a study of another {words}; {cure}.")


_ROOMS = ("optuna.samplers.", "optuna.search_space.", "optuna.distributions", "numpy.random.", "cmaes.")
"""Modules whose own classes a sampler is made of; what they import, and their functions, are not among these."""
_TPE_BY_POLICY = ("workbench.tuning.optuna_extensions", "TpeByPolicy")
_NAMES = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("collections", "OrderedDict"),
    _TPE_BY_POLICY,
    ("numpy.random._pickle", "__bit_generator_ctor"),
    ("numpy.random._pickle", "__generator_ctor"),
    ("numpy.random._pickle", "__randomstate_ctor"),
    ("optuna.samplers._tpe.sampler", "default_gamma"),
    ("optuna.samplers._tpe.sampler", "default_gamma_multiobjective"),
    ("optuna.samplers._tpe.sampler", "default_weights"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
}
_MOVED = {
    ("workbench.tuning.optuna_extensions", "TpeByPolicy"): _TPE_BY_POLICY,
    ("workbench.tuning.samplers.tpe_by_policy", "TpeByPolicy"): _TPE_BY_POLICY,
}
"""Names under which an earlier workbench kept classes, and where they are now."""
_CLOUD = "cma:optimizer:"
"""Optuna keeps the cloud of CMA-ES in pieces in the attributes of trials, pickled, and unpickles whatever is there."""
_ANY_CLOUD = "optimizer"
"""In the name of every attribute that Optuna's sampler may unpickle; what stands before it is the sampler's to say."""


class SamplerState(NamedTuple):
    """All that a sampler carries from one batch to the next."""

    optuna: str
    """The version that wrote it."""
    finished: int
    """How many trials had an outcome."""
    sampler: Any
    notes: dict[str, Any]
    """What the sampler wrote into Optuna's study, such as the parents of each generation."""


class _Careful(pickle._Unpickler):
    """Builds samplers and random numbers, and nothing else that a file might name.

    A module is never given out, nor what it has beside its own classes: its `__builtins__` lead to everything. Only an
    instance is given a state: one that is written into a class changes what the class does from then on.
    """

    dispatch = pickle._Unpickler.dispatch.copy()

    def find_class(self, module: str, name: str) -> Any:
        module, name = _MOVED.get((module, name), (module, name))
        named = (module, name) in _NAMES
        if "." not in name and (named or module.startswith(_ROOMS)):
            result = super().find_class(module, name)
            if named or (isinstance(result, type) and result.__module__ == module):
                return result
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a sampler")

    def load_build(self) -> None:
        built = self.stack[-2]  # type: ignore[attr-defined]  # below its state
        if isinstance(built, (type, FunctionType, BuiltinFunctionType)):
            raise pickle.UnpicklingError(f"{built.__name__} is changed by it")
        super().load_build()  # type: ignore[misc]

    dispatch[pickle.BUILD[0]] = load_build  # type: ignore[assignment]


def read_state(content: bytes, where: str) -> SamplerState:
    """Read the state that was kept.

    Raises
    ------
    StoreError
        It is damaged or holds anything but a sampler.
    """
    try:
        return SamplerState(*_Careful(io.BytesIO(content)).load())
    except Exception as problem:  # a damaged pickle may raise anything
        cure = "delete it, and the sampler proposes the trials again to get where it was"
        raise StoreError(f"{where} holds no sampler that can go on ({problem}); {cure}.") from None


def check_trial(trial: optuna.trial.FrozenTrial, where: str) -> None:
    """Refuse a trial whose attributes hold anything but a sampler where a sampler will be read from them."""
    pieces = [key for key in trial.system_attrs if _ANY_CLOUD in key]
    if not pieces:
        return
    try:
        # all of them, by their names: one that is left out here is one that Optuna reads unseen
        text = "".join(trial.system_attrs[f"{_CLOUD}{k}"] for k in range(len(pieces)))
        _Careful(io.BytesIO(bytes.fromhex(text))).load()
    except Exception as problem:
        raise StoreError(
            f"trial {trial.number} beside {where} holds no sampler that can go on ({problem}); choose another folder."
        ) from None


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
