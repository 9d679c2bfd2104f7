"""What a module executed in the last cycles, by class of instruction (spec 3, R75, E23; spec 6, R16)."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Instructions of a class, executed evenly from one cycle (included) to another (excluded)."""

    begin: int
    end: int
    kind: str
    amount: int


class History:
    """Spans of execution of one module."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def enter(self, begin: int, end: int, kind: str, amount: int) -> None:
        """Enter instructions; those of no cycles are executed in their begin."""
        self.spans.append(Span(begin, max(end, begin + 1), kind, amount))

    def counts(self, first: int, end: int) -> dict[str, int]:
        """Return how many of each class were executed from a cycle (included) to another (excluded)."""
        totals: dict[str, int] = {}
        for span in self.spans:
            executed = _until(span, end) - _until(span, first)
            totals[span.kind] = totals.get(span.kind, 0) + executed
        return totals

    def energy(self, first: int, end: int, weights: dict[str, float]) -> float:
        """Return the weighted sum of the counts; a class without a weight has 1."""
        return sum(weights.get(kind, 1.0) * count for kind, count in sorted(self.counts(first, end).items()))


def _until(span: Span, cycle: int) -> int:
    """Return how many instructions of a span are executed before a cycle: floor(amount x elapsed / length)."""
    elapsed = min(max(cycle - span.begin, 0), span.end - span.begin)
    return span.amount * elapsed // (span.end - span.begin)
