"""Malloc: how the requests of a warp are served on the device."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, by_name, words

MECHANISM = Manifest(
    name="malloc",
    engine="workbench.engines.malloc:Malloc",
    record="workbench.records.malloc:MallocRecord",
    events="workbench.records.malloc:events",
    slots=by_name("serve heap lock arenas"),
    rooms=("workbench.policies.placement", "workbench.policies.malloc"),
    policies={
        "arenas": words("hashed_arenas one_heap size_arenas warp_arenas"),
        "heap": words(
            """
            atomic_pointer basic_blocks bitmap_arena bump_pointer chunk_queue circular_list hashed_bins page_queue
            scattered_pages size_classes slabs
            """
        ),
        "lock": words("lock_free queue_lock ticket_lock trylock_backoff trylock_spin word_by_word"),
        "serve": words("block_aggregated per_thread small_aggregated warp_aggregated"),
    },
    measured="workbench.metrics.malloc",
    measures=words(
        """
        makespan_cycles latency_mean_cycles latency_p99_cycles threads_per_kilocycle lock_acquisitions lock_attempts
        lock_failures lock_failures_per_thread heap_atomics heap_atomics_per_thread instructions
        metadata_transactions metadata_transactions_per_thread failures failure_rate internal_fragmentation
        fragmentation peak_heap_bytes peak_extent_bytes held_by_partly_freed_bytes power_proxy_cv overlap_bytes
        out_of_bounds_bytes
        """
    ),
    figures={
        "held_over_time": "workbench.figures.run_curves:HELD_OVER_TIME_FIGURE",
        "speed_up": "workbench.figures._speed_up:SPEED_UP_FIGURE",
    },
    calculations={
        "malloc_on_card": "workbench.figures._malloc_on_card:MALLOC_ON_CARD_FIGURE",
    },
    circuits={
        "workbench.circuits.malloc:MAKERS": words("serve.warp_aggregated"),
    },
    claims={
        "workbench.claims.malloc:CLAIMS": words("H2.1 H2.2 H2.3 H2.4 H2.5 H2.6 H2.7 H2.8 H2.9 H2.10 H2.11"),
    },
    dashboard="workbench.dashboards._malloc:malloc_dashboard",
    page="mechanisms/malloc.md",
    compile_seconds=15,
)
