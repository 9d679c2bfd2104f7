"""The pool: which card lends memory, and how freed memory is kept."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, by_name, words

MECHANISM = Manifest(
    name="pool",
    engine="workbench.engines.pool:Pool",
    record="workbench.records.pool:PoolRecord",
    events="workbench.records.pool:events",
    slots=by_name("cache cache_fit target idle_release residency") | {"driver": "placement"},
    rooms=("workbench.policies.pool",),
    policies={
        "cache": words(
            """
            bfc binary_buddies expandable_segments no_cache pytorch_caching rmm_pool size_classes split_and_coalesce
            stitching
            """
        ),
        "cache_fit": words("best_fit exact_fit first_fit limited_fit worst_fit"),
        "idle_release": words("keep_all largest least_recently_used smallest_sufficient"),
        "residency": words("managed_memory migrate_back stay"),
        "target": words(
            """
            bandwidth_then_most_free bind consistent_hashing first_touch host_offload interleave least_borrowed
            least_loaded local_only max_bandwidth most_free nearest preferred random_card round_robin two_choices
            weighted_cards
            """
        ),
    },
    measured="workbench.metrics.pool",
    measures=words(
        """
        completed_rate granted_bytes granted_bytes_rate misjudged_rate driver_calls_per_request
        mapping_calls_per_request cache_hit_rate borrowed_rate borrowed_peak_bytes borrowed_bandwidth_gbps
        remote_access_mean_ns borrowed_reading_mean_ns remote_slowdown transfer_mean_ns moves_per_request
        moved_bytes lender_failure_rate lender_entropy utilisation_gini utilisation_std power_proxy_cv
        active_peak_bytes reserved_peak_bytes cached_peak_bytes cached_peak_card_bytes fragmentation unused_rate
        reserved_unused_rate span_ns allocations_per_millisecond latency_mean_ns latency_p99_ns waited_rate
        waited_in_vain_rate wait_mean_ns wait_p99_ns never_asked_rate fallbacks misused_frees
        """
    ),
    figures={
        "region_layout": "workbench.figures._region_layout:REGION_LAYOUT_FIGURE",
        "memory_by_card": "workbench.figures._memory_by_card:MEMORY_BY_CARD_FIGURE",
        "reserved_over_requests": "workbench.figures.reserved_memory:RESERVED_OVER_REQUESTS_FIGURE",
        "lending_graph": "workbench.figures._lending_graph:LENDING_GRAPH_FIGURE",
        "reading_over_bound": "workbench.figures._reading_over_bound:READING_OVER_BOUND_FIGURE",
    },
    circuits={
        "workbench.circuits.pool:MAKERS": words("target.weighted_cards"),
    },
    claims={
        "workbench.claims.pool:CLAIMS": words(
            """
            H5.1 H5.1b H5.2 H5.3 H5.4 H5.5 H5.6 H5.7 H5.8 H5.9 H5.9b H5.10 H5.11 H5.11b
            """
        ),
    },
    dashboard="workbench.dashboards._pool:pool_dashboard",
    page="mechanisms/pool.md",
    compile_seconds=35,
)
