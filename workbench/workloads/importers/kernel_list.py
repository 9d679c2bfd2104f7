"""A list of kernels that were measured one by one: what they ask for, and perhaps how long they ran, but not when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.workloads.importers.trace import Trace


class KernelList(Trace):
    """A trace without starts: kernels follow one another in the order of the list, without a gap."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of a trace without those that need starts."""
        result = super().facts()
        result.pop("span_ns", None)
        if not self.kernels.duration_ns.any():
            for name in ("total_duration_ns", "zero_durations"):
                result.pop(name, None)
        return result

    def missing(self, needed: Sequence[str] = ("workgroups", "shared_bytes")) -> list[str]:
        """Return a clause for each thing that a workload needs and the list lacks."""
        messages = [clause for clause in super().missing(needed) if " last 0 ns " not in clause]
        if self.kernels.rows and not self.kernels.duration_ns.any():
            messages.append(f"it holds no times ({self.noted.get('times_from', 'record a trace as well')})")
        return messages
