"""A few small setups an engine, chosen so that together they pass through most of its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SNAPSHOT = str(Path(__file__).parents[2] / "data" / "made_up_snapshot.pickle.gz")
"""The made-up training loop of the sixth notebook."""

UNMAPPED = str(Path(__file__).with_name("unmapped.csv"))
"""Accesses of four cores to pages that some of them unmap."""

NODE = {"card": {"compute_units": 4}, "translation": {"cores": 4}}
COUPLED = {"memory": "wait", "touches_hold": "group", "remote": "link", "malloc": "wait", "history": True}
"""A node in which everything acts on everything."""

SETUPS: dict[str, dict[str, dict[str, Any]]] = {
    "dispatch": {
        "as documented": {
            "machine": "patent_dispatch",
            "workload": {"regime": "mixed", "count": 30},
            "options": {"power": "class_power", "heat": "rc_heat"},
        },
        "probes and windows": {
            "machine": "patent_dispatch",
            "workload": {"regime": "saturation", "count": 30},
            "policy": {
                "probe": {"grouped_run": {"groups": 4}},
                "placement": "best_fit",
                "priority": "priority_windows",
                "selection": {"deficit_round_robin": {}},
                "choice": "least_recent_energy",
            },
            "options": {"power": "class_power"},
        },
        "splitting": {
            "machine": "patent_dispatch",
            "workload": {"regime": "stuck", "count": 30, "duration": {"uniform": [100, 1000]}},
            "policy": {
                "stuck": {"split_when_stuck": {"threshold": 16}},
                "units": "least_loaded",
                "choice": "worst_fit_module",
            },
        },
        "backfill and ageing": {
            "machine": "patent_dispatch",
            "workload": {"regime": "head_of_line", "count": 30},
            "policy": {
                "stuck": "backfill",
                "priority": "ageing",
                "selection": {"lottery": {}},
                "choice": "two_choices",
                "placement": "first_fit",
            },
        },
        "blocks per wave": {
            "machine": "patent_dispatch",
            "workload": {"regime": "mixed", "count": 30},
            "policy": {"placement": "first_fit", "shared_placement": "worst_fit", "choice": "coolest_first"},
            "options": {"blocks_on_a_unit": "per_wave", "power": "class_power", "heat": "rc_heat"},
        },
        "other dispatchers": {
            "machine": "patent_dispatch",
            "workload": {"regime": "concurrent_kernels", "count": 30},
            "policy": {
                "priority": "no_priority",
                "selection": {"channel_round_robin": {"among": "all_that_fit"}},
                "choice": "round_robin",
                "placement": "random_fit",
                "units": "random_rotation",
            },
        },
        "rounds of five": {
            "machine": "patent_dispatch",
            "workload": {"regime": "mixed", "count": 20},
            "policy": {
                "priority": {"priority_windows": {"lengths": [14, 5, 3, 2]}},
                "selection": "strict_blocking",
                "choice": {"weighted_choice": {}},
                "probe": "bit_serial",
                "units": "rotated_split",
                "shared_placement": "random_fit",
                "placement": "random_fit",
            },
            "options": {
                "round_cycles": 5,
                "dispatches_a_round": 2,
                "module_tie": "random",
                "blocks_on_a_unit": "per_wave",
            },
        },
        "waves by the clock": {
            "machine": "patent_dispatch",
            "workload": {"regime": "stuck", "count": 16, "duration": {"uniform": [100, 400]}},
            "policy": {
                "stuck": {"split_when_stuck": {"threshold": 4}},
                "priority": "earliest_deadline",
                "selection": "stride",
                "choice": "least_recent_activity",
                "probe": "shared_run",
            },
            "options": {"module_tie": "rotating", "power": "class_power"},
            "events": False,
        },
        "history that fades": {
            "machine": "patent_dispatch",
            "workload": {"regime": "large_groups", "count": 16},
            "policy": {
                "priority": "static_priority",
                "selection": "multilevel_feedback",
                "choice": "least_decayed_energy",
                "units": "no_rotation",
                "placement": "ring_buffer",
            },
            "options": {"power": "class_power", "round_cycles": 3},
        },
    },
    "malloc": {
        "aggregated": {"machine": "h100", "workload": {"regime": "mixed_sizes", "threads": 512}},
        "each thread, ticket lock": {
            "machine": "h100",
            "workload": {"regime": "churn", "threads": 256},
            "policy": {
                "serve": "per_thread",
                "lock": "ticket_lock",
                "arenas": {"warp_arenas": {"arenas": 4, "probes": 2}},
            },
        },
        "size classes, lock-free": {
            "machine": "h100",
            "workload": {"regime": "bimodal_sizes", "threads": 256},
            "policy": {"heap": "size_classes", "lock": "lock_free"},
        },
        "bump pointer, backoff": {
            "machine": "h100",
            "workload": {"regime": "sparse_lanes", "threads": 256},
            "policy": {"heap": "bump_pointer", "lock": "trylock_backoff", "serve": "block_aggregated"},
        },
        "occupied heap": {
            "machine": "h100",
            "workload": {"regime": "log_normal_sizes", "threads": 256},
            "policy": {"heap": {"bitmap_arena": {"placement": "first_fit"}}, "lock": "queue_lock"},
            "options": {"heap_bytes": 2097152, "occupancy": 0.5},
        },
        "a heap too small": {
            "machine": "h100",
            "workload": {"regime": "churn", "threads": 96},
            "policy": {
                "serve": {
                    "block_aggregated": {
                        "failure_policy": "halve_and_retry",
                        "block_size": 64,
                        "free_policy": "piecewise",
                        "align": 16,
                    }
                },
                "lock": "trylock_spin",
                "arenas": "hashed_arenas",
                "heap": {"bitmap_arena": {"placement": "first_fit"}},
            },
            "options": {"heap_bytes": 8192, "atomics": "with_waiters"},
        },
        "size classes run out": {
            "machine": "h100",
            "workload": {"regime": "thread_number", "threads": 128},
            "policy": {
                "serve": {"warp_aggregated": {"failure_policy": "per_thread_fallback", "free_policy": "arena"}},
                "lock": "lock_free",
                "arenas": "size_arenas",
                "heap": "size_classes",
            },
            "options": {"heap_bytes": 16384},
        },
        "a bump pointer at its end": {
            "machine": "h100",
            "workload": {"regime": "small_equal", "threads": 96},
            "policy": {"serve": "per_thread", "lock": "queue_lock", "heap": "bump_pointer"},
            "options": {"heap_bytes": 2048},
            "events": False,
        },
    },
    "node": {
        "neutral stencil": {
            "machine": NODE,
            "workload": {"synthetic": "stencil_steps", "count": 2, "steps": 2, "kernel_groups": 12},
        },
        "everything waits": {
            "machine": NODE,
            "workload": {"synthetic": "small_kernels", "count": 2, "kernels": 4, "kernel_groups": 4},
            "policy": {"locate": "directory", "frames": "longest", "residency": "migrate_back"},
            "options": {**COUPLED, "shootdown_cycles": 50, "pages": "largest"},
        },
        "affinity": {
            "machine": NODE,
            "workload": {"synthetic": "graph_steps", "count": 2, "steps": 2, "kernel_groups": 12},
            "policy": {"choice": "affinity", "locate": "no_directory"},
            "options": {**COUPLED, "pages": "64k", "kernel_card": "most_bytes", "touches_a_phase": 4},
        },
        "links and a full card": {
            "machine": {"cards": 2, "modules": 2, "left_mib": 4},
            "workload": {"synthetic": "graph_steps", "count": 2, "steps": 1, "kernel_groups": 4},
            "policy": {"locate": "directory", "fill": "demand_always"},
            "options": {
                **COUPLED,
                "pages": "64k",
                "shootdown_cycles": 500,
                "touches_a_phase": 8,
                "link_latency_ns": 500,
            },
        },
        "refused": {
            "machine": {"cards": 2, "modules": 2, "left_mib": 1},
            "workload": {"synthetic": "training_steps", "count": 2, "iterations": 1, "layers": 1, "kernel_groups": 3},
            "options": {**COUPLED, "pages": "2m"},
            "events": False,
        },
    },
    "pool": {
        "as documented": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_busy", "jobs": 30},
            "options": {"path_metric": "bottleneck"},
        },
        "paths halved by each further link": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_busy", "jobs": 30},
        },
        "waiting": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_busy", "jobs": 30},
            "options": {"path_metric": "bottleneck", "when_full": "wait", "wait_order": "any_that_fits"},
            "policy": {"cache": "pytorch_caching", "target": "most_free"},
        },
        "moving": {
            "machine": "dgx_1v",
            "workload": {"regime": "one_card_full", "renewed": 20, "footprint": 1.5},
            "options": {"path_metric": "bottleneck", "touches": 4},
            "policy": {"target": "local_only", "residency": {"managed_memory": {"back": True}}},
        },
        "moving back": {
            "machine": {"preset": "pcie4_x8", "widths": "paper"},
            "workload": {"regime": "one_card_full", "renewed": 20, "footprint": 2.0},
            "options": {"touches": 4},
            "policy": {"residency": "migrate_back", "cache": "expandable_segments"},
        },
        "buddies of a pipeline": {
            "machine": "dgx_1v",
            "workload": {"regime": "pipeline_overflows", "micro_batches": 2, "iterations": 1},
            "policy": {"cache": "binary_buddies", "target": "least_loaded", "driver": "first_fit"},
            "options": {"path_metric": "bottleneck"},
        },
        "returned, mapped and charged": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_skewed", "jobs": 10},
            "policy": {
                "cache": "stitching",
                "idle_release": {"largest": {"limit_bytes_a_card": 67108864}},
                "target": "two_choices",
            },
            "options": {
                "path_metric": "bottleneck",
                "pointer_mode": "mapped_pointer",
                "map_ns": 13,
                "unmap_ns": 8,
                "ipc_ns": 7,
                "service_ns": 40,
                "driver_alloc_ns": 100,
                "driver_free_ns": 30,
                "driver_map_ns": 5,
                "zero_gbps": 100,
                "history_window": 5,
                "history_weight": "bytes",
                "target_tie": "most_free",
                "free_metric": "sum_all",
            },
        },
        "first come, none waits long": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_busy", "jobs": 10},
            "policy": {
                "cache": {"rmm_pool": {}},
                "idle_release": {"least_recently_used": {"limit_bytes_a_card": 0}},
                "target": {"weighted_cards": {}},
            },
            "options": {
                "path_metric": "bottleneck",
                "when_full": "wait",
                "wait_order": "first_come",
                "wait_limit_ns": 1000000,
            },
        },
    },
    "shared_memory": {
        "as documented": {"workload": {"regime": "large_uniform", "count": 200}},
        "lookahead": {
            "machine": {"segments": 64},
            "workload": {"regime": "bimodal", "count": 200, "size": {"uniform": [1, 40]}},
            "policy": {"placement": "best_fit", "queue": {"fifo_lookahead": {"k": 3}}, "retry": "on_release"},
        },
        "compaction": {
            "machine": {"segments": 33},
            "workload": {"regime": "small_uniform", "count": 200},
            "policy": {"placement": {"compaction": {"base": "first_fit"}}, "retry": {"after_k_cycles": {"k": 7}}},
        },
        "buddy": {
            "workload": {"regime": "power_of_two", "count": 200},
            "policy": {"placement": "buddy"},
            "options": {"allocs_per_cycle": 1, "latency_cycles": 3},
        },
        "random": {"workload": {"regime": "medium_uniform", "count": 200}, "policy": {"placement": "random_fit"}},
        "paged, grants first": {
            "machine": {"segments": 40},
            "workload": {"regime": "medium_uniform", "count": 120},
            "policy": {"placement": "paged_memory", "queue": {"fifo_lookahead": {"k": 8}}},
            "options": {"same_cycle_order": "allocate_first"},
        },
        "bimodal, unwatched": {
            "machine": {"segments": 40},
            "workload": {"regime": "bimodal", "count": 120, "size": {"uniform": [1, 40]}},
            "policy": {"placement": "segregated_fit", "retry": "on_release"},
            "options": {"same_cycle_order": "allocate_first", "allocs_per_cycle": 2},
            "events": False,
        },
    },
    "torch_allocator": {
        "growing": {
            "workload": {"synthetic": "growing_cycle", "cycles": 20},
            "options": {"expandable_segments": True, "max_split_size_mb": 128, "card_bytes": 16 << 30},
        },
        "awaited": {"workload": {"synthetic": "awaited_block"}, "options": {"card_bytes": 48 << 20}},
        "a snapshot as recorded": {"workload": {"trace": SNAPSHOT}, "options": {"settings": "recorded"}},
        "a snapshot rounded up": {
            "workload": {"trace": SNAPSHOT},
            "options": {"roundup_power2_divisions": [4] * 16, "max_split_size_mb": 64},
        },
        "a snapshot on a small card": {
            "workload": {"trace": SNAPSHOT},
            "options": {"garbage_collection_threshold": 0.5, "card_bytes": 629145600},
        },
        "a snapshot of mapped segments": {
            "workload": {"trace": SNAPSHOT},
            "options": {"expandable_segments": True, "card_bytes": 524288000},
        },
    },
    "translation": {
        "as documented": {"machine": "patent_pilot", "workload": {"regime": "pilot_zipf", "count": 300}},
        "central directory": {
            "machine": "patent_pilot",
            "workload": {"regime": "producer_and_consumers", "count": 300, "pace": "poisson", "gap": 100},
            "options": {"cores_issue": {"warps": {"count": 4}}},
            "policy": {"locate": "central_directory", "fill": "demand_always", "eviction": "tree_plru"},
        },
        "ring": {
            "machine": "patent_pilot",
            "workload": {"regime": "pilot_half_shared", "count": 300},
            "policy": {
                "locate": "ring_probe",
                "fill": "push_neighbours",
                "remote_fill": "threshold",
                "eviction": "drrip",
            },
        },
        "clusters": {
            "machine": "patent_pilot",
            "workload": {"regime": "halo_exchange", "count": 300},
            "policy": {
                "locate": "clustered",
                "fill": "gate_when_full",
                "eviction": "srrip",
                "shared_eviction": "random",
            },
        },
        "protection": {
            "machine": "patent_pilot",
            "workload": {"regime": "pilot_cyclic_shared", "count": 300},
            "policy": {"fill": "leader_follower", "peer": "least_loaded", "eviction": "sharing_aware_eviction"},
        },
        "misses answered at once, unwatched": {
            "machine": {"cores": 4, "private_entries": 8, "shared_entries": 64},
            "workload": {"regime": "pilot_half_shared", "count": 80, "gap": 60},
            "policy": {
                "locate": {"directory": {"scope": "oracle", "look_up_cycles": 2}},
                "peer": "nearest",
                "fill": "demand_always",
                "remote_fill": "always",
                "eviction": "lru",
                "shared_eviction": "lru",
            },
            "events": False,
        },
        "a core alone, unwatched": {
            "machine": {"cores": 1, "private_entries": 64, "shared_entries": 0, "level_cycles": 3},
            "workload": {"synthetic": "zipf_mixture", "count": 4000, "working_set": 24, "gap": 12},
            "policy": {"locate": "no_directory", "fill": "demand_always", "eviction": "lru"},
            "events": False,
        },
        "walk queue full": {
            "machine": {
                "cores": 4,
                "private_entries": 4,
                "shared_entries": 8,
                "shared_ways": 2,
                "private_mshrs": 2,
                "private_ports": 1,
                "shared_ports": 1,
                "shared_banks": 2,
                "walkers": 1,
                "walk_queue": 1,
                "walk_cache_entries": 4,
                "link_cycles": 2,
                "network": "ring",
            },
            "workload": {"file": UNMAPPED},
            "options": {"inclusive": True, "shootdown": "broadcast", "walk_order": {"by_node": {"most": 4}}},
            "policy": {
                "locate": {
                    "directory": {
                        "scope": "own_plus_affine",
                        "update": {"message": {"delay": 3}},
                        "max_remote_tries": 2,
                        "entries": 4,
                        "use_l2_bit": True,
                    }
                },
                "fill": "push_pair",
                "remote_fill": "never",
                "eviction": "protect_low_degree",
            },
        },
        "walks in software": {
            "machine": {
                "cores": 4,
                "private_entries": 4,
                "shared_entries": 8,
                "shared_ways": 2,
                "walkers": 1,
                "walk_queue": 1,
                "network": "crossbar",
                "link_cycles": 1,
                "walk_cache_entries": 4,
            },
            "workload": {"file": UNMAPPED},
            "options": {
                "walks_by": {"software": {"walks": 1}},
                "merge_walks": False,
                "page_sizes": {"by_range": {"ranges": [{"begin": 0, "end": 262144, "page_bytes": 65536}]}},
                "news": "free",
            },
            "policy": {
                "locate": {"directory": {"update": "on_response", "look_up": "parallel"}},
                "fill": "gate_any",
                "eviction": "s3fifo",
                "shared_eviction": "lfu",
                "peer": "random",
            },
        },
        "runs of pages": {
            "machine": {"cores": 4, "private_entries": 4, "shared_entries": 8, "shared_ways": 2, "private_mshrs": 1},
            "workload": {"file": UNMAPPED},
            "options": {
                "bypass": {"dead_entries": {"threshold": 1, "region_pages": 1}},
                "pages_an_entry": 4,
                "contiguity": {"runs": {"mean": 4}},
                "cores_issue": {"warps": {"count": 4}},
            },
            "policy": {"locate": "directory", "eviction": "arc", "fill": "gate_pair", "peer": "nearest"},
        },
    },
}
"""Engine -> name -> what a sweep says of it; each is run with seed 7 and a log of events, without which (`events`)
an engine takes steps of many events at once."""
SEED = 7
