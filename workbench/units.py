"""Every conversion between units, in one place. Time inside the simulators is a whole number of cycles."""

from __future__ import annotations

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


def segments_for(size_bytes: int, granule: int) -> int:
    """Segments that hold so many bytes, rounded up.

    >>> segments_for(513, 512)
    2
    """
    return -(-size_bytes // granule)


def cycles_from_ns(time_ns: float, clock_mhz: float) -> int:
    """Whole cycles of a clock in a time, at least one for a time above zero.

    >>> cycles_from_ns(1000, 1700), cycles_from_ns(0.1, 1700), cycles_from_ns(0, 1700)
    (1700, 1, 0)
    """
    return max(round(time_ns * clock_mhz / 1000), 1 if time_ns > 0 else 0)
