"""The paper: one style everywhere, none of it left behind, and a figure that shows itself in a cell."""

from __future__ import annotations

import functools
import io
import threading

import matplotlib
import pytest
from IPython.core.formatters import DisplayFormatter

from tests.figures.stand_ins import record, runs
from workbench.figures import figure, plot_style
from workbench.figures.marks import line_look
from workbench.palette import LIGHT


@functools.cache
def compared():
    """Two policies, measured when a test first wants them: a file is collected by every worker."""
    return runs({"first_fit": [record([(0, 0, 4, 0, 4), (0, 1, 3, 4, 4)])], "best_fit": [record([(0, 0, 7, 0, 8)])]})


def image(drawn) -> bytes:
    written = io.BytesIO()
    drawn.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


def drawn_now():
    recipe = figure("free_over_time")
    return recipe.draw(recipe.data(compared()))


def test_settings_outside_neither_show_nor_change():
    plain = image(drawn_now())
    with matplotlib.rc_context(
        {"font.size": 20, "axes.facecolor": "black", "font.family": "serif", "lines.linewidth": 9}
    ):
        before = dict(matplotlib.rcParams)
        drawn = drawn_now()
        assert image(drawn) == plain
        assert dict(matplotlib.rcParams) == before
    assert image(drawn) == plain


@pytest.mark.slow
def test_drawing_in_threads_gives_the_same_picture():
    plain, results = image(drawn_now()), []
    before = dict(matplotlib.rcParams)
    threads = [threading.Thread(target=lambda: results.append(image(drawn_now()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [plain] * 4
    assert dict(matplotlib.rcParams) == before


def test_a_cell_shows_it():
    displayed, metadata = DisplayFormatter().format(drawn_now())
    assert displayed["image/png"].startswith(b"\x89PNG")
    assert metadata["image/png"]["width"] == round(plot_style.WIDTH * 150)


def test_it_is_one_column_wide_and_nothing_is_cut_off():
    drawn = drawn_now()
    drawn.draw_without_rendering()
    assert drawn.get_figwidth() == plot_style.WIDTH
    sheet = drawn.bbox
    for box in (drawn.legends[0].get_window_extent(), drawn.axes[0].get_tightbbox()):
        assert sheet.x0 <= box.x0 and box.x1 <= sheet.x1 and sheet.y0 <= box.y0 and box.y1 <= sheet.y1


def test_letters_are_small_but_not_tiny():
    drawn = drawn_now()
    sizes = {text.get_fontsize() for text in drawn.findobj(matplotlib.text.Text) if text.get_text()}
    assert sizes == {plot_style.SIZE, plot_style.SMALL} and min(sizes) >= 6


def test_no_two_lines_look_alike():
    looks = [(line_look(k)["color"], line_look(k)["marker"]) for k in range(63)]
    assert len(set(looks)) == 63
    assert [line_look(k)["color"] for k in range(7)] == list(LIGHT.series)


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
def test_first_lines_differ_in_marker_too(pair):
    one, other = (line_look(k) for k in pair)
    assert one["marker"] != other["marker"]
