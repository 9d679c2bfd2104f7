"""The JSON schema of the key `workload:`, with which an editor completes a sweep file."""

from __future__ import annotations

from typing import Any

from workbench.levers import Spec
from workbench.workloads.file import WorkgroupFile
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.generators import BUILT_IN
from workbench.workloads.synthetic.regimes import regimes


def workload_schema() -> dict[str, Any]:
    """What `read_workload` takes: a name alone, or one of the four keys with its levers."""
    from workbench.workloads.trace import TraceWorkgroups

    alone = {"enum": [*regimes(), *sorted(cls.name for cls in BUILT_IN)]}
    synthetic = [_keyed("synthetic", {"const": name}, cls) for name, cls in Generator.members.items()]
    return {"anyOf": [alone, *synthetic, _regime(), WorkgroupFile.schema(), TraceWorkgroups.schema()]}


def _regime() -> dict[str, Any]:
    """A regime with any of its generator's levers; every built-in regime is of random workgroups."""
    (kind,) = {type(regime.workload) for regime in regimes().values()}
    return _keyed("regime", {"enum": list(regimes())}, kind)


def _keyed(key: str, choice: dict[str, Any], cls: type[Spec]) -> dict[str, Any]:
    shape = cls.schema()
    return {**shape, "properties": {key: choice, **shape["properties"]}, "required": [key, *shape.get("required", [])]}
