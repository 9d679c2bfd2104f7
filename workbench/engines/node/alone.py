"""Every application by itself, with the numbers by chance that it has among the others (spec 6, E6, N59)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.streams import Streams
from workbench.workloads.node import Applications


class Alone:
    """A workload of which one application runs: the others keep their numbers, and do nothing."""

    name = "alone"

    def __init__(self, applications: Applications, number: int) -> None:
        self._applications, self._number = applications, number

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the applications."""
        return tuple(
            one if number == self._number else replace(one, streams=()) for number, one in enumerate(self._applications)
        )


def alone(applications: Applications) -> Iterator[Alone]:
    """Yield a workload for each application, in the order of their numbers."""
    for number in range(len(applications)):
        yield Alone(applications, number)
