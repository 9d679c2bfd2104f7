"""The memory pool, compiled and as the plain Python that was written: the same bits of every column."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib, sys
import numpy as np
from tests.engines.pool_cases import Case, crowd
from tests.engines.test_pool import EVERY, RING
from workbench.compiled import INTERPRETED

assert INTERPRETED == (sys.argv[1] == "interpreted")
for slot in ("target", "idle_release", "cache_fit", "residency"):
    for policy in EVERY[slot]:
        rows = [row for row in crowd(9, 3, 80, 110) if row[2] != 3]
        record = Case(rows, RING, {slot: policy}, {"history_window": 30}).simulate()
        columns = [np.ascontiguousarray(it).tobytes() for it in record if isinstance(it, np.ndarray)]
        print(policy.short(), hashlib.blake2b(b"".join(columns), digest_size=8).hexdigest())
"""


def told(mode: str) -> list[str]:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1" if mode == "interpreted" else "0"}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, mode],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout.splitlines()


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this test starts both modes itself")
def test_compiled_and_interpreted_pools_are_the_same_to_the_bit():
    compiled = told("compiled")
    assert len({line.rpartition(" ")[2] for line in compiled}) > 10, (
        "the policies hardly differ: the case tests nothing"
    )
    assert compiled == told("interpreted")
