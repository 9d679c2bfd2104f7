"""How a drop-down says that a name would be refused, and why."""

from __future__ import annotations

MOST = 90
"""Characters of a reason that an option shows."""


def marked(words: str, why: str | None) -> str:
    """Return what an option says, with the reason for which the whole setting would be refused.

    >>> marked("best fit", None), marked("best fit", "sweep: segments must be at least 64. Got 8.")
    ('best fit', 'best fit (refused here: segments must be at least 64. Got 8.)')
    """
    if why is None:
        return words
    reason = " ".join(why.removeprefix("sweep: ").split())
    return f"{words} (refused here: {reason if len(reason) <= MOST else reason[: MOST - 3].rstrip() + '...'})"
