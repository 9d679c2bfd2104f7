"""From a setup to the arrays of a run: the machine and the levers as numbers, the policies ready, everything empty."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.translation.network import DIRECTIONS, hop_table, mesh_columns
from workbench.engines.translation.shape import CROSSBAR, MESH, RING_NETWORK, Policies, Rules
from workbench.engines.translation.state import (
    COLUMNS_OVER_TIME,
    COUNTERS,
    KINDS_OF_MESSAGE,
    KINDS_OF_SERVICE,
    LATENCY_BINS,
    NEXT_SAMPLE,
    WINDOWS,
    State,
)
from workbench.policies.translation.locate.question import (
    CENTRAL,
    CLUSTER,
    DIRECTORY,
    INSTANT,
    ON_RESPONSE,
    OWN_PLUS_AFFINE,
    Plan,
)
from workbench.streams import Streams
from workbench.structures.calendar import new_calendar
from workbench.structures.entry_sets import new_entry_sets
from workbench.structures.key_index import new_key_index

NETWORKS = {"mesh": MESH, "ring": RING_NETWORK, "crossbar": CROSSBAR}


def plan_of(setup: Setup) -> Plan:
    """Who is asked before the shared TLB, as numbers."""
    locate: Any = setup.policies["locate"]
    plan: Plan = locate.plan(setup.machine.private_entries)
    return plan


def rules_of(setup: Setup, events: bool) -> Rules:
    """The machine and the levers as whole numbers."""
    machine, options, policies = setup.machine, setup.options, setup.policies
    plan, chosen = plan_of(setup), [policies[slot] for slot in ("fill", "remote_fill")]
    directory = plan.kind == DIRECTORY
    clusters = -(-machine.cores // plan.cluster_cores) if plan.kind == CLUSTER else 0
    knows_holders = plan.kind == CENTRAL or (directory and plan.update == INSTANT)
    given: Any = options
    return Rules(
        cores=machine.cores,
        words=-(-machine.cores // 64),
        tlbs=machine.cores + clusters + 1,
        private_entries=machine.private_entries,
        private_sets=_sets(machine.private_entries, machine.private_ways),
        private_cycles=machine.private_cycles,
        private_ports=machine.private_ports,
        mshrs=machine.private_mshrs,
        clusters=clusters,
        cluster_sets=plan.cluster_entries // plan.cluster_ways,
        shared_entries=machine.shared_entries,
        shared_sets=_sets(machine.shared_entries, machine.shared_ways),
        shared_cycles=machine.shared_cycles,
        banks=machine.shared_banks,
        bank_ports=machine.shared_ports,
        walkers=machine.walkers,
        walk_queue=machine.walk_queue,
        levels=machine.walk_levels,
        level_cycles=machine.level_cycles,
        walk_cache=machine.walk_cache_entries,
        network=NETWORKS[machine.network],
        columns=mesh_columns(machine.cores),
        hop_cycles=machine.hop_cycles,
        link_cycles=machine.link_cycles,
        warps=given.cores_issue.warps(),
        gap_cycles=given.cores_issue.gap_cycles(),
        inclusive=int(given.inclusive),
        targeted=int(given.shootdown == "targeted" and knows_holders),
        sample_accesses=given.sample_accesses,
        counts=int(directory and (plan.scope == OWN_PLUS_AFFINE or any(_counts(policy) for policy in chosen))),
        beliefs=int(directory and plan.update != INSTANT),
        finite=int(directory and plan.quota >= 0),
        dense=1,
        keeps_log=int(events),
    )


def _counts(policy: Any) -> bool:
    return bool(policy.counts())


def _sets(entries: int, ways: int) -> int:
    return entries // ways if ways else 1


def policies_of(setup: Setup, rules: Rules, streams: Streams, checked: bool) -> Policies:
    """The policies for one run, each with a random stream of its own."""
    found: Any = setup.policies
    cores, seed = rules.cores, streams.integer
    private_ways = rules.private_entries // rules.private_sets
    shared_ways = rules.shared_entries // rules.shared_sets
    return Policies(
        plan_of(setup),
        found["peer"].ready(cores, seed("peer"), checked),
        found["fill"].ready(cores, seed("fill"), checked),
        found["remote_fill"].ready(cores, seed("remote_fill"), checked),
        found["eviction"].ready(cores * rules.private_sets, private_ways, seed("eviction"), checked),
        found["shared_eviction"].ready(rules.shared_sets, max(shared_ways, 1), seed("shared_eviction"), checked),
    )


def new_state(rules: Rules, plan: Plan) -> State:
    """Empty TLBs; the arrays by page have no room yet."""
    cores, words = rules.cores, rules.words
    none, bits = np.zeros(0, np.int64), np.zeros(0, np.uint64)
    ways, owners = _all_ways(rules, plan)
    quota = max(plan.quota, 0) if rules.finite else 0
    upper = np.array([rules.walk_cache])
    counters = np.zeros(len(COUNTERS), np.int64)
    counters[NEXT_SAMPLE] = rules.sample_accesses
    return State(
        counters=counters,
        tlbs=new_entry_sets(ways, owners),
        key_of=none,
        where=np.zeros(0, np.int32),
        places=new_key_index(np.zeros(rules.tlbs, np.int64)),
        held=bits,
        belief=bits,
        given=bits,
        record=np.zeros(0, np.int32),
        records=new_entry_sets(np.full(cores, quota), np.arange(cores)),
        others=np.zeros(words, np.uint64),
        push=np.zeros(cores, np.int64),
        pairs=np.zeros(cores * cores, np.int64),
        shared=np.zeros(cores, np.int64),
        affine=np.zeros(cores * words, np.uint64),
        followers=np.zeros(cores * words, np.uint64),
        since=np.zeros(cores, np.int64),
        pending=none,
        ports=new_calendar(cores * rules.private_ports),
        banks=new_calendar(rules.banks * rules.bank_ports),
        links=new_calendar(cores * DIRECTIONS if rules.link_cycles else 0),
        hops=hop_table(rules.network, cores),
        load=np.zeros(cores, np.int64),
        walker_free=np.zeros(rules.walkers, np.int64),
        walk_starts=np.zeros(rules.walk_queue, np.int64),
        walk_cache=new_entry_sets(upper, np.zeros(1, np.int64)),
        walk_index=new_key_index(upper),
        missing=np.zeros(cores * rules.mshrs, np.int64),
        awaited=np.zeros(cores * rules.mshrs, np.int64),
        last_done=np.zeros(cores, np.int64),
        under_way=np.zeros(cores, np.int64),
        stall=np.zeros(cores, np.int64),
        warps=np.zeros(cores * rules.warps, np.int64),
        turn=np.zeros(cores * 2, np.int64),
        next_row=np.full(cores, -1),
        served=np.zeros(cores * KINDS_OF_SERVICE, np.int64),
        latency=np.zeros(LATENCY_BINS, np.int64),
        spent=np.zeros(KINDS_OF_SERVICE, np.int64),
        messages=np.zeros(KINDS_OF_MESSAGE, np.int64),
        over_time=np.zeros(WINDOWS * COLUMNS_OVER_TIME, np.int64),
        degrees=np.zeros(cores + 1, np.int64),
        pair_sums=np.zeros(cores * cores, np.int64),
        log=none,
    )


def _all_ways(rules: Rules, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """The ways and the TLB of every set, private ones first, then those of clusters, then the shared one."""
    sets = [rules.private_sets] * rules.cores + [rules.cluster_sets] * rules.clusters + [rules.shared_sets]
    ways = [rules.private_entries // rules.private_sets] * rules.cores
    ways += [plan.cluster_ways] * rules.clusters + [rules.shared_entries // rules.shared_sets]
    return np.repeat(ways, sets), np.repeat(np.arange(len(sets)), sets)


def keeps_given(plan: Plan) -> bool:
    """Whether the shared TLB remembers whom it has given an entry to."""
    return plan.kind == DIRECTORY and plan.update == ON_RESPONSE
