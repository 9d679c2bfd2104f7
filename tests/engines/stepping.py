"""A part of a node driven by plain Python: its routines are called by name, as a node's calendar calls them by address.

What may be asked of a part is a table: of each request the routine, and the rank of its moment where the routine leaves
it to whoever asks that everything before has happened. A request begins with its cycle, which routines take last.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from workbench.compiled import bound
from workbench.engines.kit.order import RANKS, cycle_of, rank_of
from workbench.engines.kit.simulator import Part
from workbench.structures.timetable import NEVER

REFUSED = -1


class Stepped:
    """A part, what may be asked of it, and the modules that have its routines."""

    def __init__(self, part: Part, asked: dict[type, tuple[Any, ...]], *modules: ModuleType) -> None:
        self.part, self.asked, self.modules = part, asked, modules
        self._bound = dict[str, Callable[..., int]]()

    @property
    def lent(self) -> Any:
        """What the routines run on."""
        return self.part.lent

    def numbers(self, request: Any) -> list[int]:
        """What the routine takes of a request, beside its cycle."""
        return [*request[1:]]

    def called(self, name: str, *numbers: int) -> int:
        """Call a routine."""
        if name not in self._bound:
            routine = next(getattr(module, name) for module in self.modules if hasattr(module, name))
            self._bound[name] = bound(routine, self.part.kept)
        return int(self._bound[name](*numbers))

    def call(self, name: str, *numbers: int) -> int:
        """Call a routine, and raise what a policy did wrong in it."""
        result = self.called(name, *numbers)
        self.part.check()
        return result


def next_event(state: Stepped) -> tuple[int, int]:
    """The cycle and the rank of what happens next: `NEVER` and 0 where nothing will."""
    comes = state.called("next_moment")
    return (NEVER, 0) if comes >= NEVER else (cycle_of(comes), rank_of(comes))


def advance(state: Stepped, until: tuple[int, int]) -> None:
    """Let everything happen that precedes a cycle and a rank, both exclusive; until `(NEVER, 0)` all that will."""
    cycle, rank = until
    state.call("advance_to", min(cycle * RANKS + rank, NEVER))


def ask(state: Stepped, request: Any) -> int:
    """Ask for something at a cycle, and return its ticket; `REFUSED` if it may not be."""
    name, *rank = state.asked[type(request)]
    if rank:
        advance(state, (request.cycle, rank[0]))
    return state.call(name, *map(int, state.numbers(request)), request.cycle)
