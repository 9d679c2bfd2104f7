"""What a request becomes before it is summed: raised to the minimum, rounded up (spec 2, R5, E5, E6)."""

from __future__ import annotations

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.policies.policy import Policy

MOST_ALIGN = 1 << 16


@kernel
def adjusted(asked: int, least: int, align: int) -> int:
    """Bytes of the piece that a request of so many bytes gets."""
    raised = max(asked, least)
    return (raised + align - 1) // align * align


def next_power(number: int) -> int:
    """The least power of two that is not below a number.

    >>> [next_power(n) for n in (1, 3, 4, 5)]
    [1, 4, 4, 8]
    """
    return 1 << (number - 1).bit_length()


def check_align(policy: Policy, align: int) -> None:
    """Refuse an alignment that is no power of two; 0 stands for the minimum allocation."""
    if align and align & (align - 1):
        expected = f"must be a power of two, or 0 for min_alloc rounded up to one, at most {MOST_ALIGN}"
        raise wrong_value("", f"{policy.name}.align", expected, align, next_power(align))
