"""Run lengths to sample, from sparse to dense: so many between one power of two and the next."""

from __future__ import annotations


def octave_lengths(most: int, steps: int) -> tuple[int, ...]:
    """Run lengths from 1 to at most `most`, with `steps` equal steps from each power of two to the next, or of 1.

    The steps are powers of two that never shrink, as the rule asks (spec 3, R47); two steps give those of V16.

    Parameters
    ----------
    most : int
        The longest run that is told apart.
    steps : int
        A power of two.

    Examples
    --------
    >>> octave_lengths(16, 1), octave_lengths(16, 2), octave_lengths(16, 4)
    ((1, 2, 4, 8, 16), (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16))
    """
    lengths, length = list[int](), 1
    while length <= most:
        lengths.append(length)
        length += max((1 << (length.bit_length() - 1)) // steps, 1)
    return tuple(lengths)
