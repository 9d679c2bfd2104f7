"""When is a refused request tried again? (spec 1, R29)"""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import lever
from workbench.policies.policy import Policy


class RetryPolicy(Policy, abstract=True):
    """The base of every retry rule."""

    question: ClassVar[str] = "retry"

    def cycles(self) -> int:
        """Return the cycles between two tries of a refused request; 0 = only when something has been released."""
        raise NotImplementedError


class NextCycle(RetryPolicy):
    """Try again at the next cycle (the document's "next operating cycle").

    References
    ----------
    spec 1, R29 (paragraphs 92 and 155).

    Examples
    --------
    >>> NextCycle().cycles()
    1
    """

    def cycles(self) -> int:
        return 1


class AfterKCycles(RetryPolicy):
    """Try again after a preset number of cycles, counted from the refusal.

    References
    ----------
    spec 1, R29 ("a preset time", paragraph 155).

    Examples
    --------
    >>> AfterKCycles(k=16).cycles()
    16
    """

    k: int = lever(8, least=1, most=65536, scale="log", unit="cycles", description="cycles between two tries")

    def cycles(self) -> int:
        return self.k


class OnRelease(RetryPolicy):
    """Try again only when something has been released; a new arrival alone triggers no try.

    References
    ----------
    spec 1, parameter table, `retry`.

    Examples
    --------
    >>> OnRelease().cycles()
    0
    """

    def cycles(self) -> int:
        return 0
