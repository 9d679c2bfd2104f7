"""The sampler between two batches of trials, kept so that a study goes on exactly where it stood.

A seeded sampler that is made anew starts its random numbers again: it repeats trials, and the study differs from one
that was never interrupted (optuna/optuna#3255).
"""

from __future__ import annotations

import io
import pickle
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import StoreError

if TYPE_CHECKING:
    import optuna

_ROOMS = ("optuna.samplers.", "optuna.search_space.", "optuna.distributions", "numpy.random.", "cmaes.")
"""Modules whose own classes a sampler is made of; what they import, and their functions, are not among these."""
_NAMES = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("collections", "OrderedDict"),
    ("workbench.studies.tuning.samplers.tpe_by_policy", "TpeByPolicy"),
    ("numpy.random._pickle", "__bit_generator_ctor"),
    ("numpy.random._pickle", "__generator_ctor"),
    ("numpy.random._pickle", "__randomstate_ctor"),
    ("optuna.samplers._tpe.sampler", "default_gamma"),
    ("optuna.samplers._tpe.sampler", "default_gamma_multiobjective"),
    ("optuna.samplers._tpe.sampler", "default_weights"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
}
_CLOUD = "cma:optimizer:"
"""Optuna keeps the cloud of CMA-ES in pieces in the attributes of trials, pickled, and unpickles whatever is there."""
_ANY_CLOUD = "optimizer"
"""In the name of every attribute that Optuna's sampler may unpickle; what stands before it is the sampler's to say."""


class SamplerState(NamedTuple):
    """All that a sampler carries from one batch to the next."""

    optuna: str
    """The version that wrote it."""
    told: int
    """How many trials had been told."""
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


def as_bytes(state: SamplerState) -> bytes:
    """Return the state as it is now; the sampler may go on."""
    return pickle.dumps(tuple(state))


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
