"""Instances of a partitioned NVIDIA card (MIG): profiles, where they may start, and the start that a placement takes.

A card has 8 memory slices and 7 compute slices (spec 7, R23). Profiles of three and of four compute slices take the
same memory, and start at different places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.machine import Machine
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.policies.scenes import KEPT, Speaker, plain
from workbench.structures.bitmaps import NO_BITS, mark_free

MEMORY_SLICES, COMPUTE_SLICES = 8, 7


class Profile(NamedTuple):
    """What an instance takes, and where it may start."""

    memory: int
    """Memory slices."""
    compute: int
    """Compute slices."""
    starts: tuple[int, ...]
    """The memory slices at which it may begin."""


PROFILES = {
    "1g": Profile(1, 1, (0, 1, 2, 3, 4, 5, 6)),
    "1g+mem": Profile(2, 1, (0, 2, 4, 6)),
    "2g": Profile(2, 2, (0, 2, 4)),
    "3g": Profile(4, 3, (0, 4)),
    "4g": Profile(4, 4, (0,)),
    "7g": Profile(8, 7, (0,)),
}
"""`nvidia-smi mig -lgipp` of an H100 NVL (Colfax Research, 2024-05-29), and NVIDIA's MIG user guide for the profiles. A
profile `1g+mem` is one compute slice with two memory slices, such as 1g.20gb of a card of 80 GB."""

_ORDER = tuple(PROFILES)
MODULES = {
    "a100": (14, 14, 28, 42, 56, 98),
    "h100": (16, 26, 32, 60, 64, 132),
    "h200": (16, 26, 32, 60, 64, 132),
    "b200": (18, 30, 36, 54, 72, 148),
}
"""SMs of an instance of each profile, in the order of `PROFILES`, on each card that can be partitioned."""
SOURCES = {
    "a100": "nvidia-smi mig -lgip in NVIDIA's developer forum, thread 170488; 1g+mem: assumed, as 1g",
    "h100": "nvidia-smi mig -lgip of an H100 80 GB, jbarrow.ai/field_notes/nvidia-mig",
    "h200": "nvidia-smi mig -lgip in NVIDIA/mig-parted#120; 7g: assumed, as an H100's",
    "b200": "nvidia-smi mig -lgip in NVIDIA/gpu-operator#1242; 3g, 4g, 7g: assumed, 18 a slice and the whole card",
}
"""Of the figures of `MODULES`."""


def instance_machine(card: str, profile: str, modules: int = 0) -> Machine:
    """Return the machine that an instance of a card is: the card's units, as many as the profile has.

    Parameters
    ----------
    modules : int
        Units of the instance; 0 = as `MODULES` says.

    Raises
    ------
    InputError
        There is no such profile, or the card cannot be partitioned.

    Examples
    --------
    >>> instance_machine("h100", "3g").compute_units, instance_machine("h100", "4g").compute_units
    (60, 64)
    """
    if card not in MODULES:
        raise unknown_name("", "card with instances", card, MODULES)
    _check(profile)
    return Machine.read(card).but(compute_units=modules or MODULES[card][_ORDER.index(profile)], dies=())


class Instances:
    """The instances of one card, each at the start that a placement policy of spec 1 takes.

    The policy sees a map of the profile's allowed starts, in their order, and is asked for one of them. So a policy
    that takes the lowest place takes the lowest start that is allowed and free.

    Parameters
    ----------
    placement : policy
        As a sweep names it.

    Examples
    --------
    >>> card = Instances("first_fit")
    >>> card.take("4g"), card.take("3g"), card.take("1g")
    (0, 4, None)
    >>> card.give(4, "3g"), card.take("1g")
    (None, 4)
    """

    def __init__(self, placement: object = "first_fit", seed: int = 0) -> None:
        self._policy: Placement = Placement.read(placement, "placement")
        if self._policy.layout != "contiguous":
            raise InputError(f"placement: {self._policy.name} gives no contiguous range; an instance is one.")
        self._speakers = {name: self._speaker(len(one.starts), seed) for name, one in PROFILES.items()}
        self._free = [True] * MEMORY_SLICES
        self._compute = COMPUTE_SLICES

    def _speaker(self, places: int, seed: int) -> Speaker:
        return Speaker(self._policy, self._policy.start_memory(places, seed), plain(self._policy))

    def starts(self, profile: str) -> list[int]:
        """Return the starts of a profile that are allowed and free."""
        wanted = _check(profile)
        if wanted.compute > self._compute:
            return []
        return [start for start in wanted.starts if all(self._free[start : start + wanted.memory])]

    def take(self, profile: str) -> int | None:
        """Return the start at which an instance is made, None where none is allowed and free."""
        free, wanted, speaker = self.starts(profile), _check(profile), self._speakers[profile]
        if not free:
            return None
        places = len(wanted.starts)
        answer = speaker.ask(PlacementView(self._map(profile, free), places, 1, *KEPT))
        if answer == REFUSED:
            return None
        start = wanted.starts[answer] if 0 <= answer < places else -1
        if start not in free:
            raise InputError(f"placement: {self._policy.short()} took start {answer} of {profile}, which is not free.")
        self._set(start, wanted, False)
        speaker.tell("granted", PlacementNotice(self._map(profile, self.starts(profile)), places, answer, 1, *KEPT))
        return start

    def give(self, start: int, profile: str) -> None:
        """End an instance."""
        wanted = _check(profile)
        if start not in wanted.starts or any(self._free[start : start + wanted.memory]):
            raise wrong_value("", "start", f"must be that of an instance of {profile}", start)
        self._set(start, wanted, True)
        places, place = len(wanted.starts), wanted.starts.index(start)
        notice = PlacementNotice(self._map(profile, self.starts(profile)), places, place, 1, *KEPT)
        self._speakers[profile].tell("released", notice)

    def _set(self, start: int, wanted: Profile, free: bool) -> None:
        self._free[start : start + wanted.memory] = [free] * wanted.memory
        self._compute += wanted.compute if free else -wanted.compute

    def _map(self, profile: str, free: Sequence[int]) -> np.ndarray:
        words = np.full(1, NO_BITS)
        for place, start in enumerate(PROFILES[profile].starts):
            if start in free:
                mark_free(words, place, 1)
        return words


def instance_starts(profiles: Sequence[str], placement: object = "first_fit") -> list[int | None]:
    """Return the start of each instance that is asked for, one after another; None where none is allowed and free.

    >>> instance_starts(["3g", "3g", "4g"]), instance_starts(["3g", "4g"], "last_fit")
    ([0, 4, None], [4, 0])
    """
    card = Instances(placement)
    return [card.take(profile) for profile in profiles]


def _check(profile: str) -> Profile:
    if profile not in PROFILES:
        raise unknown_name("", "profile", profile, PROFILES)
    return PROFILES[profile]
