"""One run from its first row to its last: stretches of the loop, and what must happen between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.translation.broken import broken
from workbench.engines.translation.closed_loop import play_warps
from workbench.engines.translation.counters import COUNT, STATUS
from workbench.engines.translation.growing import with_pages, with_room
from workbench.engines.translation.open_loop import play_in_order
from workbench.engines.translation.prepare import new_state, policies_of, rules_of, with_shortcuts
from workbench.engines.translation.sampling import last_sample
from workbench.engines.translation.shape import Policies, Rows, Rules
from workbench.engines.translation.state import Run, State
from workbench.engines.translation.trace import PIECE, Trace, left_over, no_rows, together
from workbench.records.translation_events import ACCESS, COLUMNS
from workbench.streams import Streams


class Play:
    """The state of one run, and its trace."""

    def __init__(
        self, setup: Setup, streams: Streams, events: bool = False, checked: bool = False, part: bool = False
    ) -> None:
        self.setup, self.trace = setup, Trace(setup, streams)
        self.rules: Rules = rules_of(setup, events)
        if part:
            self.rules = self.rules._replace(keeps_answers=1, warps=0, gap_cycles=0)
        self.policies: Policies = policies_of(setup, self.rules, streams, checked)
        self.rules = with_shortcuts(self.rules, setup)
        self.state: State = new_state(self.rules, self.policies.plan)
        self.logs: list[np.ndarray] = []
        self._make_room()

    @classmethod
    def part(cls, setup: Setup, seed: int) -> Play:
        """Return the state of a hierarchy whose accesses somebody else asks for, one by one."""
        return cls(setup, Streams(seed), part=True)

    def to_the_end(self) -> None:
        """Serve every row.

        Raises
        ------
        PolicyError
            A policy raised, or gave an answer that its question does not allow.
        """
        if self.rules.warps:
            self._as_warps_are_free()
        else:
            self._in_order()
        self._make_room()
        last_sample(self.run(no_rows()))

    def run(self, rows: Rows) -> Run:
        """Return what kernels see, with the rows that are known."""
        return Run(self.rules, self.policies, self.state, rows)

    def grow(self) -> None:
        """Make room for every page that has a number."""
        self.rules, self.state = with_pages(self.rules, self.state, self.policies.plan, self.trace.numbers)

    def _in_order(self) -> None:
        for rows in self.trace.pieces_in_order():
            self.state.counters[COUNT.last_start] = rows.cycle[-1]
            self._play_piece(rows)
        self.state.counters[COUNT.ended] = 1
        self._play_piece(no_rows())

    def _play_piece(self, rows: Rows) -> None:
        self.grow()
        self.state.counters[COUNT.row] = 0
        self.play(lambda: play_in_order(self.run(rows)))

    def _as_warps_are_free(self) -> None:
        pieces, rows, ended = self.trace.pieces(), no_rows(), False
        while not ended:
            rows, ended = self._more(rows, pieces)
            self.state.counters[COUNT.ended] = ended
            self.grow()
            self._play_warps(rows)

    def _play_warps(self, rows: Rows) -> None:
        self.play(lambda: play_warps(self.run(rows)))

    def _more(self, rows: Rows, pieces: Iterator[Rows]) -> tuple[Rows, bool]:
        """What is left and as many rows again, so that a row is moved a few times at most; and whether that is all."""
        left, new, wanted = left_over(rows, self.state.next_row), list[Rows](), 1
        while wanted > 0:
            piece = next(pieces, None)
            if piece is None:
                break
            new.append(piece)
            wanted = max(left.cycle.size, PIECE) - sum(part.cycle.size for part in new)
        if new:
            self.state.counters[COUNT.stream_cycle] = new[-1].cycle[-1]
        return together(left, new, self.state.next_row), wanted > 0

    def play(self, stretch: Callable[[], None]) -> None:
        """Play a stretch again and again until it does not end for want of room."""
        stretch()
        while self._after_a_stretch() == STATUS.needs_room:
            stretch()

    def _after_a_stretch(self) -> int:
        status = int(self.state.counters[COUNT.status])
        if status not in (STATUS.fine, STATUS.needs_room, STATUS.needs_rows):
            raise broken(self.setup, self.state)
        self.state.counters[COUNT.status] = STATUS.fine
        if status == STATUS.needs_room:
            self._make_room()
        return status

    def _make_room(self) -> None:
        if self.rules.keeps_log:
            kept = self.state.log[: self.state.counters[COUNT.logged] * COLUMNS].reshape(-1, COLUMNS)
            self.logs.append(self._with_pages(kept.copy()))
        self.state = with_room(self.rules, self.state)

    def _with_pages(self, log: np.ndarray) -> np.ndarray:
        """The log with the trace's pages in place of short numbers: of an entry that covers several, the first."""
        short = log[:, 1] != ACCESS
        log[short, 3] = self.trace.tags.first_pages(self.trace.numbers.pages[log[short, 3]])
        return log
