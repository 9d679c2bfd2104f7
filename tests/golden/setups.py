"""A few small setups an engine, chosen so that together they pass through most of its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SNAPSHOT = str(Path(__file__).parents[2] / "data" / "made_up_snapshot.pickle.gz")
"""The made-up training loop of the sixth notebook."""

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
    },
    "pool": {
        "as documented": {"machine": "dgx_1v", "workload": {"regime": "mixed_jobs_busy", "jobs": 30}},
        "waiting": {
            "machine": "dgx_1v",
            "workload": {"regime": "mixed_jobs_busy", "jobs": 30},
            "options": {"when_full": "wait", "wait_order": "any_that_fits"},
            "policy": {"cache": "pytorch_caching", "target": "most_free"},
        },
        "moving": {
            "machine": "dgx_1v",
            "workload": {"regime": "one_card_full", "renewed": 20, "footprint": 1.5},
            "options": {"touches": 4},
            "policy": {"target": "local_only", "residency": {"managed_memory": {"back": True}}},
        },
        "moving back": {
            "machine": "pcie4_x8",
            "workload": {"regime": "one_card_full", "renewed": 20, "footprint": 2.0},
            "options": {"touches": 4},
            "policy": {"residency": "migrate_back", "cache": "expandable_segments"},
        },
        "buddies of a pipeline": {
            "machine": "dgx_1v",
            "workload": {"regime": "pipeline_overflows", "micro_batches": 2, "iterations": 1},
            "policy": {"cache": "binary_buddies", "target": "least_loaded", "driver": "first_fit"},
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
    },
}
"""Engine -> name -> what a sweep says of it; each is run with seed 7."""
SEED = 7
