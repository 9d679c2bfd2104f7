"""The memory pool, compiled and as the plain Python that was written: the same bits of every column."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slow import compiled_only

PROGRAM = """
import hashlib, sys
import numpy as np
from tests.engines.pool_cases import Case, crowd
from tests.engines.test_pool import EVERY, LARGE, MIB, RING, scaled
from workbench.compiled import INTERPRETED

assert INTERPRETED == (sys.argv[1] == "interpreted")
for slot in EVERY:
    for policy in EVERY[slot]:
        factor = MIB // 2 if policy.name in LARGE else 1
        rows = [row for row in crowd(9, 3, 80, 110 * factor) if row[2] != 3]
        options = {"history_window": 30, "driver_granule": 16 * factor}
        record = Case(rows, scaled(RING, factor), {slot: policy}, options).simulate()
        columns = [np.ascontiguousarray(it).tobytes() for it in record if isinstance(it, np.ndarray)]
        print(policy.short(), hashlib.blake2b(b"".join(columns), digest_size=8).hexdigest())
"""


def told(mode: str) -> list[str]:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1" if mode == "interpreted" else "0"}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, mode],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return result.stdout.splitlines()


@pytest.mark.slow  # in `make test` both are compared with the slow twin on the same cases (tests/engines/test_pool.py)
@compiled_only
def test_compiled_and_interpreted_pools_are_the_same_to_the_bit():
    compiled = told("compiled")
    assert len({line.rpartition(" ")[2] for line in compiled}) > 10, (
        "the policies hardly differ: the case tests nothing"
    )
    assert compiled == told("interpreted")
