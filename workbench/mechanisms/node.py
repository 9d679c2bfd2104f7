"""The node: all five mechanisms on the same cards at once."""

from __future__ import annotations

from workbench.mechanisms.dispatch import MECHANISM as DISPATCH
from workbench.mechanisms.malloc import MECHANISM as MALLOC
from workbench.mechanisms.manifest import Manifest, words
from workbench.mechanisms.pool import MECHANISM as POOL
from workbench.mechanisms.translation import MECHANISM as TRANSLATION

MECHANISM = Manifest(
    name="node",
    engine="workbench.engines.node.engine:Node",
    record="workbench.records.node:NodeRecord",
    events="workbench.records.node:events",
    slots={**DISPATCH.slots, **TRANSLATION.slots, **MALLOC.slots, **POOL.slots, "frames": "frames"},
    rooms=(
        "workbench.policies.placement",
        "workbench.policies.probes",
        "workbench.policies.dispatch",
        "workbench.policies.translation",
        "workbench.policies.malloc",
        "workbench.policies.pool",
    ),
    policies={
        "frames": words("longest lowest"),
    },
    measured="workbench.metrics.node",
    measures=words(
        """
        makespan_cycles groups_per_mcycle groups_per_second steps_per_second group_p50_cycles group_p99_cycles
        group_p50_memory_cycles group_p50_channel_cycles group_p50_compute_cycles group_p50_issue_cycles
        group_p50_walkers_cycles group_p50_translation_cycles group_p50_link_cycles group_p50_malloc_lock_cycles
        group_p50_malloc_service_cycles group_p50_heap_chunk_cycles group_p50_shoot_down_cycles
        group_p99_memory_cycles group_p99_channel_cycles group_p99_compute_cycles group_p99_issue_cycles
        group_p99_walkers_cycles group_p99_translation_cycles group_p99_link_cycles group_p99_malloc_lock_cycles
        group_p99_malloc_service_cycles group_p99_heap_chunk_cycles group_p99_shoot_down_cycles
        group_slowest_memory_cycles group_slowest_channel_cycles group_slowest_compute_cycles
        group_slowest_issue_cycles group_slowest_walkers_cycles group_slowest_translation_cycles
        group_slowest_link_cycles group_slowest_malloc_lock_cycles group_slowest_malloc_service_cycles
        group_slowest_heap_chunk_cycles group_slowest_shoot_down_cycles group_mean_cycles group_mean_memory_cycles
        group_mean_channel_cycles group_mean_compute_cycles group_mean_issue_cycles group_mean_walkers_cycles
        group_mean_translation_cycles group_mean_link_cycles group_mean_malloc_lock_cycles
        group_mean_malloc_service_cycles group_mean_heap_chunk_cycles group_mean_shoot_down_cycles memory_share
        channel_share compute_share issue_share walkers_share translation_share link_share malloc_lock_share
        malloc_service_share heap_chunk_share shoot_down_share slowdown_mean slowdown_max groups_ended
        groups_cancelled kernels_refused groups_refused applications_refused fairness fragmentation_shared
        fragmentation_registers fragmentation_cards reserved_over_live live_mean_bytes reserved_mean_bytes
        private_hit_rate near_hit_rate shared_per_kilo walks_per_kilo remote_share shoot_downs stalled_modules
        malloc_nulls heap_chunks energy_joules power_mean_watts power_cv power_peak_over_mean temperature_spread_k
        temperature_peak_k
        """
    ),
    figures={
        "where_time_goes": "workbench.figures._where_time_goes:WHERE_TIME_GOES_FIGURE",
    },
    claims={
        "workbench.claims.node:CLAIMS": words("H6.1 H6.1b H6.2 H6.3 H6.4 H6.5 H6.6 H6.7 H6.8"),
    },
    dashboard="workbench.dashboards._node:node_dashboard",
    page="mechanisms/node.md",
    compile_seconds=120,
)
