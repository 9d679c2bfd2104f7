"""Assignment of a kernel's workgroups to cores: in turn, in blocks, or as listed."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family, lever


class CoreAssignment(Family, noun="dispatch order", example="{blocked: 4}"):
    """The base of every assignment; a core that is named beyond the machine's is refused by `check_cores`."""

    def core_of(self, workgroup: np.ndarray, workgroups: int, cores: int) -> np.ndarray:
        """Return the core of each workgroup.

        Parameters
        ----------
        workgroup : int64[count]
            Numbers in the grid, x fastest.
        workgroups : int
            How many the grid has.
        cores : int
            How many the machine has.

        Returns
        -------
        int64[count]
        """
        raise NotImplementedError

    def period(self, workgroups: int, cores: int) -> int:
        """Return the workgroups in a row among which every core has its share."""
        return cores

    def check_cores(self, cores: int, path: str) -> None:
        """Refuse a core that the machine does not have."""


class RoundRobin(CoreAssignment):
    """Workgroup i goes to core i mod cores: what MGPUSim's and GPGPU-Sim's dispatchers do while all cores have space.

    >>> RoundRobin().core_of(np.arange(5), 5, 2).tolist()
    [0, 1, 0, 1, 0]
    """

    def core_of(self, workgroup: np.ndarray, workgroups: int, cores: int) -> np.ndarray:
        return workgroup % cores


class Blocked(CoreAssignment):
    """So many workgroups in a row go to a core, then as many to the next; 0 = the grid divided evenly by the cores.

    >>> Blocked().core_of(np.arange(5), 5, 2).tolist(), Blocked(size=1).core_of(np.arange(5), 5, 2).tolist()
    ([0, 0, 0, 1, 1], [0, 1, 0, 1, 0])
    """

    brief = ("size",)
    size: int = lever(
        0, least=0, most=1 << 30, unit="workgroups", description="workgroups in a row on a core; 0 = all its"
    )

    def core_of(self, workgroup: np.ndarray, workgroups: int, cores: int) -> np.ndarray:
        return workgroup // self._size(workgroups, cores) % cores

    def period(self, workgroups: int, cores: int) -> int:
        return self._size(workgroups, cores) * cores

    def _size(self, workgroups: int, cores: int) -> int:
        return self.size or max(-(-workgroups // cores), 1)


class Listed(CoreAssignment):
    """Workgroup i goes to the i-th core of a list, which begins again at its end: what a dispatcher was seen to do.

    >>> Listed(cores=(2, 0, 0)).core_of(np.arange(5), 5, 4).tolist()
    [2, 0, 0, 2, 0]
    """

    brief = ("cores",)
    cores: tuple[int, ...] = lever(
        (0,), least=0, most=1023, description="the core of each workgroup, in order of the grid"
    )

    def check(self) -> None:
        if not self.cores:
            raise InputError(f"{self.name}.cores must name at least one core. Got [].")

    def core_of(self, workgroup: np.ndarray, workgroups: int, cores: int) -> np.ndarray:
        return np.array(self.cores, np.int64)[workgroup % len(self.cores)]

    def period(self, workgroups: int, cores: int) -> int:
        return len(self.cores)

    def check_cores(self, cores: int, path: str) -> None:
        if max(self.cores) >= cores:
            expected = f"must name cores below {cores}, all that the machine has"
            raise InputError(f"{path}.cores {expected}. Got {max(self.cores)}. Nearest: {cores - 1}.")
