"""What each question asks, in a reader's words, and which of its answers the source documents give themselves."""

from __future__ import annotations

from typing import NamedTuple


class Question(NamedTuple):
    """A question of the policies."""

    asks: str
    own: tuple[str, ...] = ()
    """The answers of the source documents; none where a document leaves the question open."""


QUESTIONS = {
    "admission": Question("May a group go to this module?"),
    "arenas": Question("Into which parts is the heap divided, and which one serves a request?", ("one_heap",)),
    "cache": Question("What is kept of freed memory, and how is it cut and merged?", ("split_and_coalesce",)),
    "cache_fit": Question("Which cached block serves a request?", ("best_fit",)),
    "choice": Question("Which module takes the group?", ("most_residual", "least_recent_energy", "weighted_choice")),
    "die": Question("Which die takes the group?"),
    "eviction": Question("Which entry leaves a full TLB?", ("sharing_aware_eviction",)),
    "fill": Question("Which other TLBs keep an answer?", ("gate_any", "gate_pair")),
    "frames": Question("Which page frames does an allocation take?"),
    "heap": Question("How does the heap find free memory?"),
    "idle_release": Question("Which idle memory goes back to the driver?", ("least_recently_used",)),
    "locate": Question("Who is asked first for a translation?", ("directory",)),
    "lock": Question("How does a warp get the lock of the heap?", ("trylock_spin",)),
    "peer": Question("Which of several holders of a translation is asked?", ("first_bit",)),
    "placement": Question("Where in the memory does a request go?", ("nearest_boundary",)),
    "priority": Question("Which waiting group of a channel is next?", ("priority_windows",)),
    "probe": Question(
        "Which length of the longest free run is reported?",
        ("exact_run", "grouped_run", "sampled_run", "grouped_sampled_run", "shared_run"),
    ),
    "queue": Question("Which waiting requests may try?", ("fifo_head_only",)),
    "remote_fill": Question("Does a core keep a copy after a hit in another core?"),
    "residency": Question("Does borrowed memory move to another card?", ("stay",)),
    "retry": Question("When does a refused request try again?", ("after_k_cycles",)),
    "selection": Question("Which channel dispatches next?", ("served_marks",)),
    "serve": Question("How are the requests of a warp served?", ("warp_aggregated",)),
    "stuck": Question("What happens to a group that fits nowhere?", ("split_when_stuck",)),
    "target": Question("Which card lends memory?", ("max_bandwidth", "bandwidth_then_most_free", "weighted_cards")),
    "units": Question("How are the waves of a group shared out over the units?", ("rotated_split",)),
}
