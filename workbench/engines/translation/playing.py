"""One run from its first row to its last: stretches of the loop, and what must happen between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import FINE, STOP, Attempt, Stop, policy_error, stop_of
from workbench.engines.translation.closed_loop import play_warps
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.forgetting import may_forget, without_unknown_pages
from workbench.engines.translation.growing import with_pages, with_room
from workbench.engines.translation.open_loop import play_in_order
from workbench.engines.translation.prepare import new_state, policies_of, rules_of, with_shortcuts
from workbench.engines.translation.shape import Policies, Rows, Rules
from workbench.engines.translation.slots import Reading
from workbench.engines.translation.state import Run, State
from workbench.engines.translation.trace import PIECE, Trace, left_over, no_rows, together
from workbench.structures.key_index import has_room as has_number
from workbench.structures.key_index import with_room as with_number

MOST_NEW = 2048
"""Pages that a part has room for, besides those that it knows, at least."""


class PartRules(NamedTuple):
    """What is told of a run as a part of a larger simulation, besides issues and answers."""

    walks_wait: int
    keeps_rows: int


class Play:
    """The state of one run, and its trace; of a part somebody else asks for the accesses, one by one."""

    def __init__(self, run: Reading, attempt: Attempt, part: PartRules | None = None) -> None:
        self.given, self.trace = run.given, Trace(run.given)
        rules = rules_of(run, attempt.events)
        if part:
            rules = rules._replace(**part._asdict(), keeps_answers=1, warps=0, gap_cycles=0)
        self.policies: Policies = policies_of(run, rules, attempt.checked)
        self.rules: Rules = with_shortcuts(rules, run)
        self.state: State = new_state(self.rules, run.plan, self.trace.numbers, attempt.room["logged"])
        self._make_room()
        if part:
            self.make_room_for_page()

    def __deepcopy__(self, memo: dict[int, Any]) -> Play:
        copied = copy(self)
        copied.policies, copied.state = deepcopy((self.policies, self.state), memo)
        copied.trace = copy(self.trace)
        copied.trace.numbers = copied.state.numbers
        return copied

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

    def run(self, rows: Rows) -> Run:
        """Return what kernels see, with the rows that are known."""
        return Run(self.rules, self.policies, self.state, rows)

    def grow(self, more: int = 0) -> None:
        """Make room for every page that has a number, and so many more."""
        self.rules, self.state = with_pages(self.rules, self.state, self.policies.plan, self.trace.numbers, more)

    def make_room_for_page(self) -> None:
        """Make room for one more page, and for what one more event brings about."""
        if self._is_full():
            self.forget_pages()
            self.trace.numbers = with_number(self.trace.numbers, self._spare())
            self.grow(more=self._spare())
        self._make_room()

    def forget_pages(self) -> None:
        """Let pages that nothing knows any more have no number, where nobody else knows pages by their numbers."""
        if may_forget(self.rules, self.policies):
            self.trace.numbers, self.state = without_unknown_pages(
                self.rules, self.state, self.policies.plan, self.trace.numbers
            )

    def _is_full(self) -> bool:
        numbers, room = self.trace.numbers, self.state.held.size // self.rules.words
        return not has_number(numbers) or bool(numbers.given[0] >= room)

    def _spare(self) -> int:
        """Return how many pages more there is to be room for: as many as there are, so that pauses are few."""
        return max(int(self.trace.numbers.given[0]), MOST_NEW)

    def _in_order(self) -> None:
        for rows in self.trace.pieces_in_order():
            self._note_last_access(rows)
            self._play_piece(rows)
        self.state.counters[COUNT.ended] = 1
        self._play_piece(no_rows())

    def _note_last_access(self, rows: Rows) -> None:
        accesses = np.flatnonzero(~rows.unmap)[-1:] if rows.unmap.size else [-1]
        for last in accesses:
            self.state.counters[COUNT.last_start] = rows.cycle[last]

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
        """Return what is left and as many rows again, so that a row is moved a few times at most; and whether that is
        all."""
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
        while self._after_a_stretch() == FAULT.needs_room:
            self._make_room()
            stretch()

    def _after_a_stretch(self) -> int:
        counters = self.state.counters
        stop = stop_of(counters)
        if stop.fault not in _PAUSES:
            raise policy_error(FAULT, self.given.slots, stop, words(stop))
        counters[STOP.fault] = FINE
        return stop.fault

    def _make_room(self) -> None:
        self.state = with_room(self.rules, self.state)


_PAUSES = (FINE, FAULT.needs_rows, FAULT.needs_room)
"""Ends of a stretch after which the run goes on."""


def words(stop: Stop) -> dict[str, str]:
    """Return where a run stopped: its cycle, and its core where it is of one."""
    whose = "" if stop.row < 0 else f", core {stop.row}"
    return {"where": f"at cycle {stop.cycle}{whose}"}
