"""Can a group ever be dispatched? Put its waves into an empty module one by one, each where most is left."""

from __future__ import annotations

from typing import Any


def fits(machine: Any, waves: int, demand: dict[str, int]) -> bool:
    """Whether an empty module takes the whole group, every wave on one unit."""
    of_module = {r.label: r.blocks for r in machine.resources() if r.level == "module"}
    of_unit = {r.label: r.blocks for r in machine.resources() if r.level == "unit"}
    request = {**demand, "waves": 1, "workgroups": 1, "barriers": int(waves > 1)}
    if any(request.get(label, 0) > blocks for label, blocks in of_module.items()):
        return False
    units = [dict(of_unit) for _ in range(machine.simds_a_unit)]
    for _ in range(waves):
        emptiest = max(units, key=lambda unit: unit["waves"])
        for label in of_unit:
            emptiest[label] -= request.get(label, 0)
        if min(emptiest.values()) < 0:
            return False
    return True
