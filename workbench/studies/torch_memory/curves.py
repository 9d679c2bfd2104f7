"""Bytes over the events of a history: live, reserved as recorded, reserved under another setting."""

from __future__ import annotations

import numpy as np

from workbench.engines.torch_allocator.asking import Asking
from workbench.engines.torch_allocator.recording import Recording, live_before, reserved_by_event
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.studies.torch_memory.advice import Curve
from workbench.studies.torch_memory.trial import played_on
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED


def curves_of(recording: Recording, replay: Asking, best: AllocatorSettings) -> list[Curve]:
    """Return the curves of one card's history, a point an event."""
    events = recording.log.events
    change = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    live = int(live_before(recording).sum()) + np.cumsum(change)
    reserved = recording.reserved_at_start + np.cumsum(reserved_by_event(recording.log))
    played = played_on(replay, best)
    under = np.zeros(len(events.action) + 1, np.int64)
    np.add.at(under, replay.event[played.calls[:, 0]] + 1, played.calls[:, 2])
    return [
        Curve("live", live),
        Curve("reserved, recorded", reserved),
        Curve(f"reserved, {best.conf or 'defaults'}", np.cumsum(under)[1:]),
    ]
