"""How soon the dashboard follows a slider: from the key press in a real browser to the last panel that shows it.

Run as `python -m benchmarks.dashboard_latency`; it needs Chromium. The work of a move is 20 paired runs of 1,000
workgroups under two policies (40 runs), all measures, statistics, the layout of two runs and every picture. The bar is
150 ms a move.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.row import fastest, row
from tests.browser.board import Board
from tests.browser.conftest import FLAGS, chromium
from tests.browser.server import free_port, running
from workbench.dashboards.paired_runs import PairedRuns

MOVES = 25
WORKGROUPS = 1000
SEEDS = 20
NAME = "dashboard_latency"

_CLOCK = """() => {
  const seen = window.seen = { key: 0, shown: {}, pictures: 0 };
  const tell = (panel) => () => { seen.shown[panel] = performance.now() - seen.key; seen.pictures += 1; };
  document.addEventListener("keydown", () => { seen.key = performance.now(); seen.shown = {}; }, true);
  const watch = (panel, node, what) => new MutationObserver(tell(panel)).observe(node, what);
  const [histogram, time] = document.querySelectorAll("canvas.wb-canvas"), table = document.querySelector(".wb-table");
  watch("histogram", histogram, { attributes: true, attributeFilter: ["data-drawn"] });
  watch("time", time, { attributes: true, attributeFilter: ["data-drawn"] });
  watch("table", table.closest(".widget-html"), { childList: true, subtree: true });
}"""


def dashboard_latency() -> list[dict[str, Any]]:
    """Moves by key, a drag by mouse, and the runs alone without a browser."""
    with _page() as page:
        board = Board(page)
        board.wait()
        board.type("count (workgroups)", str(WORKGROUPS))
        page.wait_for_timeout(1500)
        page.evaluate(_CLOCK)
        moves = [_move(board, "ArrowRight" if k % 2 else "ArrowLeft") for k in range(MOVES)]
        drag = _drag(board)
    return [*_of_moves(moves), drag, _runs_alone()]


@contextmanager
def _page() -> Iterator[Page]:
    port = free_port()
    command = ["workbench", "dashboard", f"--port={port}", "--no-browser"]
    with (
        tempfile.TemporaryDirectory() as folder,
        running(command, port, "/voila/static/favicon.ico", Path(folder), {}) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1400, "height": 1200})
        page.goto(address, timeout=240_000)
        yield page
        browser.close()


def _move(board: Board, key: str) -> dict[str, float]:
    """One press of an arrow key on the slider of the segments: milliseconds until each panel showed it."""
    board.slide("segments", key)
    board.page.wait_for_function("() => Object.keys(window.seen.shown).length === 3")
    board.page.wait_for_timeout(350)  # what is left to do after a coarse picture would count for the next move
    assert board.status.inner_text() == f"{SEEDS} paired runs."
    return dict(board.page.evaluate("window.seen.shown"))


def _of_moves(moves: list[dict[str, float]]) -> Iterator[dict[str, Any]]:
    assert len(moves) == MOVES
    for panel in ("time", "histogram", "table"):
        yield _row(f"key to {panel}", [move[panel] for move in moves])
    yield _row("key to all panels", [max(move.values()) for move in moves])


def _row(variant: str, milliseconds: list[float]) -> dict[str, Any]:
    ordered = sorted(milliseconds)
    p90 = ordered[round(0.9 * (len(ordered) - 1))]
    said = f"{variant}: p50 {median(ordered):.0f}, p90 {p90:.0f}, most {ordered[-1]:.0f} ms"
    return row(NAME, said, 1, "moves", median(ordered) / 1000)


def _drag(board: Board) -> dict[str, Any]:
    """Sixty steps of the mouse in a second: how many pictures came, and how long after the release the last one."""
    handle = board.row("segments").locator(".noUi-handle")
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
    pictures, shown = board.page.evaluate("[window.seen.pictures, window.seen.shown]")
    lag = max(0.0, *shown.values())
    said = f"drag of 60 steps: {pictures} pictures, the last {lag:.0f} ms after the release"
    return row(NAME, said, pictures, "pictures", seconds)


def _runs_alone() -> dict[str, Any]:
    said = {
        "engine": "shared_memory",
        "workload": {"regime": "large_uniform", "count": WORKGROUPS},
        "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
        "baseline": {"placement": "first_fit"},
        "seeds": SEEDS,
    }

    def runs() -> None:
        assert len(PairedRuns(said).advance(60).rows) == 2 * SEEDS

    runs()
    return row(NAME, "the runs of a move, no browser", 2 * SEEDS, "runs", fastest(runs, 10))


if __name__ == "__main__":
    for figure in dashboard_latency():
        print(json.dumps(figure))
