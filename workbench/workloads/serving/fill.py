"""How much of a region holds data, and for how long."""

from __future__ import annotations

from typing import NamedTuple


class Writing(NamedTuple):
    """When the tokens of a sequence are written, from the moment on at which it got its memory."""

    begin: int
    """Nanoseconds; what is known by then counts as written."""
    known: int
    """Tokens that are known then: the prompt, and what was answered before a preemption."""
    decode: int
    """Nanoseconds, when the first further token begins."""
    token_ns: int
    """Nanoseconds a token."""

    def written(self, now: int) -> int:
        """Return how many further tokens are there by a moment.

        >>> Writing(begin=0, known=5, decode=100, token_ns=10).written(129)
        2
        """
        return max(now - self.decode, 0) // self.token_ns

    def filled(self, first: int, end: int, now: int) -> int:
        """Return the nanoseconds for which the tokens from `first` to `end` have been there by a moment, added up.

        >>> Writing(begin=0, known=5, decode=100, token_ns=10).filled(4, 8, 130)
        160
        """
        held = max(min(end, self.known) - first, 0) * (now - self.begin)
        low = max(first, self.known) - self.known
        high = min(end - self.known, self.written(now))
        if high <= low:
            return held
        numbers = (low + 1 + high) * (high - low) // 2
        return held + (high - low) * (now - self.decode) - numbers * self.token_ns
