"""The colors of every picture: one palette for light paper and one for dark, for figures, dashboards and drawings.

The same name means the same thing in a PDF and on a page. A mark has a contrast of at least 3:1 against the
paper (WCAG 2.2, 1.4.11), and text of at least 4.5:1. Areas also have 3:1 against free memory, on which they lie. The
dark palette has colors of its own: an inverted one would lose the hues that carry the meaning.
"""

from __future__ import annotations

from typing import NamedTuple


class Palette(NamedTuple):
    """Colors by their meaning, as `#rrggbb`."""

    paper: str
    """What everything lies on."""
    raised: str
    """The ground of a card or an alert on the paper."""
    grid: str
    """Lines that only help the eye; no mark."""
    ink: str
    """Text, outlines, and the baseline."""
    soft: str
    """Small print."""
    quiet: str
    """Marks that stay in the background: steps between points, trials that are no result."""
    better: str
    worse: str
    chosen: str
    """What a person has picked."""
    alarm: str
    """The text of a mistake."""
    taken: str
    """What is in use and is not told apart further."""
    free: str
    """The ground of free memory and of idle slots: another hue than that of what lies on it."""
    cached: str
    """Memory that is kept for later requests."""
    series: tuple[str, ...]
    """Lines, the baseline first, then the other side."""
    kinds: tuple[str, ...]
    """Areas of different kinds, such as priorities: neighbors differ in lightness too."""
    sizes: tuple[str, ...]
    """Areas from small to large, in one hue."""
    ages: tuple[str, ...]
    """Areas from young to old."""

    def named(self) -> dict[str, str]:
        """Return every color by its name; one of several has its place behind the name.

        >>> LIGHT.named()["paper"], LIGHT.named()["series0"]
        ('#ffffff', '#222222')
        """
        several = ("series", "kinds", "sizes", "ages")
        one = {name: color for name, color in self._asdict().items() if name not in several}
        return one | {f"{name}{k}": color for name in several for k, color in enumerate(getattr(self, name))}

    def css(self) -> str:
        """Return every color as a CSS variable, `--wb-ink` and so on."""
        return " ".join(f"--wb-{name}: {color};" for name, color in self.named().items())


LIGHT = Palette(
    paper="#ffffff",
    raised="#f4f5f7",
    grid="#dddddd",
    ink="#222222",
    soft="#5a6068",
    quiet="#767676",
    better="#0072b2",
    worse="#c8501e",
    chosen="#c8501e",
    alarm="#9b1c14",
    taken="#767e87",
    free="#fbe9be",
    cached="#8a8060",
    series=("#222222", "#d55e00", "#0072b2", "#a67c00", "#008f69", "#b5588f", "#2b93c9"),
    kinds=("#c8501e", "#23394a", "#2a86c4", "#7a3b8f", "#9a7400", "#0a5c8c", "#478f36", "#7f2a3c", "#c2649a"),
    sizes=("#3e87ce", "#236fb4", "#00589b", "#004080", "#002665"),
    ages=("#8e8625", "#447d36", "#016a5d", "#095076", "#2c317f", "#400e52"),
)

DARK = Palette(
    paper="#15181d",
    raised="#22262d",
    grid="#363c45",
    ink="#e8eaed",
    soft="#b4bac3",
    quiet="#949ca6",
    better="#5ab0f0",
    worse="#ff9a5c",
    chosen="#ff9a5c",
    alarm="#ffa39b",
    taken="#8d959f",
    free="#3b3118",
    cached="#a39a78",
    series=("#e8eaed", "#ff8a3d", "#4c9eeb", "#e6b422", "#3cc79a", "#e58cc0", "#a5ddff"),
    kinds=("#f08a4b", "#cfe0f0", "#3f97e0", "#d3b4f0", "#b8922e", "#8fd8f8", "#5daa4b", "#f5b3be", "#c76fa8"),
    sizes=("#3982c9", "#539ce4", "#74b5f8", "#a2d0ff", "#d1ebff"),
    ages=("#f6ef8d", "#a5e282", "#57ceaa", "#53afd1", "#708fd5", "#946bbf"),
)


def luminance(color: str) -> float:
    """Return the relative luminance of a color, from 0 (black) to 1 (white), as WCAG defines it.

    >>> luminance("#ffffff"), luminance("#000000")
    (1.0, 0.0)
    """
    red, green, blue = (_linear(int(color[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return round(0.2126 * red + 0.7152 * green + 0.0722 * blue, 12)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


GOOD_WORDS = "color-mix(in srgb, #2e8b57 65%, currentColor)"
BAD_WORDS = "color-mix(in srgb, #d0453a 65%, currentColor)"
"""Colors of words in HTML whose ground is not known: the text around them makes each darker or lighter."""


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors, from 1 (alike) to 21 (black on white), as WCAG defines it.

    >>> contrast("#000000", "#ffffff"), round(contrast("#56b4e9", "#ffffff"), 2)
    (21.0, 2.31)
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def on_top_of(fill: str) -> str:
    """Return the color of text on an area: dark or light, whichever has more contrast.

    >>> on_top_of("#fbe9be"), on_top_of("#002665")
    ('#222222', '#ffffff')
    """
    return max((LIGHT.ink, LIGHT.paper), key=lambda color: contrast(color, fill))


def css(name: str) -> str:
    """Return a color of the palette as CSS writes it.

    >>> css("ink")
    'var(--wb-ink)'
    """
    return f"var(--wb-{name})"


def notebook_css() -> str:
    """Return the palettes as CSS variables for a notebook: dark if its JupyterLab is."""
    dark = ':root:has(body[data-jp-theme-light="false"]):not(:has(.wb-page))'
    return f":root {{ {LIGHT.css()} }}\n{dark} {{ {DARK.css()} }}\n"


def page_css(page: str = "") -> str:
    """Return the palettes as CSS variables for a page of its own: dark if the system is.

    `page` narrows the dark one to pages that match it, such as `:has(.wb-page)`.
    """
    return f":root {{ {LIGHT.css()} }}\n@media (prefers-color-scheme: dark) {{ :root{page} {{ {DARK.css()} }} }}\n"
