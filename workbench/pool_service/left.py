"""What did a killed service leave? Its arenas, where they are all there, whole and this user's alone."""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

from workbench.pool_service.arenas import attach_arena, detach_arena
from workbench.pool_service.folder import Description
from workbench.pool_service.slots import addresses_for

Arenas = list[SharedMemory | None]
"""One a card; None for a card without memory."""


def whole_arenas(left: Description) -> Arenas | None:
    """Attach the arenas of a description; None = one is gone, is another user's, or has another size."""
    arenas = [attach_arena(name) if name else None for name in left.arenas]
    if [arena.size if arena else 0 for arena in arenas] == [addresses_for(size) for size in left.sizes]:
        return arenas
    detach_all(arenas)
    return None


def detach_all(arenas: Arenas) -> None:
    """Let go of arenas that stay where they are."""
    for arena in filter(None, arenas):
        detach_arena(arena)
