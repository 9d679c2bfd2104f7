"""The palettes: what is drawn can be told from what it lies on, in the light and in the dark."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.palette import BAD_WORDS, DARK, GOOD_WORDS, LIGHT, contrast

GROUNDS = ("paper", "raised", "grid", "free")
"""What marks lie on, and lines that only help the eye."""
MARKS = [name for name in LIGHT.named() if name not in GROUNDS]
ON_FREE = [name for name in MARKS if not name.startswith("series")]
PACKAGE = Path(__file__).parents[1] / "workbench"
_COLOR = r"(?<=['\": ])#(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3,4})(?=['\";) }]|$)"
BOTH = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@BOTH
@pytest.mark.parametrize("name", MARKS)
def test_every_mark_stands_out_from_the_paper(palette, name):
    assert contrast(palette.named()[name], palette.paper) >= 3


@BOTH
@pytest.mark.parametrize("name", ["ink", "soft", "alarm"])
@pytest.mark.parametrize("ground", ["paper", "raised", "free"])
def test_text_can_be_read(palette, name, ground):
    assert contrast(palette.named()[name], palette.named()[ground]) >= 4.5


@BOTH
@pytest.mark.parametrize("words", [GOOD_WORDS, BAD_WORDS])
@pytest.mark.parametrize("ground", ["paper", "raised"])
def test_words_of_a_side_can_be_read(palette, words, ground):
    color, share = re.fullmatch(r"color-mix\(in srgb, #(\w{6}) (\d+)%, currentColor\)", words).groups()
    pairs = zip(bytes.fromhex(color), bytes.fromhex(palette.ink[1:]), strict=True)
    mixed = bytes(round((own * int(share) + text * (100 - int(share))) / 100) for own, text in pairs)
    assert contrast(f"#{mixed.hex()}", palette.named()[ground]) >= 4.5


@BOTH
@pytest.mark.parametrize("name", ON_FREE)
def test_what_memory_holds_stands_out_from_free_memory(palette, name):
    assert contrast(palette.named()[name], palette.free) >= 3


@BOTH
def test_free_memory_is_not_taken_for_paper(palette):
    assert contrast(palette.free, palette.paper) >= 1.15


@BOTH
@pytest.mark.parametrize(("ramp", "least"), [("sizes", 1.3), ("ages", 1.2)])
def test_the_steps_of_a_ramp_rise_and_can_be_told_apart(palette, ramp, least):
    steps = [contrast(color, palette.paper) for color in getattr(palette, ramp)]
    ratios = [after / before for before, after in pairwise(steps)]
    assert min(ratios) >= least or max(ratios) <= 1 / least, ratios


@BOTH
def test_kinds_that_follow_each_other_differ_in_lightness(palette):
    assert min(contrast(one, other) for one, other in pairwise(palette.kinds)) >= 1.2


def test_the_site_has_the_same_palettes():
    sheet = (PACKAGE.parent / "docs" / "static" / "site.css").read_text(encoding="utf-8")
    assert sheet.count(LIGHT.css()) == 1 and sheet.count(DARK.css()) == 2
    assert re.findall(_COLOR, sheet.replace(LIGHT.css(), "").replace(DARK.css(), "")) == ["#fff"]  # below pictures


def test_dashboards_and_figures_have_no_colors_of_their_own():
    rooms = ("dashboards", "figures", "advice/torch_memory")
    files = [path for room in rooms for path in (PACKAGE / room).rglob("*") if path.suffix in (".py", ".js", ".css")]
    assert len(files) > 100
    own = {path.name: re.findall(_COLOR, path.read_text(encoding="utf-8")) for path in files}
    assert {name: colors for name, colors in own.items() if colors} == {}


def test_a_color_of_its_own_is_found():
    assert re.findall(_COLOR, "fill='#8884'; color: #CCC; background: #0072B210") == ["#8884", "#CCC", "#0072B210"]
    assert re.findall(_COLOR, "issue #1234, `#rrggbb`, a/#498") == []


def test_the_dark_palette_is_not_the_light_one_inverted():
    def inverted(color: str) -> str:
        return f"#{0xFFFFFF - int(color[1:], 16):06x}"

    assert not set(map(inverted, LIGHT.named().values())) & set(DARK.named().values())
    assert LIGHT.named().keys() == DARK.named().keys()
