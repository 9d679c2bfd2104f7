"""The natural logarithm to the same bit on every machine."""

from __future__ import annotations

import numpy as np

_HALF_ROOT = 0.7071067811865476
_LOG_2 = 0.6931471805599453
_TERMS = 11
"""Terms of the series: with |s| <= 0.172 the next one is below 1e-18 of the first."""


def waiting(uniforms: np.ndarray) -> np.ndarray:
    """-ln(1 - u): how long until an event of rate one, drawn from a uniform number by inversion.

    NumPy picks its logarithm by what the processor can do, and those differ in the last bit; a sum of many such times
    then rounds to another cycle now and then. This one uses sums, products and quotients alone, which IEEE 754 fixes:
    1 - u = m 2^e with m in [0.71, 1.42), and ln m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1).

    Parameters
    ----------
    uniforms : float64[count]
        At least 0 and below 1.

    Returns
    -------
    float64[count], at least 0, within 5e-16 of the true value, relatively.

    Examples
    --------
    >>> waiting(np.array([0.0, 0.5]))
    array([0.        , 0.69314718])
    """
    mantissa, exponent = np.frexp(1.0 - uniforms)
    small = mantissa < _HALF_ROOT
    mantissa = np.where(small, mantissa + mantissa, mantissa)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = np.full_like(s, 1.0 / (2 * _TERMS - 1))
    for k in range(_TERMS - 2, -1, -1):
        series *= square
        series += 1.0 / (2 * k + 1)
    return 0.0 - (exponent - small) * _LOG_2 - 2.0 * s * series
