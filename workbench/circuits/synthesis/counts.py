"""The figures of a synthesised circuit, read from what Yosys and abc say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkbenchError

INVERTER = "$_NOT_"


class Counts(NamedTuple):
    """What a synthesiser makes of a circuit."""

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
    """The synthesiser and its version."""


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
        int(_found(r"length=(\d+)", folder / "levels.txt")[0]),
        flip_flops,
        area,
        delay,
        by,
    )


def _cells(file: Path) -> dict[str, int]:
    match: dict[str, int] = json.loads(file.read_text("utf-8"))["design"]["num_cells_by_type"]
    return match


def _mapped(folder: Path) -> tuple[float, float]:
    area, delay = _found(r"Area =\s*([\d.]+).*?Delay =\s*([\d.]+)", folder / "timing.txt")
    return round(float(area), 2), round(float(delay), 2)


def _found(pattern: str, file: Path) -> tuple[str, ...]:
    lines = re.findall(pattern, file.read_text("utf-8"))
    if not lines:
        raise WorkbenchError(f"the synthesiser's {file.name} holds no figures; another version of Yosys may be needed.")
    return lines[-1] if isinstance(lines[-1], tuple) else (lines[-1],)
