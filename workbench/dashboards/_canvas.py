"""Panels on a canvas: the base of every panel, its columns of numbers, and a panel of points.

The browser is told what to draw in one message, and says how many pictures it has drawn.

Canvases of our own, because everything changes at every move of a slider. A plotly FigureWidget in their place was
measured on the same page of Voila on two busy cores. Its 5 MB of JavaScript put the first line 12 s behind the first
canvas, and a move took 48 ms longer. What changed before that script had arrived was lost, because such a figure inside
a box is told of changes alone and never of its state.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from workbench.metrics.statistics import Steps
from workbench.palette import DARK, LIGHT


class CanvasWidget(anywidget.AnyWidget):
    """The base of every panel on a canvas."""

    scene = traitlets.Dict({}).tag(sync=True)
    """What is drawn: plain values, and columns of numbers as bytes."""
    drawn = traitlets.Int(0).tag(sync=True)
    """How many scenes have been shown; the canvas carries the number once it has drawn that one."""

    def put(self, scene: dict[str, Any]) -> None:
        """Show a scene."""
        with self.hold_sync():
            self.scene = scene
            self.drawn += 1


class PickingWidget(CanvasWidget):
    """A picture in which a click, or a key, picks something by its number."""

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        super().__init__()
        self._on_pick = on_pick
        self.on_msg(self._on_message)

    def _on_message(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "pick":
            self._on_pick(int(message["k"]))


def script(*names: str) -> str:
    """Return the JavaScript of a panel: the palettes, what all panels share, then its own files one after the other."""
    folder = Path(__file__).parent / "scripts"
    palettes = json.dumps({"light": LIGHT.named(), "dark": DARK.named()})
    files = ((folder / file).read_text() for file in ("canvas.js", "pdf_ink.js", *names))
    return "\n".join([f"const PALETTES = {palettes};", *files])


class PointsPanel(PickingWidget):
    """A dot a point; the chosen one is filled, the arrow keys choose the next."""

    _esm = script("points.js")

    def show(
        self,
        measures: Sequence[str],
        places: Sequence[Sequence[float]],
        names: Sequence[str],
        chosen: int,
        pale: Sequence[Sequence[float]] = (),
        before: Sequence[Sequence[float]] = (),
        held: Sequence[Sequence[float]] = (),
    ) -> None:
        """Show the points, and pale ones behind them that cannot be chosen; those without both values are left out of
        the picture.

        `before` gives each point another place, from which an arrow leads to it; `held` are the places of baselines.
        """
        kept = [k for k, place in enumerate(places) if all(map(math.isfinite, place))]
        behind = [[float(value) for value in place] for place in pale if all(map(math.isfinite, place))]
        from_places = {k: list(map(float, before[k])) for k in kept if k < len(before)}
        points = [
            {"k": k, "x": places[k][0], "y": places[k][1], "name": names[k], "from": from_places.get(k)} for k in kept
        ]
        baselines = [list(map(float, place)) for place in held if all(map(math.isfinite, place))]
        labels = {"x": measures[0], "y": measures[1], "chosen": chosen}
        self.put({**labels, "points": points, "pale": behind, "held": baselines})

    def choose(self, place: int) -> None:
        """Fill another point."""
        if self.scene:
            self.put({**self.scene, "chosen": place})


def column(values: Any) -> bytes:
    """Return numbers as the browser reads them: float64, exact for whole numbers up to 2^53."""
    return np.asarray(values, "<f8").tobytes()


MOST_PLACES = 4_000
"""A line with more changes than this is sampled at so many cycles."""


def curve(steps: Steps, until: int) -> dict[str, bytes]:
    """Return a step function from cycle 0 to a last one as two columns."""
    cycle, value = sampled(steps, until)
    return {"cycle": column(cycle), "value": column(value)}


def sampled(steps: Steps, until: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cycles from 0 to a last one at which a step function takes a value, and the values.

    >>> sampled(Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3])), 9)
    (array([0, 2, 5, 9]), array([4, 1, 3, 3]))
    """
    changes = steps.cycle[: np.searchsorted(steps.cycle, until)]
    if len(changes) > MOST_PLACES:
        changes = np.linspace(0, until, MOST_PLACES).astype(np.int64)
    places = np.unique(np.concatenate([[0], changes, [until]]))
    return places, steps.at(places)


def note(until: int, whole: int) -> str:
    """Return the note on the axis of time where only the beginning of a long run is drawn.

    >>> note(900, 12_345), note(900, 900)
    (', the first 900 of 12,345', '')
    """
    return "" if until == whole else f", the first {until:,} of {whole:,}"
