"""Every conversion between units, in one place. Time inside the simulators is a whole number of cycles."""

from __future__ import annotations

import re
from typing import TypeVar

import numpy as np

from workbench.errors import InputError, shown

Count = TypeVar("Count", int, np.ndarray)
"""A whole number, or an array of them: the conversions of counts take either and give the same back."""

Amount = TypeVar("Amount", float, np.ndarray)
"""A number, or an array of them."""

BYTES_PER_KIB = 1024


def kib(count: float) -> int:
    """Return the bytes in so many KiB.

    >>> kib(64)
    65536
    """
    return round(count * BYTES_PER_KIB)


def granule_bytes(capacity_bytes: int, segments: int) -> int:
    """Return the bytes a segment when a memory is cut into equal segments (spec 1, V1).

    >>> granule_bytes(kib(64), 128)
    512
    """
    return capacity_bytes // segments


def segments_in(capacity_bytes: int, granule: int) -> int:
    """Return the segments that a memory is cut into: whole granules only, whatever the granule.

    >>> segments_in(kib(228), 128), segments_in(kib(160), 1280)
    (1824, 128)
    """
    return capacity_bytes // granule


def segments_for(size_bytes: Count, granule: int) -> Count:
    """Return the segments that hold so many bytes, rounded up.

    >>> segments_for(513, 512)
    2
    """
    return -(-size_bytes // granule)


def waves_for(threads: Count, wave_size: int) -> Count:
    """Return the waves (warps) of a workgroup of so many threads, rounded up.

    >>> waves_for(100, 32)
    4
    """
    return -(-threads // wave_size)


def is_count(text: str, most_digits: int = 18) -> bool:
    """Return whether a text is a whole number of at least 0 in plain digits, few enough to fit in 64 bits.

    `str.isdigit` takes more: the superscript two, which `int` refuses, and more digits than Python converts.

    >>> [is_count(text) for text in ("128", "-1", "²", "9" * 5000, "")]
    [True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and len(text) <= most_digits


def workgroups_for(work_items: Count, a_workgroup: Count) -> Count:
    """Return the workgroups that cover so many work-items, rounded up: AMD's tools count a grid in work-items.

    >>> workgroups_for(1000, 256)
    4
    """
    return -(-work_items // a_workgroup)


def given_out(count: Count, granule: int) -> Count:
    """Return the amount that is really taken when a resource is given out in whole granules.

    >>> given_out(37, 8)
    40
    """
    return -(-count // granule) * granule


def cycles_from_ns(time_ns: float, clock_mhz: float) -> int:
    """Convert a time to whole cycles of a clock, at least one for a time above zero; a half goes to the even neighbor.

    >>> cycles_from_ns(1000, 1700), cycles_from_ns(0.1, 1700), cycles_from_ns(0, 1700)
    (1700, 1, 0)
    """
    return max(round(time_ns * clock_mhz / 1000), 1 if time_ns > 0 else 0)


def cycles_each(times_ns: np.ndarray, clock_mhz: float) -> np.ndarray:
    """Return `cycles_from_ns` of every time of an array: int64, at least one for a time above zero.

    >>> cycles_each(np.array([1000, 0]), 1700)
    array([1700,    0])
    """
    return np.maximum(np.rint(times_ns * clock_mhz / 1000).astype(np.int64), times_ns > 0)


def watts(picojoules_a_cycle: Amount, clock_mhz: float) -> Amount:
    """Return the power of a steady consumption: 1 pJ a cycle at 1 MHz is a microwatt.

    >>> watts(1000.0, 1000.0)
    1.0
    """
    return picojoules_a_cycle * clock_mhz / 1e6


def seconds(cycles: float, clock_mhz: float) -> float:
    """Return the duration of so many cycles.

    >>> seconds(1000, 1000.0)
    1e-06
    """
    return cycles / (clock_mhz * 1e6)


_BYTES_PER = {
    "": 1,
    "B": 1,
    **{f"{letter}iB": 1024 ** (place + 1) for place, letter in enumerate("KMGTP")},
    **{f"{letter}B": 1000 ** (place + 1) for place, letter in enumerate("KMGTP")},
}


def parse_bytes(text: str, where: str) -> int:
    """Parse the bytes as people write them: `40GiB`, `16 GB`, `1048576`.

    >>> parse_bytes("40GiB", "--card-bytes"), parse_bytes("1.5 GB", "--card-bytes")
    (42949672960, 1500000000)
    >>> parse_bytes("40 gigs", "--card-bytes")
    Traceback (most recent call last):
    workbench.errors.InputError: --card-bytes must be bytes such as 40GiB, 16GB or 1048576. Got '40 gigs'.

    Raises
    ------
    InputError
        It is no number of bytes above zero.
    """
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)\s*", text)
    size = round(float(match[1]) * _BYTES_PER[match[2]]) if match and match[2] in _BYTES_PER else 0
    if size < 1:
        raise InputError(f"{where} must be bytes such as 40GiB, 16GB or 1048576. Got {shown(text)}.")
    return size
