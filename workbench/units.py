"""Every conversion between units, in one place. Time inside the simulators is a whole number of cycles."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

Count = TypeVar("Count", int, np.ndarray)
"""A whole number, or an array of them: the conversions of counts take either and give the same back."""

Amount = TypeVar("Amount", float, np.ndarray)
"""A number, or an array of them."""

BYTES_PER_KIB = 1024
BITS_PER_WORD = 64


def kib(count: float) -> int:
    """Bytes in so many KiB.

    >>> kib(64)
    65536
    """
    return round(count * BYTES_PER_KIB)


def granule_bytes(capacity_bytes: int, segments: int) -> int:
    """Bytes a segment when a memory is cut into equal segments (spec 1, V1).

    >>> granule_bytes(kib(64), 128)
    512
    """
    return capacity_bytes // segments


def segments_in(capacity_bytes: int, granule: int) -> int:
    """Segments that a memory is cut into: whole granules only, whatever the granule.

    >>> segments_in(kib(228), 128), segments_in(kib(160), 1280)
    (1824, 128)
    """
    return capacity_bytes // granule


def segments_for(size_bytes: Count, granule: int) -> Count:
    """Segments that hold so many bytes, rounded up.

    >>> segments_for(513, 512)
    2
    """
    return -(-size_bytes // granule)


def waves_for(threads: Count, wave_size: int) -> Count:
    """Waves (warps) of a workgroup of so many threads, rounded up.

    >>> waves_for(100, 32)
    4
    """
    return -(-threads // wave_size)


def workgroups_for(work_items: Count, a_workgroup: Count) -> Count:
    """Workgroups that cover so many work-items, rounded up: AMD's tools count a grid in work-items.

    >>> workgroups_for(1000, 256)
    4
    """
    return -(-work_items // a_workgroup)


def given_out(count: Count, granule: int) -> Count:
    """What is really taken when a resource is given out in whole granules.

    >>> given_out(37, 8)
    40
    """
    return -(-count // granule) * granule


def cycles_from_ns(time_ns: float, clock_mhz: float) -> int:
    """Whole cycles of a clock in a time, at least one for a time above zero; a half goes to the even neighbour.

    >>> cycles_from_ns(1000, 1700), cycles_from_ns(0.1, 1700), cycles_from_ns(0, 1700)
    (1700, 1, 0)
    """
    return max(round(time_ns * clock_mhz / 1000), 1 if time_ns > 0 else 0)


def cycles_each(times_ns: np.ndarray, clock_mhz: float) -> np.ndarray:
    """`cycles_from_ns` of every time of an array: int64, at least one for a time above zero.

    >>> cycles_each(np.array([1000, 0]), 1700)
    array([1700,    0])
    """
    return np.maximum(np.rint(times_ns * clock_mhz / 1000).astype(np.int64), times_ns > 0)


def watts(picojoules_a_cycle: Amount, clock_mhz: float) -> Amount:
    """The power of a steady consumption: 1 pJ a cycle at 1 MHz is a microwatt.

    >>> watts(1000.0, 1000.0)
    1.0
    """
    return picojoules_a_cycle * clock_mhz / 1e6


def seconds(cycles: float, clock_mhz: float) -> float:
    """How long so many cycles last.

    >>> seconds(1000, 1000.0)
    1e-06
    """
    return cycles / (clock_mhz * 1e6)
