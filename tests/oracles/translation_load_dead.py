"""Dead entries of the event-driven twin's shared TLB (docs/translation-rules.md, "Dead entries")."""

from __future__ import annotations

from typing import Any


class NeverDead:
    """Every entry is made."""

    not_made = 0
    """Entries that were not made."""

    def found(self, tag: int) -> None:
        """Hear that a look-up found a tag."""

    def missed(self, tag: int) -> None:
        """Hear that a look-up did not find a tag."""

    def made(self, tag: int) -> None:
        """Hear that an entry is made."""

    def evicted(self, tag: int) -> None:
        """Hear that an entry was chosen as victim."""

    def passes_by(self, tag: int) -> bool:
        """Return whether no entry is to be made, and remember it."""
        return False


class DeadEntries(NeverDead):
    """Counts what was evicted unused, by region."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.unused = [0] * policy.counters
        self.used: set[int] = set()
        self.passed: list[int] = []
        """The tags of entries that were not made, the newest last."""

    def _place(self, tag: int) -> int:
        return tag // int(self.policy.region_pages) % len(self.unused)

    def found(self, tag: int) -> None:
        self.used.add(tag)

    def missed(self, tag: int) -> None:
        if tag in self.passed:
            self.passed.remove(tag)
            self.unused[self._place(tag)] = 0

    def made(self, tag: int) -> None:
        self.used.discard(tag)

    def evicted(self, tag: int) -> None:
        place = self._place(tag)
        self.unused[place] = 0 if tag in self.used else min(self.unused[place] + 1, self.policy.threshold)

    def passes_by(self, tag: int) -> bool:
        if self.unused[self._place(tag)] < self.policy.threshold:
            return False
        self.not_made += 1
        self.passed = [*(one for one in self.passed if one != tag), tag]
        if len(self.passed) > self.policy.remembered:
            del self.passed[0]
        return True
