"""A picture in a dashboard's place, where a notebook runs unattended."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping
from typing import Any

from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import WorkbenchError
from workbench.notebooks.execution import STILL

RUN_SECONDS = 2.0
"""How long the runs behind a picture may take."""


def is_unwatched() -> bool:
    """Return whether this process runs notebooks unattended."""
    return bool(os.environ.get(STILL))


def static_view(config: Mapping[str, Any], measure: str) -> dict[str, Any]:
    """Return the substitute for a dashboard: its first picture, and what it was opened with in words.

    `config` is the page's sweep. The words stand alone where both sides are the same, or a run fails.
    """
    engine = str(config["engine"])
    words = f'A dashboard with sliders stood here: wb.dashboard("{engine}") in a notebook opens it.'
    try:
        runs = PairedRuns(config)
        if runs.same:
            return {"text/plain": words}
        picture = _drawn(runs, measure)
    except WorkbenchError:
        return {"text/plain": words}
    baseline, other = runs.names
    sides = f"{other} beside {baseline}, {runs.n_done} paired runs."
    return {"image/png": base64.b64encode(picture).decode("ascii"), "text/plain": f"{words} {sides}"}


def _drawn(runs: PairedRuns, measure: str) -> bytes:
    from workbench.figures.drain_difference import drain_difference_data, draw_drain_difference

    image = io.BytesIO()
    draw_drain_difference(drain_difference_data(runs.advance(RUN_SECONDS), measure)).savefig(image, format="png")
    return image.getvalue()
