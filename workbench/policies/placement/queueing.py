"""Which of the waiting requests may be tried, and when is a refused one tried again? (spec 1, R29, E10)"""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import lever
from workbench.policies.policy import Policy


class QueuePolicy(Policy, abstract=True):
    """The base of every queue discipline."""

    question: ClassVar[str] = "queue"

    def look_ahead(self) -> int:
        """Return the number of requests behind the head that may be tried when the head does not fit."""
        raise NotImplementedError


class FifoHeadOnly(QueuePolicy):
    """Try the head of the queue alone; what is behind it waits, whether it would fit or not.

    References
    ----------
    spec 1, R29 and E10: a FIFO whose entries wait; the default.

    Examples
    --------
    >>> FifoHeadOnly().look_ahead()
    0
    """

    def look_ahead(self) -> int:
        return 0


class FifoLookahead(QueuePolicy):
    """Try the head, then up to k requests behind it in order, and grant the first that fits (backfilling).

    After a grant the whole look-ahead is tried again at the next cycle; the retry rule counts from a cycle in which
    none of it fitted.

    References
    ----------
    spec 1, E10 and section 7: competes on the queue's side rather than on placement.

    Examples
    --------
    >>> FifoLookahead(k=8).look_ahead()
    8
    """

    k: int = lever(
        4, least=0, most=4096, unit="workgroups", description="how many requests behind the head may be tried"
    )

    def look_ahead(self) -> int:
        return self.k


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
