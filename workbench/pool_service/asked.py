"""What an application may ask for: numbers that a request can hold."""

from __future__ import annotations

from operator import index

from workbench.errors import InputError

_MOST = 1 << 62
ANY = -_MOST
"""As the least: any number that a request can hold."""


def whole_number(what: str, value: int, least: int) -> int:
    """Read a whole number as an application gives it, of any kind that is whole.

    Raises
    ------
    InputError
        It is not whole, below the least, or more than a request can hold.

    >>> whole_number("a size", True, 1)
    1
    """
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number. Got {value!r}.") from None
    if number < least:
        raise InputError(f"{what} must be at least {least}. Got {number}.")
    if number >= _MOST:
        raise InputError(f"{what} must be below {_MOST}. Got {number}.")
    return number
