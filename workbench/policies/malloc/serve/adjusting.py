"""What a request becomes before it is summed: raised to the minimum, rounded up (spec 2, R5, E5, E6)."""

from __future__ import annotations

from workbench.compiled import kernel

MOST_ALIGN = 1 << 16


@kernel
def adjusted(asked: int, least: int, align: int) -> int:
    """Return the bytes of the piece that a request of so many bytes gets."""
    raised = max(asked, least)
    return (raised + align - 1) // align * align


def next_power(number: int) -> int:
    """Return the least power of two that is not below a number.

    >>> [next_power(n) for n in (1, 3, 4, 5)]
    [1, 4, 4, 8]
    """
    return 1 << (number - 1).bit_length()
