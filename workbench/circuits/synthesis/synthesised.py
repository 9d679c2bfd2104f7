"""Synthesises a circuit once, and keeps the figures by the digest of its netlist in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.circuits.netlist import Circuit
from workbench.circuits.synthesis.counts import Counts, read_counts
from workbench.circuits.synthesis.liberty import FLIP_FLOP_AREA, liberty
from workbench.circuits.synthesis.shipped import SCRIPT, key_of, shipped
from workbench.circuits.synthesis.yosys import run_script, synthesiser
from workbench.circuits.verilog import verilog
from workbench.errors import WorkbenchError
from workbench.folders import cache_home

SECONDS = 600.0
"""How long one synthesis may take, unless said otherwise."""


def synthesised(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return what a synthesiser makes of a circuit.

    Figures that come with the package are taken from there, others from the cache where they have been asked for
    before. Of several processes that ask for one circuit at once, one synthesises and the others wait.

    Raises
    ------
    WorkbenchError
        No synthesiser is installed and the circuit is none of those that come with the package, or it took longer.
    """
    counts = known(circuit)
    return synthesised_here(circuit, seconds) if counts is None else counts


def known(circuit: Circuit) -> Counts | None:
    """Return the figures that are there without a synthesis, None where one is needed.

    Raises
    ------
    WorkbenchError
        One is needed, and no synthesiser is installed.
    """
    by = _installed()
    counts = shipped(circuit, by)
    if counts is None and by is None:
        synthesiser()
    return counts if counts is not None or by is None else _kept(_place(circuit, by))


def _installed() -> str | None:
    with suppress(WorkbenchError):
        return synthesiser().name
    return None


def synthesised_here(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return what this machine's synthesiser makes of a circuit, once and then out of the cache.

    Raises
    ------
    WorkbenchError
        No synthesiser is installed, or it took longer.
    """
    by = synthesiser().name
    place = _place(circuit, by)
    with _alone(place):
        counts = _kept(place)
        if counts is None:
            counts = _synthesise(circuit, by, seconds)
            _keep(place, counts)
    return counts


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Let one process at a time into a circuit's place; where a file system knows no locks, all at once."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.with_suffix(".lock"), "w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kept(place: Path) -> Counts | None:
    return Counts(**json.loads(place.read_text("utf-8"))) if place.is_file() else None


def _keep(place: Path, counts: Counts) -> None:
    """Write the figures beside their place and move them there, so that no reader meets half a file."""
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(counts._asdict()), "utf-8")
    beside.replace(place)


def _synthesise(circuit: Circuit, by: str, seconds: float) -> Counts:
    with tempfile.TemporaryDirectory(prefix="workbench-circuit-") as place:
        folder = Path(place)
        (folder / "circuit.v").write_text(verilog(circuit), "utf-8")
        (folder / "cells.lib").write_text(liberty(), "utf-8")
        run_script(SCRIPT.format(name=circuit.name), folder, seconds)
        counts = read_counts(folder, by)
    area = round(counts.relative_area + FLIP_FLOP_AREA * counts.registers, 2)
    return counts._replace(relative_area=area)


def _place(circuit: Circuit, by: str) -> Path:
    key = hashlib.sha256(f"{key_of(circuit)} {by}".encode()).hexdigest()
    return cache_home() / "circuits" / f"{key}.json"
