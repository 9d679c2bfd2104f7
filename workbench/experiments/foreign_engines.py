"""Engines that are not part of this package, on their way to workers: those that a notebook or a script entered."""

from __future__ import annotations

import functools
import os
import pickle
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.experiments.by_value import dumped
from workbench.experiments.measured_by import measured_by
from workbench.experiments.mechanism import Mechanism, enter, is_built_in, mechanism
from workbench.experiments.own_measures import OwnMeasure
from workbench.identity import current, snapshot


class PackedEngine(NamedTuple):
    """What a worker needs to know of the engine of some runs."""

    name: str
    measured: str
    """The digests of the measures in the driver."""
    driver: tuple[str, int]
    """The machine and the number of the driver's process, which has everything already."""
    mechanism: bytes = b""
    """The mechanism pickled with its code; empty for one that every worker has."""
    own: bytes = b""
    """The user's measures that are computed of the runs, pickled with their code; empty where there are none."""


def packed(engine: str, own: Mapping[str, OwnMeasure] | None = None) -> PackedEngine:
    """Return an engine, and measures of the user's, as they are in memory.

    Raises
    ------
    InputError
        Something that the user's engine or measures refer to cannot be sent to another process.
    """
    registered = mechanism(engine)
    taken = PackedEngine(engine, measured_by(registered, own or {}).text, _here(), own=_packed_measures(own or {}))
    return taken if is_built_in(engine) else taken._replace(mechanism=_packed_mechanism(registered))


def _packed_measures(own: Mapping[str, OwnMeasure]) -> bytes:
    try:
        return dumped(dict(own), [snapshot(one.function) for one in own.values()]) if own else b""
    except (TypeError, pickle.PicklingError) as problem:
        raise InputError(f"the measures {', '.join(own)} cannot be sent to another process: {problem}.") from None


def _packed_mechanism(registered: Mechanism) -> bytes:
    taken = [current(type(registered.engine)), current(registered.engine), snapshot(registered.measure)]
    try:
        return dumped(registered._replace(events=_no_events), taken)
    except (TypeError, pickle.PicklingError) as problem:
        raise InputError(f"the engine {registered.engine.name} cannot be sent to another process: {problem}.") from None


def is_here(engine: PackedEngine) -> bool:
    """Return whether this process is the driver itself, as with some executors that are handed in."""
    return engine.driver == _here()


def _here() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


def _no_events(record: Any) -> dict[str, Any]:
    """Stand for the event log, which is made in the driver alone."""
    return {}


_entered: dict[str, bytes] = {}
"""The mechanism of each engine that this process entered last."""


def enter_packed(engine: PackedEngine) -> dict[str, OwnMeasure]:
    """Enter an engine that came from the driver, unless it is the one that is there; return the user's measures.

    Raises
    ------
    InputError
        The measures that are computed here are not those of the driver.
    """
    own = _opened(engine.own) if engine.own else {}
    if is_here(engine):
        return own
    if engine.mechanism and _entered.get(engine.name) != engine.mechanism:
        enter(pickle.loads(engine.mechanism))
        _entered[engine.name] = engine.mechanism
    if measured_by(mechanism(engine.name), own, anew=True).text != engine.measured:
        raise InputError(
            f"the code of the measures of {engine.name}, or something it refers to, is not what the driver has; "
            "run the sweep again."
        )
    return own


@functools.lru_cache(16)
def _opened(own: bytes) -> dict[str, OwnMeasure]:
    measures: dict[str, OwnMeasure] = pickle.loads(own)
    return measures
