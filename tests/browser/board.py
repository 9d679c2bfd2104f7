"""How a test reads and turns the dashboard: by the words that a user sees."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.browser.first_screen import faults

FIRST_SECONDS = 240
"""Until the first picture: a machine that has not run the engine yet compiles it meanwhile."""
MOVE_SECONDS = 120
"""Until a picture follows its slider, on a machine that is busy with other work; how fast it is when nothing else runs,
benchmarks/dashboard_latency.py measures."""


def _choose(names: Locator, value: str) -> None:
    """Choose a name from a drop-down, whose widget writes spaces that do not break; older browsers tell them apart."""
    names.select_option(label=value.replace(" ", "\N{NO-BREAK SPACE}"))


class Board:
    """The dashboard of a page, which draws on so many canvases."""

    def __init__(self, page: Page, canvases: int = 2) -> None:
        self.page, self.canvases = page, canvases

    def wait(self, seconds: float = FIRST_SECONDS) -> None:
        """Wait until every panel shows something."""
        expect(self.page.locator("canvas.wb-canvas[data-drawn]")).to_have_count(self.canvases, timeout=1000 * seconds)
        self.page.locator(".wb-table").wait_for(timeout=1000 * seconds)
        expect(self.status).to_contain_text("paired runs", timeout=1000 * seconds)
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('canvas.wb-canvas[data-drawn]')].every(c => c.dataset.drawn > 0)"
        )

    def check_first_screen(self) -> None:
        """Fail for what is too faint there, or lies on something else, in both sizes and schemes."""
        weak = faults(self.page)
        assert not weak, "\n".join(weak)

    def wait_for_all_runs(self) -> None:
        """Wait until no seed is left: what is shown before is of the first few."""
        expect(self.status).to_have_text(re.compile(r"^\d+ paired runs\.$"), timeout=1000 * MOVE_SECONDS)

    @property
    def status(self) -> Locator:
        """The sentence above the panels."""
        return self.page.locator(".wb-status").locator(".wb-fine, .wb-mistake")

    @property
    def mistake(self) -> Locator:
        """The sentence about a mistake of the whole page, which stands at its lever if that is seen."""
        return self.page.locator(".wb-mistake:not(.wb-refusal *)")

    def card(self, letter: str) -> Locator:
        """A lever's card on top of the page."""
        return self.page.locator(f'.wb-card:has(.wb-card-head b:text-is("{letter}"))')

    def turn_on(self, letter: str, whose: str) -> None:
        """Press *on* in a card that is folded because its lever counts on neither side."""
        card = self.card(letter)
        if "wb-card-off" in (card.get_attribute("class") or ""):
            card.locator(f".wb-card-{whose}").get_by_text("on", exact=True).click()
            expect(card).not_to_have_class(re.compile("wb-card-off"))

    def move_card(self, letter: str, whose: str, what: str, value: str) -> None:
        """Type a number into a card's side, as another chip, or over the first of several numbers."""
        side = self.card(letter).locator(f".wb-card-{whose}")
        typed = side.locator(".wb-number input" if what == "number" else ".wb-chips input")
        typed.first.fill(value)
        typed.first.press("Enter")

    def wait_for_result(self, sentence: str) -> None:
        """Wait until the histogram's headline says so."""
        expect(self.page.locator(".wb-result").first).to_contain_text(sentence, timeout=1000 * MOVE_SECONDS)

    def row(self, label: str) -> Locator:
        """The control with a label; of several, the first."""
        return self.page.locator(f'.wb-row:has(.wb-label:text-is("{label}"))').first

    def type(self, label: str, value: str) -> None:
        """Type a number into a control's box."""
        box = self.row(label).locator("input").last
        box.fill(value)
        box.press("Enter")

    def pick_other(self, slot: str, value: str) -> None:
        """Choose the other side's policy of a slot."""
        row = self.page.locator(f'.wb-slot > .wb-row:has(.wb-label:text-is("{slot}"))')
        _choose(row.locator(".wb-side-other select"), value)

    def hover_until(self, place: int, down: float, words: str) -> Locator:
        """Move the pointer over a canvas from the left until the line below says some words; return that line."""
        box = self.page.locator("canvas.wb-canvas").nth(place).bounding_box()
        assert box is not None
        says = self.page.locator(".wb-says").first
        for step in range(40):
            self.page.mouse.move(box["x"] + 100 + 12 * step, box["y"] + down)
            self.page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            if words in says.inner_text():
                break
        return says

    def open_sweep(self) -> None:
        """Press the heading of the sweep file."""
        self.page.get_by_text("This dashboard as a sweep file").first.click()

    def unfold(self, section: str) -> None:
        """Press the heading of a section."""
        self.page.locator(f'.wb-section:has-text("{section}")').click()

    def pick(self, label: str, value: str) -> None:
        """Choose from a control's drop-down."""
        _choose(self.row(label).locator("select"), value)

    def slide(self, label: str, key: str = "ArrowRight") -> None:
        """Move a control's slider by one stop with the keyboard."""
        self.row(label).locator(".noUi-handle").focus()
        self.page.keyboard.press(key)

    def cell(self, measure: str, column: int = 1) -> Locator:
        """A cell of the table of measures."""
        return self.page.locator(f'.wb-table tr:has(td:first-child:text("{measure}")) td').nth(column)

    def picture(self, place: int) -> str:
        """What a canvas shows, to be compared: 0 is the histogram, 1 the panels over time, then what there is more."""
        return str(self.page.locator("canvas.wb-canvas").nth(place).evaluate("canvas => canvas.toDataURL()"))

    def wait_for_another(self, place: int, picture: str) -> None:
        """Wait until a canvas shows something else."""
        changed = "([place, before]) => document.querySelectorAll('canvas.wb-canvas')[place].toDataURL() !== before"
        try:
            self.page.wait_for_function(changed, arg=[place, picture], timeout=1000 * MOVE_SECONDS)
        except TimeoutError:
            raise AssertionError(f"canvas {place} still shows what it did; {self.status.inner_text()}") from None
