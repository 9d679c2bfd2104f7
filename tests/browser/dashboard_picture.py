"""README's picture of a dashboard, taken in a browser: `python -m tests.browser.dashboard_picture`, in `make pictures`.

The picture holds the words of the page. A test compares them with the page of now.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import Page, sync_playwright

from tests.browser.board import Board
from tests.browser.conftest import FLAGS, chromium
from tests.browser.server import served

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "dashboard.png"
SIZE = {"width": 1280, "height": 800}
COLORS = 128


def words_of(page: Page, address: str) -> str:
    """Return the words of a dashboard whose runs are all done."""
    page.goto(address)
    board = Board(page)
    board.wait()
    board.wait_for_all_runs()
    return page.locator("body").inner_text()


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        served("shared_memory", Path(folder)) as url,
        sync_playwright() as tools,
    ):
        browser = tools.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        words = words_of(page, url)
        page.screenshot(path=PICTURE)
        browser.close()
    marks = PngImagePlugin.PngInfo()
    marks.add_itxt("Description", words)
    with Image.open(PICTURE) as taken:
        taken.convert("RGB").quantize(COLORS).save(PICTURE, pnginfo=marks, optimize=True)
    print(PICTURE)


if __name__ == "__main__":
    main()
