"""A picture in TeX's own letters has the same bytes however often its figure was saved before as another kind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from matplotlib.figure import Figure

from workbench.export import _comparison as comparison
from workbench.export import drawings

EMPTY: Any = SimpleNamespace(name="empty", description="Nothing.", draw=lambda data: Figure())
NO_DATA = SimpleNamespace(columns=dict)


def test_each_pgf_is_of_a_figure_that_nothing_was_saved_of(tmp_path, monkeypatch):
    """A layout goes on from where the last saving left it; a bundle saves other kinds before than verifying does."""
    one = drawings.Drawing(EMPTY, NO_DATA)
    sheets: list[object] = []
    for module in (drawings, comparison):
        monkeypatch.setattr(module, "write_pgf", lambda draw, path: sheets.append(draw()) or "")
    drawings.write_figures([one], tmp_path)
    comparison.redrawn([one], ["figures/empty.pgf"])
    exported, verified = sheets
    assert one.sheet is one.sheet
    assert exported is not verified and one.sheet not in sheets
