"""The words of the workbench in one picture: from a sweep over runs to a verdict."""

from __future__ import annotations

from workbench.docs.drawings._svg import Svg

WIDTH, BOX, GAP = 150.0, 46.0, 34.0


def concepts() -> str:
    """Return the way of a question: a sweep, its points and seeds, a run, its row, the pairs, what comes of them."""
    columns = (
        ("a sweep", ("engine", "machine", "workload", "policies"), "owner0"),
        ("points x seeds", ("point 1, seed 0", "point 1, seed 1", "point 2, seed 0", "point 2, seed 1"), "owner1"),
        ("runs", ("engine asks:", "where? who? when?", "policy answers", "record of arrays"), "owner2"),
        ("rows", ("measures", "seed", "status", "origin"), "owner3"),
        ("pairs", ("same seed,", "two policies:", "size, direction,", "verdict"), "owner4"),
    )
    width = len(columns) * (WIDTH + GAP) - GAP + 16
    picture = Svg("From a sweep over runs and rows to a verdict, a figure and a paper", width, 310)
    for number, (title, lines, kind) in enumerate(columns):
        x = 8 + number * (WIDTH + GAP)
        picture.words(x + WIDTH / 2, 22, title, "label", "middle")
        for row, line in enumerate(lines):
            y = 34 + row * (BOX + 6)
            picture.box(x, y, WIDTH, BOX, kind)
            picture.words(x + WIDTH / 2, y + BOX / 2 + 5, line, "inside", "middle")
        if number + 1 < len(columns):
            _arrow(picture, x + WIDTH + 5, 34 + 2 * (BOX + 6) - 3, GAP - 10)
    _ends(picture, width)
    return picture.text()


def _ends(picture: Svg, width: float) -> None:
    """Draw what can be made of pairs: a table, a figure, a study, a bundle for a paper."""
    y = 34 + 4 * (BOX + 6) + 10
    ends = ("table", "figure", "tuning study", "map of losses", "bundle for a paper")
    each = (width - 16 - 4 * 8) / len(ends)
    for number, words in enumerate(ends):
        x = 8 + number * (each + 8)
        picture.box(x, y, each, 40, "free")
        picture.words(x + each / 2, y + 25, words, "label", "middle")


def _arrow(picture: Svg, x: float, y: float, length: float) -> None:
    picture.line(x, y, x + length, y, "link", stroke_width=2)
    picture.line(x + length - 6, y - 5, x + length, y, "link", stroke_width=2)
    picture.line(x + length - 6, y + 5, x + length, y, "link", stroke_width=2)
