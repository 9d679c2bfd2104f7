"""The JSON schema of the key `workload:`, with which an editor completes a sweep file."""

from __future__ import annotations

from typing import Any

from workbench.levers import Spec
from workbench.workloads.outside import all_outside
from workbench.workloads.synthetic.generators import BUILT_IN, generators
from workbench.workloads.synthetic.regimes import regimes


def workload_schema(wants: str = "workgroups") -> dict[str, Any]:
    """Return what `read_workload` takes for an engine: a name alone, or one of the four keys with its levers."""
    fitting = generators(wants)
    alone = {"enum": [*regimes(wants), *sorted(cls.name for cls in BUILT_IN if cls.name in fitting)]}
    synthetic = [_keyed("synthetic", {"const": name}, cls) for name, cls in fitting.items()]
    recorded = [cls.schema() for cls in all_outside(wants).values()]
    return {"anyOf": [alone, *_IN_FILES, *synthetic, *_regimes(wants), *recorded]}


_IN_FILE = {"type": "string", "pattern": r"\.py:"}
_IN_FILES = (_IN_FILE, {"type": "object", "properties": {"synthetic": _IN_FILE}, "required": ["synthetic"]})
"""A generator of the user's, whose levers only its file knows."""


def _regimes(wants: str) -> list[dict[str, Any]]:
    """Return a regime with any of its generator's levers; the regimes of a generator together."""
    kinds: dict[type[Spec], list[str]] = {}
    for regime in regimes(wants).values():
        kinds.setdefault(type(regime.workload), []).append(regime.name)
    return [_keyed("regime", {"enum": names}, kind) for kind, names in kinds.items()]


def _keyed(key: str, choice: dict[str, Any], cls: type[Spec]) -> dict[str, Any]:
    shape = cls.schema()
    return {**shape, "properties": {key: choice, **shape["properties"]}, "required": [key, *shape.get("required", [])]}
