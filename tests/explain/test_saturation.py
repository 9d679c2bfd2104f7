"""A summary says where an open loop is saturated."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.statistics.notes import saturation_notes


def sweep(gap: int, issue: Any) -> dict[str, Any]:
    return {
        "engine": "translation",
        "machine": {"cores": 4, "private_entries": 4, "shared_entries": 0, "walkers": 1},
        "workload": {"synthetic": "zipf_mixture", "count": 400, "pace": "poisson", "gap": gap},
        "policy": {"locate": "no_directory", "fill": "demand_always"},
        "options": {"cores_issue": issue},
        "seeds": 2,
        "measures": ["latency_mean_cycles"],
    }


@pytest.mark.parametrize(("gap", "issue", "said"), [(4, "open", 1), (4000, "open", 0), (4, {"warps": {"count": 1}}, 0)])
def test_arrivals_above_service_are_named_in_an_open_loop_alone(gap, issue, said):
    notes = saturation_notes(wb.run(sweep(gap, issue), workers=0))
    assert len(notes) == said
    assert all("saturated. Accesses come faster than they are served (" in note for note in notes)
