"""Bytes over the events of a history: live, reserved as recorded, reserved under another setting."""

from __future__ import annotations

from workbench.engines.torch_allocator.asking import Asking
from workbench.engines.torch_allocator.recording import Recording
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.studies.torch_memory.advice import Curve
from workbench.studies.torch_memory.over_time import recorded_bytes, reserved_under


def curves_of(recording: Recording, replay: Asking, best: AllocatorSettings) -> list[Curve]:
    """Return the curves of one card's history, a point an event."""
    recorded = recorded_bytes(recording)
    under = reserved_under(replay, best, len(recording.log.events.action))
    return [
        Curve("live", recorded.allocated[1:]),
        Curve("reserved, recorded", recorded.reserved[1:]),
        Curve(f"reserved, {best.conf or 'defaults'}", under[1:]),
    ]
