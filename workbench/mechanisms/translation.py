"""Translation: which core already holds an address translation."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, by_name, words

MECHANISM = Manifest(
    name="translation",
    engine="workbench.engines.translation:Translation",
    record="workbench.records.translation:TranslationRecord",
    events="workbench.records.translation:events",
    slots=by_name("locate peer fill remote_fill eviction") | {"shared_eviction": "eviction"},
    rooms=("workbench.policies.translation",),
    policies={
        "eviction": words(
            """
            arc drrip fifo lfu lru mru protect_low_degree random s3fifo sharing_aware_eviction srrip tree_plru
            """
        ),
        "fill": words("demand_always gate_any gate_pair gate_when_full leader_follower push_neighbours push_pair"),
        "locate": words("central_directory clustered directory no_directory ring_probe"),
        "peer": words("first_bit least_loaded nearest random"),
        "remote_fill": words("always never threshold"),
    },
    measured="workbench.metrics.translation",
    measures=words(
        """
        private_hit_rate peer_hit_rate middle_hit_rate middle_per_kilo near_hit_rate shared_per_kilo walks_per_kilo
        merged_per_kilo latency_mean_cycles latency_p99_cycles miss_latency_mean_cycles private_latency_mean_cycles
        accesses_per_kilocycle makespan_cycles noc_messages_per_kilo update_messages_per_kilo
        shootdown_messages_per_kilo noc_queue_cycles_mean remote_per_kilo stale_rate pushes_per_kilo push_pollution
        push_use refused_fills_per_kilo fills_per_kilo bypassed_entries_per_kilo walk_queue_cycles_mean
        walk_queue_share walker_utilization joined_walks_per_kilo walk_levels_mean port_wait_cycles_mean
        mshr_wait_cycles_mean mshr_stalls_per_kilo drain_share sharing_degree_mean reach_wasted power_proxy_cv
        shot_down
        """
    ),
    figures={
        "network_load": "workbench.figures.run_curves:NETWORK_LOAD_FIGURE",
        "sharing_degrees": "workbench.figures.run_curves:SHARING_DEGREES_FIGURE",
        "served_by": "workbench.figures.translation:SERVED_BY_FIGURE",
        "latency_distribution": "workbench.figures.translation:LATENCY_DISTRIBUTION_FIGURE",
        "core_affinity": "workbench.figures.translation:CORE_AFFINITY_FIGURE",
    },
    circuits={
        "workbench.circuits.translation:MAKERS": words("peer.first_bit eviction.lru eviction.mru"),
    },
    claims={
        "workbench.claims.translation:CLAIMS": words(
            """
            H4.1 H4.1b H4.1c H4.2 H4.2b H4.2c H4.2d H4.3 H4.4 H4.5 H4.6 H4.7 H4.8 H4.9
            """
        ),
    },
    dashboard="workbench.dashboards._translation:translation_dashboard",
    page="mechanisms/translation.md",
    compile_seconds=50,
)
