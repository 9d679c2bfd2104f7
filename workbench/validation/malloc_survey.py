"""The files of a survey of device allocators: GPUMemManSurvey, by M. Winter and others, PPoPP 2021.

A file of `scaling` has the time of a kernel in which every thread allocates. One of `performance` has that of 10,000
allocations. The table of `frag_tests` says how much of the heap was given out until an allocation failed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import InputError
from workbench.validation.malloc_runs import card_of

if TYPE_CHECKING:
    import pandas as pd

SIZES = (16, 256, 4096)
THREADS = tuple(1 << k for k in range(21))
GAIN_SIZES, GAIN_THREADS = (16, 64, 256, 1024, 4096), 10_000
DESIGNS = (
    *("CUDA", "XMalloc", "ScatterAlloc", "Halloc"),
    *("RegEff-A", "RegEff-AW", "RegEff-C", "RegEff-CF", "RegEff-CM", "RegEff-CFM"),
    *("Ouroboros-P-S", "Ouroboros-P-VA", "Ouroboros-P-VL", "Ouroboros-C-S", "Ouroboros-C-VA", "Ouroboros-C-VL"),
)
"""The survey's allocators. RegEff-AW is RegEff-A that wraps around; no run here is so long."""
_SCALING = re.compile(r"scale_alloc_(?P<design>[\w-]+)_(?P<bytes>\d+)_1-\d+\.csv")
_WARP = re.compile(r"warp_perf_alloc_(?P<design>[\w-]+)_10000_\d+-\d+\.csv")
_FULL = re.compile(r"[\d_-]+_oom_\d+_\d+-\d+\.csv")
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row a card, measure, design, size and number of threads.

    The measures are `scaling` in milliseconds, `aggregation` and `full`. An aggregation is the time of 10,000
    allocations, one a warp over 32 a warp. Full is the bytes given out until an allocation fails, in percent of the
    heap. A 0 is no measurement.

    Raises
    ------
    InputError
        A file is not of the survey's format, or lies in no folder of a card that is known here.
    """
    import pandas as pd

    rows: list[tuple[str, str, str, int, int, float]] = []
    for path in files:
        if named := _SCALING.fullmatch(path.name):
            if named["design"] in DESIGNS and int(named["bytes"]) in SIZES:
                times, card = read_times(path, "NumThreads"), folder_of(path)
                size = int(named["bytes"])
                rows += [(card, "scaling", named["design"], size, n, times[n]) for n in THREADS if times.get(n, 0) > 0]
        elif (named := _WARP.fullmatch(path.name)) and named["design"] in DESIGNS:
            other = path.with_name(path.name.removeprefix("warp_"))
            if other.exists():
                alone, together = (read_times(each, "AllocationSize") for each in (path, other))
                card = folder_of(path)
                gains = [
                    (size, alone[size] / together[size])
                    for size in GAIN_SIZES
                    if alone.get(size, 0) and together.get(size, 0)
                ]
                rows += [(card, "aggregation", named["design"], size, GAIN_THREADS, gain) for size, gain in gains]
        elif _FULL.fullmatch(path.name):
            card = folder_of(path)
            rows += [(card, "full", design, size, 0, share) for design, size, share in read_shares(path)]
    columns = ["card", "measure", "design", "bytes", "threads", "value"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(columns[:-1], ignore_index=True)


def read_shares(path: Path) -> list[tuple[str, int, float]]:
    """Return design, size and percent of the survey's table of what each allocator gave out.

    Raises
    ------
    InputError
        The first line does not begin with `Bytes`.
    """
    lines = [
        line.split(",") for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()
    ]
    if not lines or lines[0][0].strip() != "Bytes":
        raise InputError(f"{path}: must begin with a line of the column Bytes and sizes.")
    shares = []
    for cells in lines[1:]:
        design = next((name for name in DESIGNS if name == cells[0].strip()), None)
        for size, cell in zip(lines[0][1:], cells[1:], strict=False):
            if design is not None and _NUMBER.fullmatch(cell.strip()) and float(cell) > 0:
                shares.append((design, int(size), float(cell)))
    return shares


def folder_of(path: Path) -> str:
    """Return the folder of the card in which a file of the survey lies, after refusing an unknown card."""
    parts = path.parts
    card = next((parts[k + 1] for k in range(len(parts) - 1) if parts[k] == "results"), path.parent.name)
    try:
        card_of(card)
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
    return card


def read_times(path: Path, key: str) -> dict[int, float]:
    """Return the column `median` of a file of the survey by its first column; rows without a number are left out.

    Raises
    ------
    InputError
        The first line does not begin with that column, or no row has a median.
    """
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    names = [name.strip() for name in lines[0].split(",")] if lines else []
    if not names or not names[0].startswith(key) or "median" not in names:
        got = ", ".join(names) or "nothing"
        raise InputError(f"{path}: must begin with a line of the columns {key} and median. Got {got}.")
    place, times = names.index("median"), {}
    for line in lines[1:]:
        cells = line.split(",")
        try:
            times[int(cells[0])] = float(cells[place])
        except (ValueError, IndexError):
            continue
    if not times:
        raise InputError(f"{path}: must have a row with a median.")
    return times
