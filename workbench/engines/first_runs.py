"""The first run of a user's answer in a process tests every array index: compiled code reads past an end silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.policies.policy import Policy


class FirstRuns:
    """Which users' answers one engine has still to see through a run without a fault; built-in ones need no proof."""

    def __init__(self) -> None:
        self._proved: set[Callable[..., Any]] = set()

    @contextmanager
    def watched(self, policies: Iterable[Policy], checked: bool) -> Iterator[bool]:
        """Let the policies' answers do one run within this context; they are proved when it ends without an exception.

        Gives whether the run must test every array index: where that was asked for (`checked`), or where an answer
        that is not part of this package is not proved.

        >>> runs = FirstRuns()
        >>> with runs.watched([], checked=False) as checked:
        ...     print(checked)
        False
        """
        theirs = {policy.function() for policy in policies if not policy.built_in}
        yield checked or not self._proved.issuperset(theirs)
        self._proved.update(theirs)
