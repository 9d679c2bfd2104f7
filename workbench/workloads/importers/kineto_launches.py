"""The calls that launched the kernels of a Kineto trace of an AMD card, joined to the kernels by `correlation`.

What a grid counts depends on the call. `hipLaunchKernel` takes workgroups. `hipExtModuleLaunchKernel` takes work-items,
and both back ends of Kineto write them into the grid as they are: roctracer (libkineto/src/RoctracerLogger.cpp reads
one union member for all calls on modules) and rocprofiler-sdk (libkineto/src/RocprofLogger.cpp stores `globalWorkSize`
where it stores `gridDim`; before pytorch/kineto#1418, in June 2026, it stored zeros for calls on modules).
"""

from __future__ import annotations

import re
from array import array
from typing import NamedTuple

import msgspec
import numpy as np

from workbench.units import workgroups_for
from workbench.workloads.importers.kineto_events import Event, LaunchArgs, arguments
from workbench.workloads.kernels import MISSING

_LAUNCH = re.compile(rb'"hip\w*Launch\w*Kernel\w*"')
_IN_WORK_ITEMS = (b'"hipExtModuleLaunchKernel"', b'"hipHccModuleLaunchKernel"')
_launch_args = msgspec.json.Decoder(LaunchArgs, strict=False)


def is_launch(name: bytes) -> bool:
    """Return whether a call of this name, with its quotes, launches a kernel on an AMD card.

    >>> is_launch(b'"hipExtModuleLaunchKernel"'), is_launch(b'"hipGraphLaunch"'), is_launch(b'"cudaLaunchKernel"')
    (True, False, False)
    """
    return name.startswith(b'"hip') and _LAUNCH.fullmatch(name) is not None


class Launched(NamedTuple):
    """What is known of each kernel's launch."""

    found: np.ndarray
    """bool[kernels], whether the trace holds the call."""
    in_work_items: np.ndarray
    """bool[kernels], whether that call counts its grid in work-items."""
    shared_bytes: np.ndarray
    """int64[kernels], the dynamic shared memory that it asked for; MISSING where that was not recorded."""


class Launches:
    """Gathers the launching calls, three numbers each."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._correlation, self._shared, self._in_work_items = array("q"), array("q"), array("b")

    def add(self, event: Event, place: str) -> None:
        """Keep one call; a call without a correlation number joins nothing."""
        args = arguments(_launch_args, event, self._where, place)
        if args.correlation is None:
            return
        self._correlation.append(args.correlation)
        self._shared.append(MISSING if args.shared is None else args.shared)
        self._in_work_items.append(bytes(event.name) in _IN_WORK_ITEMS)

    def __len__(self) -> int:
        return len(self._correlation)

    def of(self, correlation: np.ndarray | None, kernels: int) -> Launched:
        """Return what is known of the launch of each kernel; where two calls have one number, the first counts."""
        none = Launched(np.zeros(kernels, bool), np.zeros(kernels, bool), np.full(kernels, MISSING))
        if correlation is None or not len(self):
            return none
        numbers, first = np.unique(np.array(self._correlation, np.int64), return_index=True)
        place = np.minimum(np.searchsorted(numbers, correlation), len(numbers) - 1)
        result = (numbers[place] == correlation) & (correlation != MISSING)
        row = first[place]
        shared = np.where(result, np.array(self._shared, np.int64)[row], MISSING)
        return Launched(result, result & np.array(self._in_work_items, bool)[row], shared)


def in_workgroups(grid: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Return how many workgroups a grid of work-items has: int64[rows].

    Parameters
    ----------
    grid, block : int64[rows, 3]
        Work-items along each axis, of the grid and of a workgroup.

    Examples
    --------
    >>> in_workgroups(np.array([[1000, 2, 1]]), np.array([[256, 1, 1]]))
    array([8])
    """
    return np.prod(workgroups_for(grid, block), axis=1)
