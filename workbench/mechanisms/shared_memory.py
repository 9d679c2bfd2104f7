"""Shared memory: where a workgroup is placed."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, by_name, words

MECHANISM = Manifest(
    name="shared_memory",
    engine="workbench.engines.shared_memory:SharedMemory",
    record="workbench.records.shared_memory:SharedMemoryRecord",
    events="workbench.records.shared_memory:events",
    slots=by_name("placement queue retry"),
    rooms=("workbench.policies.placement",),
    policies={
        "placement": words(
            """
            alternate_ends best_fit buddy byte_counter compaction first_fit last_fit nearest_boundary next_fit
            paged_memory random_fit ring_buffer segregated_fit size_segregated_ends unsorted_free_list worst_fit
            """
        ),
        "queue": words("fifo_head_only fifo_lookahead"),
        "retry": words("after_k_cycles next_cycle on_release"),
    },
    measured="workbench.metrics.shared_memory",
    measures=words(
        """
        drain_cycles workgroups_per_kilocycle mean_queue mean_free_segments mean_external_fragmentation
        mean_free_runs longest_run_off_middle blocked_though_enough_cycles blocked_though_enough_rate
        blocked_by_fragmentation_cycles blocked_by_fragmentation_rate wear_cv wear_gini wear_max_over_min
        wear_low_over_high low_end_share power_proxy_cv first_try_rate wait_mean_cycles wait_p99_cycles utilisation
        attempts moved_segments
        """
    ),
    circuit_measures={
        "workbench.circuits.measures:SHARED_MEMORY": words("area_gates levels registers relative_area relative_delay"),
    },
    figures={
        "remaining_over_time": "workbench.figures.run_curves:REMAINING_OVER_TIME_FIGURE",
        "free_over_time": "workbench.figures.run_curves:FREE_OVER_TIME_FIGURE",
        "wear_by_segment": "workbench.figures.run_curves:WEAR_BY_SEGMENT_FIGURE",
        "layout_over_time": "workbench.figures._layout_over_time:LAYOUT_OVER_TIME_FIGURE",
        "drain_difference": "workbench.figures.drain_difference:DRAIN_DIFFERENCE_FIGURE",
    },
    circuits={
        "workbench.circuits.placement:MAKERS": words(
            """
            placement.nearest_boundary placement.first_fit placement.last_fit placement.best_fit placement.buddy
            """
        ),
    },
    claims={
        "workbench.claims.placement:CLAIMS": words("H1.1 H1.2 H1.3 H1.4 H1.5 H1.6 H1.7 H1.8 H1.8b H1.9"),
    },
    dashboard="workbench.dashboards._shared_memory:shared_memory_dashboard",
    page="mechanisms/placement.md",
    compile_seconds=10,
)
