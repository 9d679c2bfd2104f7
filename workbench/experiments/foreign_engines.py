"""Engines that are not part of this package, on their way to workers: those that a notebook or a script entered."""

from __future__ import annotations

import os
import pickle
import socket
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.experiments.by_value import dumped
from workbench.experiments.measured_by import measures_digest
from workbench.experiments.mechanism import enter, is_built_in, mechanism
from workbench.identity import current, snapshot


class PackedEngine(NamedTuple):
    """What a worker needs to know of the engine of some runs."""

    name: str
    measured: str
    """The digest of the measures in the driver."""
    driver: tuple[str, int]
    """The machine and the number of the driver's process, which has everything already."""
    mechanism: bytes = b""
    """The mechanism pickled with its code; empty for one that every worker has."""


def packed(engine: str) -> PackedEngine:
    """Return an engine as it is in memory.

    Raises
    ------
    InputError
        Something that the user's engine or measures refer to cannot be sent to another process.
    """
    found = mechanism(engine)
    measured = measures_digest(found)
    if is_built_in(engine):
        return PackedEngine(engine, measured, _here())
    taken = [current(type(found.engine)), current(found.engine), snapshot(found.measure)]
    try:
        return PackedEngine(engine, measured, _here(), dumped(found._replace(events=_no_events), taken))
    except (TypeError, pickle.PicklingError) as problem:
        raise InputError(f"the engine {engine} cannot be sent to another process: {problem}.") from None


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


def enter_packed(engine: PackedEngine) -> None:
    """Enter an engine that came from the driver, unless it is the one that is there.

    Raises
    ------
    InputError
        The measures that are computed here are not those of the driver.
    """
    if is_here(engine):
        return
    if engine.mechanism and _entered.get(engine.name) != engine.mechanism:
        enter(pickle.loads(engine.mechanism))
        _entered[engine.name] = engine.mechanism
    if measures_digest(mechanism(engine.name), anew=True) != engine.measured:
        raise InputError(
            f"the code of the measures of {engine.name}, or something it refers to, is not what the driver has; "
            "run the sweep again."
        )
