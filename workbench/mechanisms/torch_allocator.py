"""PyTorch's allocator: recorded requests under its settings."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, words

MECHANISM = Manifest(
    name="torch_allocator",
    engine="workbench.engines.torch_allocator.engine:TorchAllocator",
    record="workbench.records.torch_allocator:AllocatorRecord",
    events="workbench.records.torch_allocator:events",
    measured="workbench.metrics.torch_allocator",
    measures=words(
        """
        reserved_peak_bytes live_peak_bytes fragmentation driver_calls driver_ns pages_mapped flushes refused
        refused_though_cached recorded_reserved_peak_bytes segment_allocs segment_allocs_reproduced allocs
        addresses_reproduced
        """
    ),
    figures={
        "reserved_over_program": "workbench.figures.reserved_memory:RESERVED_OVER_PROGRAM_FIGURE",
        "recorded_against_replayed": "workbench.figures._recorded_against_replayed:RECORDED_AGAINST_REPLAYED_FIGURE",
    },
    compile_seconds=10,
)
