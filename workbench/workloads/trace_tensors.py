"""A memory snapshot of PyTorch as requests to its allocator."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.allocator_log import OTHER
from workbench.workloads.recorded import OfTrace, trace_in
from workbench.workloads.tensor_requests import TensorRequests, recorded_program


class TraceTensors(OfTrace):
    """The history of a memory snapshot: what was asked, and how the recorded allocator answered."""

    device: int = lever(-1, least=-1, most=1 << 31, description="the card whose history is taken; -1 = all")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        self._requests(where)

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        return self._requests()

    def _requests(self, where: str = "") -> TensorRequests:
        try:
            logs = trace_in(self.found()).logs
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None
        kept = tuple(log for log in logs if self.device in (-1, log.device) and (log.events.action < OTHER).any())
        if not kept:
            there = ", ".join(str(log.device) for log in logs if np.any(log.events.action < OTHER))
            cure = (
                f"it has one of device {there}" if there else "record one with torch.cuda.memory._record_memory_history"
            )
            raise InputError(at(where, f"{self.trace}: holds no history of PyTorch's allocator; {cure}."))
        return recorded_program(kept, self.trace)
