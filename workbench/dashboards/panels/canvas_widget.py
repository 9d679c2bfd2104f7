"""A panel on a canvas: the browser is told what to draw in one message, and says how many pictures it has drawn.

Canvases of our own, because everything changes at every move of a slider. A plotly FigureWidget in their place,
measured on the same page of Voila on two busy cores: its 5 MB of JavaScript put the first line 12 s behind the first
canvas, a move took 48 ms longer, and what changed before that script had arrived was lost, because such a figure inside
a box is told of changes alone and never of its state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets


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


def script(*names: str) -> str:
    """Return the JavaScript of a panel, one file after the other, behind the words that all panels share."""
    folder = Path(__file__).parent
    return "\n".join((folder / file).read_text() for file in ("canvas.js", "pdf_ink.js", *names))


def column(values: Any) -> bytes:
    """Return numbers as the browser reads them: float64, exact for whole numbers up to 2^53."""
    return np.asarray(values, "<f8").tobytes()
