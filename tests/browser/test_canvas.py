"""What every panel on a canvas shares, in a page without a kernel: when it is drawn, and as what it is saved."""

from __future__ import annotations

import re

import pytest

from workbench.dashboards._canvas import script
from workbench.palette import DARK, LIGHT

_MODEL = """
const listeners = [];
const off = (_, heard) => listeners.splice(listeners.indexOf(heard), 1);
const model = { on: (_, heard) => listeners.push(heard), off };
const place = document.body.appendChild(document.createElement("div"));
let drawings = 0;
const redraw = atNextFrame(() => { drawings += 1; });
const frame = () => new Promise(requestAnimationFrame);
const frames = async (count) => { while (count--) await frame(); };
"""
_SHEET = """
const sheet = new Sheet(place);
place.style.width = "400px";
sheet.canvas.style.width = "100%";
const picture = () => {
  sheet.begin(200);
  sheet.upward(10, 120, 8, "cycles (of 8)");
  sheet.along(130, [-4, 4], "difference \\u2212 less is better");
  sheet.within(10, 120, () => {
    sheet.ink.fillStyle = "rgba(232, 89, 12, 0.5)";
    sheet.ink.beginPath();
    sheet.ink.arc(200, 60, 20, 0, 2 * Math.PI);
    sheet.ink.fill();
  });
  sheet.words("bold", 100, 20, { bold: true });
};
"""


@pytest.fixture
def ran(visit):
    """What a piece of JavaScript returns behind the words that all panels share."""
    visit.page.set_content("<body></body>")

    def run(piece):
        return visit.page.evaluate(f"async () => {{ {script()} {_MODEL} {piece} }}")

    return run


def test_a_panel_is_drawn_once_it_has_a_place_without_any_news(ran):
    assert ran("keepDrawn(model, place, redraw); await frames(4); return drawings;") >= 1


def test_a_panel_that_was_hidden_is_drawn_when_it_is_displayed(ran):
    piece = """
    place.style.display = "none"; place.style.height = "20px";
    keepDrawn(model, place, redraw); await frames(4);
    const before = drawings;
    place.style.display = "block"; await frames(4);
    return drawings - before;"""
    assert ran(piece) >= 1


def test_each_scene_is_drawn_and_many_at_once_are_drawn_once(ran):
    piece = """
    keepDrawn(model, place, redraw); await frames(4);
    const before = drawings;
    for (let k = 0; k < 5; k++) listeners.forEach((heard) => heard());
    await frames(4);
    return drawings - before;"""
    assert ran(piece) == 1


def test_what_was_called_off_can_be_called_again(ran):
    assert ran("redraw(); redraw.cancel(); await frames(3); redraw(); await frames(3); return drawings;") == 1


def test_a_panel_that_has_ended_is_drawn_no_more(ran):
    piece = """
    const end = keepDrawn(model, place, redraw); await frames(4);
    const before = drawings;
    redraw(); end(); place.style.width = "50px"; await frames(4);
    return [drawings - before, listeners.length];"""
    assert ran(piece) == [0, 0]


def test_a_pdf_has_the_picture_as_lines_and_letters(ran):
    data = bytes(ran(f"{_SHEET} return [...sheet.written(picture, new PdfInk(sheet.ink))];"))
    assert b"(cycles \\(of 8\\)) Tj" in data
    assert b"(difference - less is better) Tj" in data
    assert b"/ca 0.5" in data
    assert data.count(b"\nq\n") == data.count(b"\nQ\n") > 0


def test_a_pdf_says_where_each_of_its_objects_begins(ran):
    data = bytes(ran(f"{_SHEET} return [...sheet.written(picture, new PdfInk(sheet.ink))];"))
    table = int(re.search(rb"startxref\n(\d+)", data)[1])
    assert data[table:].startswith(b"xref\n0 5\n")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", data), 1):
        assert data[int(place) :].startswith(b"%d 0 obj" % number)
    length, content = re.search(rb"/Length (\d+) >>\nstream\n(.*?)endstream", data, re.DOTALL).groups()
    assert len(content) == int(length)


def test_a_drawing_for_a_file_leaves_the_sheet_as_it_was(ran):
    piece = """
    picture(); const before = sheet.canvas.toDataURL(), ink = sheet.ink;
    sheet.written(picture, new PdfInk(sheet.ink)); sheet.written(picture, new SvgInk(sheet.ink));
    return [before === sheet.canvas.toDataURL(), ink === sheet.ink];"""
    assert ran(_SHEET + piece) == [True, True]


_LABELS = """
const labelled = (labels, width, areNames) => {
  place.style.width = `${width}px`;
  const draw = () => {
    sheet.begin(200);
    const x = (k) => LEFT + (k + 0.5) * ((sheet.right - LEFT) / labels.length);
    sheet.axisLabels(labels.map((text, k) => [text, k]), x, 100, areNames);
  };
  draw();
  return sheet.written(draw, new SvgInk(sheet.ink));
};
const names = ["cached", "from the driver", "borrowed by a card", "not granted"];
const amounts = [...Array(12).keys()].map((k) => `${k},000,000`);
"""


@pytest.mark.parametrize(("width", "turned"), [(420, 4), (1400, 0)])
def test_names_below_an_axis_are_turned_where_they_would_collide(ran, width, turned):
    svg = ran(f"{_SHEET} {_LABELS} return labelled(names, {width}, true);")
    assert svg.count("rotate(") == turned and svg.count("<text") == 4


@pytest.mark.parametrize(("width", "kept"), [(420, 4), (1400, 12)])
def test_numbers_below_an_axis_are_left_out_where_they_would_collide(ran, width, kept):
    svg = ran(f"{_SHEET} {_LABELS} return labelled(amounts, {width}, false);")
    assert "rotate(" not in svg and abs(svg.count("<text") - kept) <= 1


def test_a_dark_page_has_the_dark_palette_and_saves_light_pictures(ran, visit):
    visit.page.emulate_media(color_scheme="dark")
    piece = """
    sheet.begin(20); const inNotebook = TONES.paper;
    document.body.className = "wb-page"; sheet.begin(20); const onPage = TONES.paper;
    document.body.className = ""; document.body.dataset.jpThemeLight = "false"; sheet.begin(20);
    const inDarkLab = TONES.paper, draw = () => { sheet.begin(20); sheet.words("ink", 9, 9); };
    return [inNotebook, onPage, inDarkLab, sheet.written(draw, new SvgInk(sheet.ink))];
    """
    in_notebook, on_page, in_dark_lab, svg = ran(f"{_SHEET} {piece}")
    assert (in_notebook, on_page, in_dark_lab) == (LIGHT.paper, DARK.paper, DARK.paper)
    assert LIGHT.ink in svg and DARK.ink not in svg


def test_a_page_that_turns_dark_is_drawn_again(ran, visit):
    ran(
        "keepDrawn(model, place, redraw); await frames(4); const before = drawings;"
        "window.again = async () => { await frames(4); return drawings - before; };"
    )
    visit.page.emulate_media(color_scheme="dark")
    assert visit.page.evaluate("window.again()") >= 1
