"""A card: the measuring program, compiled by nvcc or hipcc, and the lines that it prints."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

PROGRAM = Path(__file__).parent / "programs" / "measure.cu"
COMPILERS: Mapping[str, tuple[str, ...]] = {
    "nvcc": ("-O2", "-std=c++17", "-arch=native"),
    "hipcc": ("-O2", "-std=c++17", "-x", "hip", "--offload-arch=native"),
}
"""The compilers that are looked for on the PATH, in this order, with their options."""

Measure = Callable[..., list[str]]
"""From a subcommand of the program and its arguments to the lines that it prints."""


class NoCardError(Exception):
    """There is no card, no compiler, or the program failed: one sentence with the cure."""


class Card(NamedTuple):
    """What the runtime says of the card."""

    name: str
    platform: str
    """`cuda` or `hip`."""
    version: str
    """The compute capability, such as `9.0`."""
    units: int
    wave_size: int
    threads_a_unit: int
    blocks_a_unit: int
    registers_a_unit: int
    shared_bytes_a_unit: int
    free_bytes: int
    """Memory that is free now."""


def compiled(folder: Path) -> Measure:
    """Compile the measuring program into a folder and return what runs it.

    Raises
    ------
    NoCardError
        Neither compiler is there, or the program does not compile.
    """
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise NoCardError("on_a_card needs nvcc (CUDA) or hipcc (ROCm) on the PATH, and neither is there.")
    program = folder / "measure"
    made = subprocess.run([compiler, *COMPILERS[compiler], "-o", program, PROGRAM], capture_output=True, text=True)
    if made.returncode:
        raise NoCardError(f"{compiler} does not compile {PROGRAM.name} for a card of this machine: {_first(made)}")
    return lambda *arguments: _run(program, arguments)


def _run(program: Path, arguments: Sequence[object]) -> list[str]:
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise NoCardError(f"measure {' '.join(map(str, arguments))} stopped: {_first(done)}")
    return done.stdout.splitlines()


def _first(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first line that a program wrote about its failure."""
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[0] if lines else f"exit status {done.returncode}"


def card_of(measure: Measure) -> Card:
    """Return the card that a program runs on.

    Raises
    ------
    NoCardError
        The program finds no card.
    """
    try:
        values = dict(line.split("=", 1) for line in measure("card"))
    except NoCardError as problem:
        raise NoCardError(f"on_a_card found no card: {problem}") from None
    texts = {name: values[name] for name in ("name", "platform", "version")}
    numbers = {name: int(values[name]) for name in Card._fields if name not in texts}
    return Card(**texts, **numbers)
