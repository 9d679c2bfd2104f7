"""The families of applications made tiny: a handful of groups each, for tests that run a node interpreted."""

from __future__ import annotations

from typing import Any

from workbench.workloads.generators import Regime, regimes
from workbench.workloads.synthetic.laws import Constant

TINY: dict[str, dict[str, Any]] = {
    "training": {"iterations": 1, "layers": 1, "kernel_groups": 3},
    "serving": {
        "requests": 1,
        "slots": 1,
        "prefill_groups": 2,
        "decode_groups": 2,
        "answer": Constant(value=64),
        "prompt": Constant(value=64),
    },
    "stencil": {"steps": 1, "kernel_groups": 4},
    "gather": {"steps": 1, "kernel_groups": 4},
    "small_kernels": {"streams_each": 1, "kernels": 1, "kernel_groups": 2, "lanes": 2},
}


def tiny_regimes() -> dict[str, Regime]:
    """Return every family with two applications."""
    return {
        name: known._replace(workload=known.workload.but(count=2, **TINY[name]))
        for name, known in regimes("applications").items()
    }
