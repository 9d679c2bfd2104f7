"""A workload is one frozen value that says what is asked of the machine; asked with a seed it gives request columns.

A workload that is drawn at random uses named streams of the seed alone, so every policy of a comparison meets the same
requests.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.levers import Spec
from workbench.streams import Streams


class Workgroups(NamedTuple):
    """Requests to a shared memory: one row a workgroup, in queue order, arrivals not decreasing."""

    arrival: np.ndarray
    """int64[workgroups], the cycle at which each joins the queue."""
    length: np.ndarray
    """int64[workgroups], contiguous segments asked for, at least 1."""
    duration: np.ndarray
    """int64[workgroups], cycles from its start to its release, at least 1."""


class Workload(Spec):
    """The base of every workload."""

    random: ClassVar[bool] = True
    """Whether the seed changes what comes; a trace comes as it was recorded."""

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        """The requests for a machine (`machine.segments`, `machine.granule_bytes`, ...), drawn from named streams."""
        raise NotImplementedError

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        """Refuse, before anything is drawn, a machine that can never serve what is asked of it."""

    def different_seeds(self, machine: Any) -> int | None:
        """How many seeds give different requests on a machine; None = all of them do."""
        return None if self.random else 1
