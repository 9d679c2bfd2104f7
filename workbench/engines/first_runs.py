"""The first run of a user's answer in a process tests every array index: compiled code reads past an end silently."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workbench.policies.policy import Policy


class FirstRuns:
    """Which users' answers one engine has still to see through a run without a fault; built-in ones need no proof."""

    def __init__(self) -> None:
        self._proved: set[Callable[..., Any]] = set()

    def watched(self, policies: Iterable[Policy], checked: bool) -> _Watched:
        """Let the policies' answers do one run within this context; they are proved when it ends without an exception.

        Gives whether the run must test every array index: where that was asked for (`checked`), or where an answer
        that is not part of this package is not proved.

        >>> runs = FirstRuns()
        >>> with runs.watched([], checked=False) as checked:
        ...     print(checked)
        False
        """
        return _Watched(self._proved, {policy.function() for policy in policies if not policy.built_in}, checked)


class _Watched:
    """One run of some answers; a class, as every run has one."""

    __slots__ = ("_checked", "_proved", "_theirs")

    def __init__(self, proved: set[Callable[..., Any]], theirs: set[Callable[..., Any]], checked: bool) -> None:
        self._proved, self._theirs, self._checked = proved, theirs, checked

    def __enter__(self) -> bool:
        return self._checked or not self._proved.issuperset(self._theirs)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._proved.update(self._theirs)
