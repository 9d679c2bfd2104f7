"""The same runs with some of them failed, as a policy that raises would leave them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def with_failed(runs: Any, failed: Mapping[str, Callable[[int], bool]]) -> Any:
    """The runs of a set; of the points with these labels (or ids), those at the seeds that a function picks failed."""
    names = {point.id: (point.id, runs.label(point)) for point in runs.points}
    wanted = {id: failed[name] for id, both in names.items() for name in both if name in failed}
    assert len(wanted) >= len(failed), [runs.label(point) for point in runs.points]
    rows = [
        row._replace(status="failed", error="it broke.", measures={})
        if row.point in wanted and wanted[row.point](row.seed)
        else row
        for row in runs.rows.values()
    ]
    return type(runs)(runs.plan, rows, runs.folder, runs.seconds)
