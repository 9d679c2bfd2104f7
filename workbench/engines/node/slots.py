"""What the engine `node` leaves to policies: all decisions of its parts, by the names that they have there."""

from __future__ import annotations

from typing import NamedTuple, get_type_hints

from workbench.engines.dispatch.prepare import Slots as DispatchSlots
from workbench.engines.kit.slots import defaults_of, slot
from workbench.engines.malloc.slots import Slots as MallocSlots
from workbench.engines.pool.slots import Slots as PoolSlots
from workbench.engines.translation.slots import Slots as TranslationSlots
from workbench.policies.pool.frames import Frames

PARTS = {"dispatch": DispatchSlots, "translation": TranslationSlots, "malloc": MallocSlots, "pool": PoolSlots}
"""The slots of each part; no two parts have one of the same name."""


class OwnSlots(NamedTuple):
    """What only a node leaves to a policy."""

    frames: Frames = slot("lowest")


_EACH = (*PARTS.values(), OwnSlots)
Slots = NamedTuple(  # type: ignore[misc]
    "Slots", [(name, kind) for slots in _EACH for name, kind in get_type_hints(slots).items()]
)
"""A whole node."""
Slots._field_defaults = {name: default for slots in _EACH for name, default in defaults_of(slots).items()}
