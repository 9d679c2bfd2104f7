"""Groups of a log of blocks: as in `trace_groups`, but each group lasts as long as its block did on the card.

A log holds where and when each block ran (`importers.block_times`). Where it ran is the truth that a dispatcher is
compared with (`workbench validate --from-files`), so a workload takes from it the arrival of each kernel and the
durations alone.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.units import cycles_each
from workbench.workloads.importers.block_times import BlockLog, is_block_log, read_blocks
from workbench.workloads.recorded import TraceFile
from workbench.workloads.synthetic.instructions import NoInstructions
from workbench.workloads.trace_groups import TraceGroups, _window
from workbench.workloads.workload import Groups


class TraceBlocks(TraceGroups):
    """The blocks of every kernel of a log, each in the channel of its stream, in the order of their numbers."""

    durations: Literal["blocks", "kernels"] = lever(
        "blocks",
        description="a workgroup's duration: what was recorded of its block, or of its kernel by `duration_rule`",
    )

    @classmethod
    def reads(cls, path: str) -> bool:
        """Return whether a file is a log of blocks."""
        return is_block_log(path)

    def groups(self, machine: Any, streams: Streams) -> Groups:
        """Return the groups, in the order of their kernels' starts; errors as of `trace_groups`."""
        if self.durations == "kernels":
            return super().groups(machine, streams)
        groups = TraceGroups.groups(self.but(instructions=NoInstructions()), machine, streams)
        kernels, log = self._kernels(machine), block_log(self.trace_file())
        part = _window(len(kernels.rows), self.windows, streams.seed)
        taken = kernels.taken[part]
        starts = [int(log.start_ns[log.kernel == kernel].min()) for kernel in range(len(log.names))]
        by_start = np.argsort(starts, kind="stable")
        first = np.searchsorted(log.kernel, by_start[kernels.rows[part]])
        blocks = np.concatenate([np.arange(at, at + count) for at, count in zip(first, taken, strict=True)])
        lasting = (log.end_ns - log.start_ns)[blocks[: len(groups.waves)]]
        lasting_cycles = np.maximum(cycles_each(lasting, machine.clock_mhz), 1)
        ranks = np.repeat(kernels.size_ranks[kernels.rows[part]], taken)[: len(lasting_cycles)]
        drawn = self.instructions.counts(groups.waves, lasting_cycles, ranks, streams)
        return groups._replace(duration=lasting_cycles, instructions=drawn)


@lru_cache(maxsize=4)
def block_log(file: TraceFile) -> BlockLog:
    """Return the blocks of a log, read once for all runs of a sweep."""
    return read_blocks(file.path)
