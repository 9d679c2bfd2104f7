"""Dispatch: which workgroup goes next, and to which module."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, by_name, words

MECHANISM = Manifest(
    name="dispatch",
    engine="workbench.engines.dispatch:Dispatch",
    record="workbench.records.dispatch:DispatchRecord",
    events="workbench.records.dispatch:events",
    slots=by_name("probe placement priority selection stuck units admission die choice")
    | {"shared_placement": "placement"},
    rooms=("workbench.policies.placement", "workbench.policies.probes", "workbench.policies.dispatch"),
    policies={
        "admission": words("exclusive open_to_all partition_by_channel partition_by_kernel share_by_channel"),
        "choice": words(
            """
            affinity best_fit_module coolest_first dominant_resource dot_product first_module least_decayed_energy
            least_recent_activity least_recent_energy least_waves most_residual random_module round_robin
            two_choices weighted_choice worst_fit_module
            """
        ),
        "die": words("any_die contiguous_dies first_die most_free_die round_robin_dies"),
        "priority": words("ageing earliest_deadline no_priority priority_windows static_priority"),
        "probe": words(
            """
            bit_serial exact_run grouped_run grouped_sampled_run prefix_suffix_tree sampled_run shared_run
            shift_doubling
            """
        ),
        "selection": words(
            """
            channel_round_robin deficit_round_robin lottery lowest_channel multilevel_feedback oldest_first
            plain_random same_channel served_marks strict_blocking strict_priority stride weighted_round_robin
            """
        ),
        "stuck": words("backfill never_split split_when_stuck"),
        "units": words("least_loaded no_rotation random_rotation rotated_split"),
    },
    measured="workbench.metrics.dispatch",
    measures=words(
        """
        makespan_cycles groups_per_kilocycle wait_mean_cycles wait_p99_cycles wait_max_cycles
        wait_unsplit_mean_cycles failed_rounds failed_round_rate splits refused_by_fragmentation over_promised
        refused_rate large_refused_rate large_head_wait_mean_cycles service_variance service_gap_max
        probe_operations probe_operations_each_head probe_operations_per_dispatch
        probe_operations_each_head_per_dispatch placement_searches_per_dispatch pieces_per_dispatch utilisation
        utilisation_cv utilisation_cv_over_time unit_spread unit_spread_max energy_joules power_mean_watts power_cv
        power_peak_over_mean temperature_spread_k temperature_peak_k energy_prediction groups_never_started
        groups_of_kernels_that_lack groups_at_barrier hung_at_cycle
        """
    ),
    circuit_measures={
        "workbench.circuits.measures:DISPATCH": words("area_gates levels registers relative_area relative_delay"),
    },
    figures={
        "power_over_modules": "workbench.figures.run_curves:POWER_OVER_MODULES_FIGURE",
        "unit_spread_over_rounds": "workbench.figures.run_curves:UNIT_SPREAD_OVER_ROUNDS_FIGURE",
        "dispatch_timeline": "workbench.figures.dispatch_timeline:DISPATCH_TIMELINE_FIGURE",
        "temperature_over_time": "workbench.figures._temperature_over_time:TEMPERATURE_OVER_TIME_FIGURE",
        "waits_by_priority": "workbench.figures.waits_by_priority:WAITS_BY_PRIORITY_FIGURE",
    },
    calculations={
        "probe_success": "workbench.figures._probe_success:PROBE_SUCCESS_FIGURE",
        "probe_accuracy_against_gates": "workbench.figures.probe_accuracy:PROBE_ACCURACY_AGAINST_GATES_FIGURE",
        "probe_accuracy_against_area": "workbench.figures.probe_accuracy:PROBE_ACCURACY_AGAINST_AREA_FIGURE",
    },
    circuits={
        "workbench.circuits.probes:MAKERS": words(
            """
            probe.exact_run probe.grouped_run probe.sampled_run probe.grouped_sampled_run probe.shift_doubling
            probe.prefix_suffix_tree probe.bit_serial probe.shared_run
            """
        ),
        "workbench.circuits.dispatch:MAKERS": words(
            """
            choice.least_recent_energy choice.most_residual priority.priority_windows units.rotated_split
            """
        ),
    },
    claims={
        "workbench.claims.dispatch:CLAIMS": words(
            """
            H3.1 H3.2 H3.2b H3.3 H3.4 H3.4b H3.5 H3.5b H3.6 H3.7 H3.8 H3.8b H3.8c H3.9 H3.9b H3.9c H3.10 H3.10b
            H3.10c H3.11 H3.11b H3.12 H3.12b H3.12c H3.12d H3.13 H3.14 H3.15 H3.16 H3.17 H3.18
            """
        ),
    },
    dashboard="workbench.dashboards._dispatch:dispatch_dashboard",
    page="mechanisms/dispatch.md",
    compile_seconds=25,
)
