"""How soon a dashboard follows a slider: from the key press in a real browser to the last panel that shows it.

Run as `python -m benchmarks.dashboard_latency`; it needs Chromium. The work of a move is 20 paired runs of 1,000
workgroups under two policies (40 runs) in the dashboard `shared_memory`, 8 paired runs of 1,000 groups on 8 modules (16
runs) in the dashboard `dispatch`, with all measures, statistics and every picture. The bar is 150 ms a move,
200 ms until the first picture of a move on a card.
These are seconds of a wall clock, because a person waits for them; only the runs are in processor time.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.turns import spent
from tests.browser.board import Board
from tests.browser.conftest import FLAGS, chromium
from tests.browser.server import served
from workbench.dashboards.paired_runs import PairedRuns

MOVES = 25
CARD_MOVES = 6
NAME = "dashboard_latency"


class Subject(NamedTuple):
    """A dashboard, and what is turned in it."""

    name: str
    canvases: tuple[str, ...]
    """From top to bottom."""
    slider: str
    typed: Mapping[str, str]
    """What is typed before anything is measured, by label."""
    seeds: int
    said: Mapping[str, Any]
    """The sweep of a move, for the runs without a browser."""
    cards: Mapping[str, tuple[str, tuple[str, ...]]] = {}
    """Levers on cards by their letters: what of the card takes the keys, and the keys that move it there and back."""


SUBJECTS = (
    Subject(
        "shared_memory",
        ("histogram", "time"),
        "segments",
        {"count (workgroups)": "1000"},
        20,
        {
            "engine": "shared_memory",
            "workload": {"regime": "large_uniform", "count": 1000},
            "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
            "baseline": {"placement": "first_fit"},
            "seeds": 20,
        },
    ),
    Subject(
        "dispatch",
        ("histogram", "time", "waits", "units", "power"),
        "compute units",
        {},
        8,
        {
            "engine": "dispatch",
            "machine": {"preset": "patent_dispatch", "compute_units": 8},
            "workload": {"regime": "head_of_line", "count": 1000},
            "policy": {
                "priority": "priority_windows",
                "selection": {"vary": ["strict_blocking", "served_marks"]},
                "stuck": "split_when_stuck",
                "choice": "weighted_choice",
            },
            "baseline": {"selection": "strict_blocking"},
            "options": {"power": "class_power"},
            "seeds": 8,
        },
        {
            **dict.fromkeys(("N", "G", "nx"), (".noUi-handle", ("ArrowRight", "ArrowLeft"))),
            **dict.fromkeys(("M", "Z"), (".noUi-handle", ("ArrowLeft", "ArrowRight"))),
            "k": (".wb-chips input", ("5", "7", "9", "10", "11", "13")),
            "t": (".wb-chips input", ("ArrowUp", "ArrowDown")),
        },
    ),
)

_CLOCK = """(canvases) => {
  const seen = window.seen = { key: 0, shown: {}, pictures: 0 };
  const tell = (panel) => () => { seen.shown[panel] = performance.now() - seen.key; seen.pictures += 1; };
  document.addEventListener("keydown", () => { seen.key = performance.now(); seen.shown = {}; }, true);
  const watch = (panel, node, what) => new MutationObserver(tell(panel)).observe(node, what);
  document.querySelectorAll("canvas.wb-canvas").forEach((canvas, place) => {
    watch(canvases[place], canvas, { attributes: true, attributeFilter: ["data-drawn"] });
  });
  watch("table", document.querySelector(".wb-table").closest(".widget-html"), { childList: true, subtree: true });
}"""


def dashboard_latency() -> list[dict[str, Any]]:
    """Of each dashboard: moves by key, a drag by mouse, and the runs alone without a browser."""
    return [figure for subject in SUBJECTS for figure in _latency(subject)]


def _latency(subject: Subject) -> list[dict[str, Any]]:
    with _page(subject.name) as page:
        board = Board(page, len(subject.canvases))
        board.wait()
        for label, value in subject.typed.items():
            board.type(label, value)
        page.wait_for_timeout(1500)
        page.evaluate(_CLOCK, subject.canvases)
        moves = [_move(board, subject, "ArrowRight" if k % 2 else "ArrowLeft") for k in range(MOVES)]
        drag = _drag(board, subject)
        cards = [_of_card(board, subject, letter) for letter in subject.cards]
    return [*_of_moves(subject, moves), drag, *cards, _runs_alone(subject)]


@contextmanager
def _page(name: str) -> Iterator[Page]:
    with (
        tempfile.TemporaryDirectory() as folder,
        served(name, Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1400, "height": 1200})
        page.goto(address, timeout=240_000)
        yield page
        browser.close()


def _move(board: Board, subject: Subject, key: str) -> dict[str, float]:
    """One press of an arrow key on a slider: milliseconds until each panel showed it."""
    board.slide(subject.slider, key)
    return _until_shown(board, subject)


def _of_card(board: Board, subject: Subject, letter: str) -> dict[str, Any]:
    """Some moves of a card's last side: milliseconds until the first panel showed each."""
    place, keys = subject.cards[letter]
    first = []
    for key in keys * (CARD_MOVES // len(keys)):
        board.card(letter).locator(".wb-card-side").last.locator(place).first.focus()
        if key.isdigit():
            board.page.keyboard.type(key)
        board.page.keyboard.press("Enter" if key.isdigit() else key)
        first.append(min(_until_shown(board, subject).values()))
    return _row(f"{subject.name}, card {letter} to first picture", first)


def _until_shown(board: Board, subject: Subject) -> dict[str, float]:
    board.page.wait_for_function(f"() => Object.keys(window.seen.shown).length === {len(subject.canvases) + 1}")
    displayed = dict(board.page.evaluate("window.seen.shown"))
    expect(board.status).to_have_text(f"{subject.seeds} paired runs.", timeout=10_000)
    board.page.wait_for_timeout(350)  # what is left to do after a coarse picture would count for the next move
    return displayed


def _of_moves(subject: Subject, moves: list[dict[str, float]]) -> Iterator[dict[str, Any]]:
    assert len(moves) == MOVES
    for panel in (*subject.canvases, "table"):
        yield _row(f"{subject.name}, key to {panel}", [move[panel] for move in moves])
    yield _row(f"{subject.name}, key to all panels", [max(move.values()) for move in moves])


def _result(message: str, items: int, unit: str, seconds: float) -> dict[str, Any]:
    return {"name": NAME, "variant": message, "items": items, "unit": unit, "seconds": seconds}


def _row(variant: str, milliseconds: list[float]) -> dict[str, Any]:
    ordered = sorted(milliseconds)
    p90 = ordered[round(0.9 * (len(ordered) - 1))]
    message = f"{variant}: p50 {median(ordered):.0f}, p90 {p90:.0f}, most {ordered[-1]:.0f} ms"
    return _result(message, 1, "moves", median(ordered) / 1000)


def _drag(board: Board, subject: Subject) -> dict[str, Any]:
    """Sixty steps of the mouse in a second: how many pictures came, and how long after the release the last one."""
    handle = board.row(subject.slider).locator(".noUi-handle")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    board.page.mouse.move(x, y)
    board.page.mouse.down()
    board.page.evaluate("window.seen.pictures = 0")
    began = time.perf_counter()
    for step in range(60):
        board.page.mouse.move(x + 40 * (step % 30) / 30, y)
        board.page.wait_for_timeout(16)
    board.page.evaluate("window.seen.key = performance.now()")
    board.page.mouse.up()
    seconds = time.perf_counter() - began
    board.page.wait_for_timeout(1500)
    pictures, displayed = board.page.evaluate("[window.seen.pictures, window.seen.shown]")
    lag = max(0.0, *displayed.values())
    message = f"{subject.name}, drag of 60 steps: {pictures} pictures, the last {lag:.0f} ms after the release"
    return _result(message, pictures, "pictures", seconds)


def _runs_alone(subject: Subject) -> dict[str, Any]:
    def runs() -> None:
        assert len(PairedRuns(subject.said).advance(60).rows) == 2 * subject.seeds

    runs()
    message = f"{subject.name}, the runs of a move, no browser"
    return _result(message, 2 * subject.seeds, "runs", min(spent(runs) for _ in range(10)))


if __name__ == "__main__":
    for figure in dashboard_latency():
        print(json.dumps(figure))
