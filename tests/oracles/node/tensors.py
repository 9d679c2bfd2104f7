"""The tensors of an application: when they are granted, who still needs them, which pages they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.oracles.node.pages import Page
from tests.oracles.node.pool import Region


@dataclass(eq=False)
class Tensor:
    """One tensor from its allocation to its release."""

    name: str
    bytes: int
    users: int  # kernels that name it and have not ended
    state: str = "unknown"  # asked, granted, freed
    region: Region | None = None
    pages: list[Page] = field(default_factory=list)
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    @property
    def granted(self) -> bool:
        """Return whether kernels may use it."""
        return self.state == "granted"

    def when(self, action: Callable[[], None]) -> None:
        """Call back at the next change."""
        self._waiting.append(action)

    def changed(self) -> None:
        """Tell those who wait; each looks for itself whether it can go on."""
        waiting, self._waiting = self._waiting, []
        for action in waiting:
            action()
