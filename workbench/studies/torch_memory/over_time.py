"""Bytes over the events of a card's history: allocated and reserved as recorded, reserved by a replay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.asking import Asking
from workbench.engines.torch_allocator.exactness import Replay
from workbench.engines.torch_allocator.recording import Recording, live_before, reserved_by_event
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.studies.torch_memory.trial import played_on
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED


class RecordedBytes(NamedTuple):
    """What the recorded allocator held; element k is after k events, the first before any."""

    allocated: np.ndarray
    """int64[events + 1], bytes asked for and not given back."""
    reserved: np.ndarray
    """int64[events + 1], bytes got from the driver."""


def recorded_bytes(recording: Recording) -> RecordedBytes:
    """Return the curves that the events of a history tell, from what there was before the first.

    Parameters
    ----------
    recording : Recording
        Of `recording_of`; a history without events gives one element each.
    """
    events = recording.log.events
    change = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    return RecordedBytes(
        _summed(int(live_before(recording).sum()), change),
        _summed(recording.reserved_at_start + _implied(recording), reserved_by_event(recording.log)),
    )


def reserved_as_recorded(one: Replay) -> np.ndarray:
    """Return what a replay under the recorded settings reserves after each event: int64[events + 1].

    It starts from the recorded segments, so that where the replay is exact it is the recorded curve.
    """
    change = np.zeros(len(one.recording.log.events.action), np.int64)
    np.add.at(change, one.recording.event[one.played.calls[:, 0]], one.played.calls[:, 2])
    return _summed(one.played.reserved_at_start, change)


def reserved_under(requests: Asking, settings: AllocatorSettings, events: int) -> np.ndarray:
    """Return what an allocator under other settings reserves after each event: int64[events + 1].

    What was live before the first event is asked for first, laid out anew.
    """
    played = played_on(requests, settings)
    change = np.zeros(events + 1, np.int64)
    np.add.at(change, requests.event[played.calls[:, 0]] + 1, played.calls[:, 2])
    result: np.ndarray = np.cumsum(change)
    return result


def _implied(recording: Recording) -> int:
    """Return the bytes of segments that were got right before the first event, which tells of them alone."""
    return int(recording.supply.size[: recording.implied].sum())


def _summed(before: int, change: np.ndarray) -> np.ndarray:
    result: np.ndarray = before + np.concatenate([np.zeros(1, np.int64), np.cumsum(change)])
    return result
