"""How fast the groups of a module get on: each at its full rate, or at one that they share (spec 7, R24 and R25).

Rates are whole numbers of 2^-20, taken from exact fractions of the decimals as they are written. The law `linear` was
compared with two cards; `capacity` and `table` are assumed. A slope belongs to a kernel on a card, so that there is no
measured default. Engines take constant rates unless an option says otherwise.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import Family, lever

RATE_UNIT = 1 << 20
"""The whole number that stands for a full rate."""


class Law(Family, noun="law of shared rates", example="{capacity: {full_rate: 4}}"):
    """The base of every law: the rate of each of n residents of a module, 1 where there is one."""

    def rate(self, residents: int) -> Fraction:
        """Return the exact rate of each of so many residents, at least one."""
        raise NotImplementedError


class Linear(Law):
    """Every further resident slows each down by the same part of its time: 1 / (1 + slope (n - 1)).

    >>> Linear(slope=1.0).rate(4)
    Fraction(1, 4)
    """

    slope: float = lever(1.0, least=0, most=1e6, description="how much longer one more resident makes each take")

    def rate(self, residents: int) -> Fraction:
        return 1 / (1 + Fraction(str(self.slope)) * (residents - 1))


class Capacity(Law):
    """A module does so much at once; more residents share it evenly: min(1, c / n).

    >>> Capacity(full_rate=2.0).rate(2), Capacity(full_rate=2.0).rate(6)
    (Fraction(1, 1), Fraction(1, 3))
    """

    full_rate: float = lever(4.0, least=1, most=1e6, description="residents that all get on at the full rate (c)")

    def rate(self, residents: int) -> Fraction:
        return min(Fraction(1), Fraction(str(self.full_rate)) / residents)


class RateTable(Law):
    """The rate of each of 1, 2, 3, ... residents; the last value goes on.

    >>> RateTable(rates=(1.0, 0.8, 0.5)).rate(7)
    Fraction(1, 2)
    """

    rates: tuple[float, ...] = lever((1.0,), least=0, most=1, description="the rate of each of 1, 2, 3, ... residents")

    def check(self) -> None:
        if not self.rates or self.rates[0] != 1.0:
            raise wrong_value(
                "", f"{self.name}.rates", "must begin with 1, the rate of a group alone", list(self.rates)
            )

    def rate(self, residents: int) -> Fraction:
        return Fraction(str(self.rates[min(residents, len(self.rates)) - 1]))


class Progress(Family, noun="progress of groups", example="{shared_rate: {law: {linear: {slope: 0.5}}}}"):
    """The base of how groups get on."""

    shared: ClassVar[bool] = True
    """Whether the rate of a group depends on the others of its module."""
    of: str = "groups"

    def rates(self, most: int) -> np.ndarray:
        """Return the rate of each of 1 to `most` residents in 2^-20: int64[most + 1], that of none at 0.

        Raises
        ------
        InputError
            A rate is 0: such groups would never end.
        """
        raise NotImplementedError


class Constant(Progress):
    """A group lasts its duration, whatever else runs in its module.

    >>> Constant().rates(3).tolist()
    [0, 1048576, 1048576, 1048576]
    """

    shared = False

    def rates(self, most: int) -> np.ndarray:
        return np.array([0, *[RATE_UNIT] * most])


class SharedRate(Progress):
    """A group's duration is work, done at a rate that the residents of its module share.

    Residents are all that hold resources, those that wait at a barrier and endless ones too. By waves, a group of
    several waves is slower than 1 even alone.

    References
    ----------
    spec 7, R24, R25, V8, V17. `linear` with a fitted slope, on points that were not fitted (`data/validation`):

    - n-body, two groups a unit of an MI300A, slope 0.30: 6.4 % off, constant durations 17.9 %;
    - two compute-bound kernels on a GTX 950, slope 0.5: their span 1.2 % off, constant durations 18 %;
    - two memory-bound kernels there, slope 0.15: their span 5.0 % off, constant durations 5.1 %: refuted;
    - the begin of the second of two compute-bound kernels there: 1.4 us off, a straight line 1.8 us;
    - the begin of the second of two memory-bound ones: 9.2 us off, a straight line 8.1 us: refuted.

    For the begins a unit takes a group as often as a full one ends one.

    The laws `capacity` and `table`, residents counted by waves, and waiting groups as residents are assumed.

    Examples
    --------
    >>> SharedRate(law=Linear(slope=2.0)).rates(2).tolist()
    [0, 1048576, 349525]
    """

    law: Law = lever(Linear(), description="the rate of each of n residents")
    of: Literal["groups", "waves"] = lever("groups", description="what counts as a resident")

    def rates(self, most: int) -> np.ndarray:
        rates = [int(self.law.rate(n) * RATE_UNIT) for n in range(1, most + 1)]
        if 0 in rates:
            raise InputError(
                f"options.progress.{self.name}: the rate of {rates.index(0) + 1} residents is 0, so they would never "
                "end; a rate must be at least 2^-20."
            )
        return np.array([0, *rates])
