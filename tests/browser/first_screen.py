"""What a reader sees of a page at first: is every text and every mark strong enough, and does none lie on another?

Texts of canvases are written down as they are drawn, by a script that goes into the page before its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from workbench.palette import DARK, LIGHT

SIZES = ((1440, 900), (1024, 768))
SCHEMES = ("light", "dark")
TEXT, MARK = 4.5, 3.0
"""Contrasts that WCAG 2.2 asks for (1.4.3 and 1.4.11)."""
GROUNDS = [color for one in (LIGHT, DARK) for color in (one.paper, one.raised, one.free, one.grid)]
"""What marks lie on, and lines that only help the eye."""
LOOKS = 15
"""So often a page with a fault is looked at before the fault counts."""

_FOLDER = Path(__file__).parent
_WATCH, _SEEN = ((_FOLDER / f"first_screen_{part}.js").read_text() for part in ("watch", "seen"))


def watch(page: Page) -> None:
    """Write down what canvases draw, from the next address on."""
    page.add_init_script(_WATCH)


def faults(page: Page) -> list[str]:
    """Return the faint marks and the texts that lie on each other, in both sizes and schemes."""
    before = page.viewport_size
    result = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            result += [f"{width} x {height}, {scheme}: {fault}" for fault in _lasting_faults(page)]
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(before)
    return result


def _lasting_faults(page: Page) -> list[str]:
    """Return the faults of a page once it is drawn again; a slow one is given some time."""
    for _ in range(LOOKS):
        page.wait_for_timeout(200)
        result = _faults(page.evaluate(_SEEN, GROUNDS))
        if not result:
            break
    return result


def _faults(seen: dict[str, Any]) -> list[str]:
    texts = seen["texts"]
    faint = [f"{contrast(one['color'], one['ground']):.2f}:1 of {one['text']!r}" for one in texts if not _reads(one)]
    weak = [
        f"{contrast(mark[:3], mark[3:]):.2f}:1 of a mark {mark[:3]} on {mark[3:]}"
        for mark in seen["marks"]
        if contrast(mark[:3], mark[3:]) < MARK
    ]
    on = [
        f"{one['text']!r} lies on {other['text']!r}"
        for k, one in enumerate(texts)
        for other in texts[:k]
        if one["owner"] != other["owner"] and _collide(one, other)
    ]
    return [*dict.fromkeys([*faint, *weak, *on])]


def _collide(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two texts lie on each other; those of one slant are compared along it."""
    box = "turned" if abs(one["angle"] - other["angle"]) < 1e-6 else "box"
    return overlaps(one[box], other[box])


def _reads(text: dict[str, Any]) -> bool:
    return contrast(text["color"], text["ground"]) >= TEXT


def overlaps(one: list[float], other: list[float]) -> bool:
    """Return whether two boxes share more than a rim of 2 pixels.

    >>> overlaps([0, 0, 10, 10], [5, 5, 20, 20]), overlaps([0, 0, 10, 10], [9, 0, 20, 10])
    (True, False)
    """
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 2 and down > 2


def contrast(one: list[float], other: list[float]) -> float:
    """Return the contrast of two colors (WCAG 2.2).

    >>> round(contrast([0, 0, 0], [255, 255, 255]), 1)
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: list[float]) -> float:
    shares = (value / 255 for value in color)
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
