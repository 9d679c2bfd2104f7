"""Instances of one partitioned card (specification 7, R23), for its slow twin."""

from __future__ import annotations

from collections.abc import Callable

MEMORY_SLICES = 8
COMPUTE_SLICES = 7
PROFILES: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "1g": (1, 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g_two_memory": (2, 1, (0, 2, 4, 6)),
    "2g": (2, 2, (0, 2, 4)),
    "3g": (4, 3, (0, 4)),
    "4g": (4, 4, (0,)),
    "7g": (8, 7, (0,)),
}
"""Of each profile its memory slices, its compute slices and the allowed starts."""


def place(requests: list[str], choose: Callable[[list[int]], int] = min) -> list[int | None]:
    """Return the start of each instance in turn, or None. `choose` picks among the allowed and free starts."""
    free = [True] * MEMORY_SLICES
    compute = COMPUTE_SLICES
    starts: list[int | None] = []
    for request in requests:
        memory, slices, allowed = PROFILES[request]
        possible = [start for start in allowed if all(free[start : start + memory]) and slices <= compute]
        if not possible:
            starts.append(None)
            continue
        start = choose(possible)
        free[start : start + memory] = [False] * memory
        compute -= slices
        starts.append(start)
    return starts


def modules_of(requests: list[str], starts: list[int | None], modules_a_profile: dict[str, int]) -> list[int]:
    """Return the modules of each instance; one that has no start has none."""
    return [0 if start is None else modules_a_profile[name] for name, start in zip(requests, starts)]
