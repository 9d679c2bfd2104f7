"""A process that differs from the driver in all that no run may depend on, so that what does depend on it shows."""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from workbench.hash_seed import FIXED, VARIABLE

AHEAD_SECONDS = 1009 * 86400 + 5 * 3600 + 17 * 60 + 23
"""By how much the clock of such a process is ahead: another year, month, day of the week, hour, minute and second."""

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_COUNT_ON_DATES = ("cftime", "dateutil", "pandas", "polars", "psycopg2", "pyarrow", "pytz", "sqlalchemy", "xarray")
"""Packages whose compiled code, or that of what they import, takes Python's own class of dates for granted."""

DIFFERENCES = "another hash seed, time zone, clock, working directory and number of threads"
"""What such a process has, as a part of a sentence."""


def environment_elsewhere() -> dict[str, str]:
    """Return what stands in the environment of such a process; machine code of the engines is kept where it is.

    >>> environment_elsewhere()["PYTHONHASHSEED"] == FIXED
    False
    """
    zone = "Pacific/Kiritimati" if os.environ.get("TZ") != "Pacific/Kiritimati" else "America/Caracas"
    kept = {name: os.path.abspath(place) for name in ("NUMBA_CACHE_DIR",) if (place := os.environ.get(name))}
    return {**dict.fromkeys(_THREADS, "2"), VARIABLE: str(int(FIXED) + 1), "TZ": zone, **kept}


def path_elsewhere() -> list[str]:
    """Return where such a process imports from: the same places, though it works in another folder."""
    return [os.path.abspath(place) for place in sys.path if isinstance(place, str)]


def shift_clock(seconds: int = AHEAD_SECONDS) -> None:
    """Set the clock of this process ahead, for all that Python code asks for the time of day."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + seconds * 10**9
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_shifted(getattr(time, name)))
    strftime, asctime, localtime = time.strftime, time.asctime, time.localtime
    time.strftime = lambda text, when=None: strftime(text, localtime() if when is None else when)
    time.asctime = lambda when=None: asctime(localtime() if when is None else when)
    ahead = datetime.timedelta(seconds=seconds)
    original = datetime.datetime

    class Shifted(original):  # type: ignore[misc,valid-type]
        """A date with its time, whose `now` is ahead."""

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + ahead

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.UTC).replace(tzinfo=None)

    class Restoring:
        """Gives the class back before a package is imported that counts on Python's own."""

        def find_spec(self, name: str, *more: Any) -> None:
            if name in _COUNT_ON_DATES:
                vars(datetime)["datetime"] = original

    sys.meta_path.insert(0, Restoring())
    Shifted.__name__ = Shifted.__qualname__ = original.__name__
    Shifted.__module__ = original.__module__
    vars(datetime)["datetime"] = Shifted


def _of_shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda seconds=None: function(time.time() if seconds is None else seconds)
