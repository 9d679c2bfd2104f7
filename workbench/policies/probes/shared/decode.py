"""From a resource's SAR sequence to its longest run: a scan, or the fourth look-up table (spec 3, R57; E16)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating, kernel


@kernel
def scanned(found: np.ndarray) -> int:
    """Scan from the highest entry down to the first 1 at e: e + 1; 0 where there is none (R36)."""
    for entry in range(found.size - 1, -1, -1):
        if found[entry]:
            return entry + 1
    return 0


@allocating
def padded(found: np.ndarray, width: int, with_one: bool) -> np.ndarray:
    """Return the sequence filled up to the width of the probe, with zeros; with ones it is wrong (E16, V24)."""
    code = np.empty(width, np.bool_)
    for entry in range(width):
        code[entry] = found[entry] if entry < found.size else with_one
    return code


@kernel
def looked_up(code: np.ndarray) -> int:
    """Look up in LUT4 the row of which the code's last 1 is the entry's own; its rows hold the runs 0 to width.

    A legal code is ones, then zeros. Such a table tells its width + 1 rows apart by where the ones end; what lies below
    is not looked at, which is what a code with wrong padding meets.
    """
    for run in range(code.size, 0, -1):
        if code[run - 1]:
            return run
    return 0
