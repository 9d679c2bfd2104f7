"""A study as a picture: the front over parallel axes, how its best grew, and shares of its levers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from workbench.dashboards.panels.canvas_widget import CanvasWidget, script
from workbench.studies.tuning.results import ParallelAxis


class Shares(NamedTuple):
    """What the levers of a study share in one goal."""

    title: str
    rows: Sequence[tuple[str, float]]
    floor: float
    """What a lever that changes nothing reaches."""


class Growth(NamedTuple):
    """How the best of a study grew, trial by trial."""

    title: str
    label: str
    values: Sequence[float]
    trials: int
    """How many there are to be."""


class StudyPanel(CanvasWidget):
    """Draws a study; a click on a line chooses its point."""

    _esm = script("study.js")

    def __init__(self, picked: Callable[[int], None]) -> None:
        super().__init__()
        self._picked = picked
        self.on_msg(self._heard)

    def show(
        self, axes: Sequence[ParallelAxis], names: Sequence[str], growth: Growth, shares: Shares, chosen: int
    ) -> None:
        """Show the front, the history and the shares, each left out where there is nothing of the kind."""
        self.put(
            {
                "parallel": {"axes": [_plain(axis) for axis in axes], "names": list(names)},
                "history": {**growth._asdict(), "values": [_finite(value) for value in growth.values]},
                "shares": {
                    "title": shares.title,
                    "floor": shares.floor,
                    "rows": [{"lever": lever, "share": share} for lever, share in shares.rows],
                },
                "chosen": chosen,
            }
        )

    def choose(self, place: int) -> None:
        """Draw another line on top."""
        if self.scene and self.scene["chosen"] != place:
            self.put({**self.scene, "chosen": place})

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "pick":
            self._picked(int(message["k"]))


def _plain(axis: ParallelAxis) -> dict[str, Any]:
    words = {"name": axis.name, "ends": list(axis.ends), "words": list(axis.words)}
    return {**words, "at": [_finite(at) for at in axis.at]}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
