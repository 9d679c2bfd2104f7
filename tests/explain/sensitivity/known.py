"""An engine that simulates nothing: its measures are functions whose indices are known in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import workbench.mechanisms.mechanism as room
import workbench.policies.placement  # noqa: F401 - so that there are policies of that name
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.mechanisms.mechanism import Mechanism
from workbench.metrics.measure import Measure, declared

A, B = 7.0, 0.1
WEIGHTS = (0.0, 1.0, 4.5)


class Inputs(Spec):
    x1: float = lever(0.0, least=-3.2, most=3.2, description="first")
    x2: float = lever(0.0, least=-3.2, most=3.2, description="second")
    x3: float = lever(0.0, least=-3.2, most=3.2, unit="parts", description="third")
    k: int = lever(1, least=1, most=8, description="whole")


class Known:
    name, revision, options, workload_kind = "known", 1, Inputs, "workgroups"
    slots, machine = {"placement": "first_fit"}, Machine

    def question_of(self, slot: str) -> str:
        return slot

    def validate(self, setup: Any, seed: int) -> None:
        pass

    def simulate(self, setup: Any, seed: int, events: bool = False) -> Any:
        return setup, seed


MEASURES = declared(
    Measure("y", "units", "lower", "Ishigami's function with first fit, Sobol's g-function with best fit"),
    Measure("line", "units", "higher", "3 x1 - 5 x2 + seed"),
    Measure("same", "", "lower", "always 2"),
    Measure("hole", "", "lower", "not a number where x1 is above 2"),
)


def measure(record: Any) -> dict[str, float]:
    setup, seed = record
    x = np.array([setup.options.x1, setup.options.x2, setup.options.x3])
    y = ishigami(x) if setup.policies["placement"].name == "first_fit" else g_function((x + math.pi) / (2 * math.pi))
    hole = math.nan if x[0] > 2 else 1.0 + x[1]
    return {"y": y + seed, "line": 3 * x[0] - 5 * x[1] + seed, "same": 2.0, "hole": hole}


def ishigami(x: np.ndarray) -> float:
    return float(math.sin(x[0]) + A * math.sin(x[1]) ** 2 + B * x[2] ** 4 * math.sin(x[0]))


def g_function(x: np.ndarray) -> float:
    return float(np.prod([(abs(4 * u - 2) + a) / (1 + a) for u, a in zip(x, WEIGHTS)]))


def known_ishigami() -> dict[str, Any]:
    """Ishigami and Homma (1990), in closed form."""
    v1, v2 = 0.5 * (1 + B * math.pi**4 / 5) ** 2, A**2 / 8
    v13 = B**2 * math.pi**8 * (1 / 18 - 1 / 50)
    v = v1 + v2 + v13
    second = np.zeros((3, 3))
    second[0, 2] = second[2, 0] = v13 / v
    return {"first": [v1 / v, v2 / v, 0], "total": [(v1 + v13) / v, v2 / v, v13 / v], "second": second}


def known_g_function() -> dict[str, Any]:
    """Sobol' (1993): the partial variances are products of those of the factors."""
    parts = [1 / 3 / (1 + a) ** 2 for a in WEIGHTS]
    v = math.prod(1 + part for part in parts) - 1
    total = [part * math.prod(1 + other for other in parts[:k] + parts[k + 1 :]) / v for k, part in enumerate(parts)]
    return {"first": [part / v for part in parts], "total": total, "second": np.outer(parts, parts) / v}


@contextmanager
def known_engine() -> Iterator[None]:
    """For this time sweeps can name the engine `known`."""
    room.enter(Mechanism(Known(), MEASURES, measure, lambda record: {}))
    try:
        yield
    finally:
        del room.MECHANISMS["known"]


def study(**changed: Any) -> dict[str, Any]:
    """A study of three ranges; a key that is None is left out."""
    ends = {"from": -math.pi, "to": math.pi}
    config = {
        "question": "What does it depend on?",
        "engine": "known",
        "workload": "small_uniform",
        "options": {name: {"vary": dict(ends)} for name in ("x1", "x2", "x3")},
        "policy": {"placement": "first_fit"},
        "design": {"saltelli": {"base": 64, "seed": 1}},
        "seeds": 1,
        "measures": ["y"],
    }
    return {key: value for key, value in {**config, **changed}.items() if value is not None}
