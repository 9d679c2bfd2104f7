"""One touch of one page under way, and where its time goes (spec 6, R18)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.node.calendar import Key
from tests.oracles.node.pages import Page


@dataclass
class Trail:
    """Kinds of time one after the other; each lasts until the next begins."""

    marks: list[tuple[int, str]] = field(default_factory=list)

    def mark(self, cycle: int, kind: str) -> None:
        """Begin a kind of time."""
        self.marks.append((cycle, kind))

    def spans(self, begin: int, end: int) -> list[tuple[int, int, str]]:
        """Return the kinds of time between two cycles as (begin, end, kind)."""
        ends = [cycle for cycle, _ in self.marks[1:]] + [end]
        clipped = [(max(at, begin), min(until, end), kind) for (at, kind), until in zip(self.marks, ends)]
        return [span for span in clipped if span[1] > span[0]]


@dataclass(eq=False)
class Access:
    """A request to translate a page for a core."""

    page: Page
    core: int
    key: Key
    gone_on: Callable[[], None]  # called when the core issues the access
    answered: Callable[[str], None]  # called with who served it
    serial: int = -1
    requested_at: int = -1
    looked_at: int | None = None  # cycle of its first look-up
    issued_at: int = -1  # hit, joined, or took a register
    answered_at: int = -1
    miss: Miss | None = None  # whose answer it waits for
    unmapped: int = 0  # while it waited for a register: the first unmapping of its page, by number
    remote: bool = False  # its data came over a link

    def spans(self) -> list[tuple[int, int, str]]:
        """Return where the time from issue to answer went."""
        if self.miss is None:
            return [(self.issued_at, self.answered_at, "translation")]
        own = self.miss.trail.spans(self.issued_at, self.miss.answered_at)
        return [*own, (self.miss.answered_at, self.answered_at, "translation")]


@dataclass(eq=False)
class Miss:
    """A page that a core waits for; it holds a register."""

    page: Page
    core: int
    serial: int
    waiting: list[Access] = field(default_factory=list)
    trail: Trail = field(default_factory=Trail)
    answered_at: int = -1
    unmapped: int = 0  # the first unmapping of its page since it was looked up, by number
    directed: bool = False  # a directory was asked
    tries: list[int] = field(default_factory=list)  # peers still to ask


@dataclass(eq=False)
class Walk:
    """A walk of a page's entry, that waits or is under way, and the misses that wait for it."""

    page: Page
    serial: int
    core: int
    key: Key
    misses: list[Miss] = field(default_factory=list)
    unmapped: int = 0  # as its misses
    stage: str = "walkers"  # what those that wait for it wait for now
