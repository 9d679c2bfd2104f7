"""The pictures of README.md, made by the code that they show: run from the project's folder with `make pictures`.

Each picture holds the words and a digest of the data that it was drawn from. A test compares both with what
`workbench run` gives now.
"""

from __future__ import annotations

import hashlib
import numbers
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import workbench as wb
from workbench.figures import calculated, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path("docs/pictures")
PICTURES = {
    "sweeps/placement/drain.yaml": ["drain_difference", "layout_over_time", "remaining_over_time"],
    "sweeps/placement/six_open_gpus.yaml": ["saving_by_policy"],
    "sweeps/node/where_time_goes.yaml": ["where_time_goes"],
}


CALCULATED = ("probe_success",)
"""Those that need no runs."""
DIGITS = 6
"""Significant digits of the data in a digest: the last ones differ between releases of SciPy."""


def main() -> None:
    for name in CALCULATED:
        recipe = calculated(name)
        _save(name, recipe.data(), recipe.draw)
    for sweep, names in PICTURES.items():
        results = wb.run(sweep)
        for name in names:
            _save(name, results.figure_data(name), figure(name, results.plan.sweep.mechanism.engine.name).draw)


def _save(name: str, data: Any, draw: Any) -> None:
    path = FOLDER / f"{name}.png"
    drawn = draw(data)
    drawn.savefig(path, dpi=150, metadata={"Software": None, **marks_of(drawn, data)})
    print(path)


def marks_of(drawn: Figure, data: Any) -> dict[str, str]:
    """Return the origin of a picture, as texts of a PNG file."""
    return {"Description": "\n".join(words_of(drawn)), "Source": digest_of(data)}


def words_of(drawn: Figure) -> list[str]:
    """Return all texts of a figure without the numbers of its ticks."""
    from matplotlib.text import Text

    ticks = [text for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis) for text in axis.findobj(Text)]
    labels = {id(axis.label) for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis)}
    left_out = {id(text) for text in ticks} - labels
    texts = [text for text in drawn.findobj(Text) if id(text) not in left_out and text.get_visible()]
    return sorted({text.get_text() for text in texts if text.get_text().strip()})


def digest_of(data: Any) -> str:
    """Return a digest of the columns that a figure draws."""
    columns = {
        name: [_rounded(value) for value in np.asarray(column).ravel()] for name, column in data.columns().items()
    }
    return hashlib.sha256(repr(columns).encode()).hexdigest()[:16]


def _rounded(value: Any) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, numbers.Real) else str(value)


if __name__ == "__main__":
    main()
