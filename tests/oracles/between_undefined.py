"""Points that specification 7 (with specification 3) leaves open, and what its slow twin does there."""

UNDEFINED = {
    "duration_of_zero": "No text allows or forbids a duration of 0. The twin refuses it.",
    "round_grid": (
        "When rounds of k cycles begin is open. The twin has a round at each multiple of k; a round reads and "
        "dispatches in its first cycle."
    ),
    "report_within_a_round": (
        "Spec 3, R3 reports once a round. With several dispatches a round the twin's report changes with each "
        "dispatch, as V1 needs."
    ),
    "failed_round": (
        "A round is failed if it has a head and dispatches nothing. Under strict_blocking a head that fits but is "
        "blocked does not make the round a success. A round without heads is no failed round and keeps the counter."
    ),
    "failed_rounds_of_a_hung_run": "A hung run counts only failed rounds up to hung_at_cycle.",
    "round_after_a_split": "The sub-groups are heads from the next round on (spec 3, R28: the loop restarts).",
    "split_of_one_wave": "A group of one wave is never split, also if it is independent.",
    "split_demand": (
        "A demand of a unit resource is an amount a wave, one of a module resource an amount a group. A sub-group has "
        "one wave and the full demand of module resources; none is declared divisible."
    ),
    "split_duration": "A sub-group has the duration, barrier, endless flag and instructions of its group.",
    "split_row": (
        "The row of a split group has the dispatch of its first sub-group, the start and the end of its last one, and "
        "no module."
    ),
    "split_residents": "A sub-group counts as one group in n of R24 with `of: groups`.",
    "number_of_a_sub_group": (
        "By channel and all, a split group is given its number when its first sub-group is dispatched; the count "
        "advances then, and not with the later sub-groups."
    ),
    "number_in_kernel": "Groups of a kernel are numbered in the order of the rows, over all channels.",
    "ties_of_arrival": "Groups of a channel that arrive in one cycle stand in the order of the rows.",
    "incomplete_cluster": (
        "A cluster whose last group has not arrived blocks its channel, and the channel has no head (it counts as "
        "empty)."
    ),
    "memory_of_a_cluster": (
        "Under any_die a cluster is tried with the memory of ALL in each die, and no memory of a die is used. Under "
        "every other die policy each die is tried with its own memory."
    ),
    "die_not_asked": "A head that fits no admitted module is not asked for its die, so it is not told to wait.",
    "in_turn": (
        "Channels served in turn: the next candidate's channel after the last served one, cyclically, blind to "
        "priority. Channel 0 is first."
    ),
    "strict_blocking_ties": (
        "Of several heads with the highest priority the lowest channel that can be placed is taken; nothing is "
        "dispatched only if none of them can. First read as: the lowest channel blocks the others of its priority too; "
        "the engine's policy of specification 3 says otherwise, and it was there before."
    ),
    "marks_after_each_dispatch": (
        "Marks change with each dispatch, also within a round; one candidate alone sets none."
    ),
    "free_amount_of_contiguous": (
        "most_free, best_fit and most_free_die count all free blocks of a contiguous resource, not its longest run; "
        "of a unit resource the sum over the units."
    ),
    "admission_of_a_cluster_die": (
        "The amount in most_free_die sums over modules that admit the first group of a cluster."
    ),
    "demand_above_the_total": "A group whose demand is above the total of a module is not refused. It never starts.",
    "starved": (
        "A run of neutral answers that is stuck has the outcome starved, with the same fields as hung. Neutral is: "
        "any_die, open_to_all, full_overlap, constant, pending_depth 0, barriers_a_module 0, no cluster, barrier or "
        "endless group."
    ),
    "queue_and_admission": (
        "Admission, concurrency and die are asked when a group is dispatched, not when it leaves a module's queue."
    ),
    "queue_and_pointer": (
        "The rotation pointer of a module turns when a group takes its resources, not when it is dispatched."
    ),
    "queue_and_hang": "A dispatch into a module's queue is no start, so it does not move hung_at_cycle.",
    "endless_at_a_barrier": "An endless group at a barrier counts in groups_at_barrier, and ends like the others.",
    "endless_in_a_hung_run": "In a hung run an endless group that has not started counts in groups_never_started.",
    "partly_started_group": (
        "A split group of which some sub-groups have started has not started. It counts in groups_never_started and "
        "not in groups_at_barrier."
    ),
    "share_of_several_resources": (
        "The best module of R18 has the smallest of its largest shares: of each resource what is missing over its "
        "total in the module (of units: sums over the units), of these the largest."
    ),
    "lacks_of_each_waiting_group": (
        "R18 is answered for all groups and sub-groups that have not started, heads or not, each as if it were alone. "
        "One that lacks nothing says `blocked` (a head under strict_blocking), `queue_full` (a head with "
        "pending_depth), `cluster` (the head is its cluster) or `behind` (it is no head). One in a module's queue "
        "answers for that module."
    ),
    "lacks_of_a_contiguous_resource": "Demand less the longest free run.",
    "die_of_a_waiting_head": "The die that a waiting head names is the one that it is bound to.",
    "instructions": (
        "`instructions` is the total of a group, issued evenly over its duration at rate 1: instructions times rate "
        "over duration each cycle, floored to 2^-20."
    ),
    "mig_compute": (
        "The compute slices of all instances together are at most 7. No allowed set of starts goes beyond it."
    ),
    "co_residence_of_mixed_kernels": "All groups of a kernel name the barrier of its first group that names one.",
    "order_of_kernels": "The given order of the kernels of R26 is the order of their first rows.",
}
