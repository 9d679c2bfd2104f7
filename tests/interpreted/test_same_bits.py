"""The same runs, compiled and as the plain Python that was written: the same bits, for every policy and lever."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys

import pytest

from tests.slow import LONG, compiled_only

PROGRAM = """
import json, sys
import workbench as wb
from workbench.compiled import INTERPRETED
from workbench.policies.policy import policies

assert INTERPRETED == (sys.argv[1] == "interpreted")
wb.plan({"engine": "shared_memory", "workload": "large_uniform"})
every = [{name: {"base": "first_fit"}} if "base" in cls.levers else name for name, cls in policies("placement").items()
         if cls.built_in]
sizes = [{"uniform": [1, 8]}, {"uniform": [1, 30]}]
size = {"vary": sizes} if sys.argv[2] == "long" else sizes[1]
sweep = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": [33, 64]}},
    "workload": {"synthetic": "random_workgroups", "count": 25, "size": size, "duration": {"uniform": [1, 60]},
                 "arrival": {"vary": ["all_at_once", {"poisson": {"per_kilocycle": 200}}]}},
    "policy": {"placement": {"vary": every}, "queue": {"vary": ["fifo_head_only", {"fifo_lookahead": {"k": 3}}]}},
    "seeds": 1,
}
results = wb.run(sweep, workers=1)
rows = {row.id: [row.status, row.error, {k: repr(v) for k, v in row.measures.items()}] for row in results.rows.values()}
print(json.dumps(rows, sort_keys=True))
"""


def outcome(mode: str) -> dict[str, list[object]]:
    command = [sys.executable, "-c", PROGRAM, mode, "long" if LONG else "usual"]
    if mode == "compiled":  # as this process is
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
            patch.setattr(sys, "argv", command[2:])
            exec(PROGRAM, {})
        done: dict[str, list[object]] = json.loads(printed.getvalue())
        return done
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    reply = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert reply.returncode == 0, reply.stderr[-2000:]
    result: dict[str, list[object]] = json.loads(reply.stdout)
    return result


@pytest.mark.slow
@compiled_only
def test_compiled_and_interpreted_runs_are_the_same_to_the_bit():
    compiled, interpreted = outcome("compiled"), outcome("interpreted")
    assert len(compiled) > (200 if LONG else 100)
    assert {row[0] for row in compiled.values()} == {"done"}
    assert compiled == interpreted
