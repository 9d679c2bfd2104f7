"""A generator, and a reader of a format of traces."""

import json

import numpy as np

import workbench as wb
from workbench.levers import lever
from workbench.workloads.importers import Importer, Trace
from workbench.workloads.kernels import KernelRows
from workbench.workloads.workload import Workgroups


class Pairs(wb.Generator):
    """Workgroups that join the queue in pairs."""

    count: int = lever(20, least=1, most=10**6, unit="workgroups", description="how many there are")

    def workgroups(self, machine, streams):
        """Return the requests."""
        length = streams["sizes"].integers(1, machine.segments // 2, self.count)
        return Workgroups(np.arange(self.count) // 2 * 50, length, np.full(self.count, 60))


class StopwatchLines(Importer):
    """Reads JSON lines of a stopwatch."""

    format = "stopwatch_lines"
    description = "JSON lines of a stopwatch"
    counted = "kernels"

    def recognises(self, head):
        """Return whether contents begin as this format does."""
        return head.startswith(b'{"stopwatch_lines"')

    def read(self, source):
        """Read the trace."""
        rows = KernelRows()
        for line in list(source.lines())[1:]:
            one = json.loads(line)
            rows.add(name=one["name"], start_ns=one["start"], duration_ns=one["ns"], device=0, stream=0, workgroups=8)
        return Trace(path=source.path, format=self.format, counted="kernels", kernels=rows.table())
