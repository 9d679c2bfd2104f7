"""One decision: the question, who answered, what it saw, what it answered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

OWN = ("levers", "memory")
"""The fields of a view that belong to the policy: two runs do not part because they differ."""


class Decision(NamedTuple):
    """What a policy was asked once in a run, and its answer; all values are plain."""

    number: int
    """Its place among the decisions of the run that are kept, from 0."""
    question: str
    policy: str
    """Who answered, with the levers that differ from their defaults."""
    rule: str
    """How this policy decides, in a sentence: the first of its documentation."""
    meaning: str
    """What the number means that is answered."""
    saw: dict[str, Any]
    """The fields of the view before the answer: numbers, and lists where they are arrays."""
    about: dict[str, str]
    """What each field is."""
    answer: int
    wrote: dict[str, list[Any]]
    """The arrays that the answer changed, as they are after it; what a policy remembers is left out."""
    digest: bytes = b""
    """Of all that was seen, also of what is too long to be kept."""

    def outcome(self) -> tuple[Any, ...]:
        """Return what two runs must have alike in order not to part here."""
        return self.question, self.digest, self.answer, self.wrote


def first_difference(one: Sequence[Decision], two: Sequence[Decision]) -> int | None:
    """Return the number of the first decision at which two runs differ in what was asked or answered; None = nowhere.

    Scores count: two policies that rate the candidates otherwise differ there, though they may take the same one.
    """
    for number, pair in enumerate(zip_longest(one, two)):
        if None in pair or pair[0].outcome() != pair[1].outcome():
            return number
    return None
