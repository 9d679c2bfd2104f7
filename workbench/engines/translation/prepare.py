"""From a setup to the arrays of a run: the machine and the levers as whole numbers, policies made ready, empty TLBs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.kit import made
from workbench.engines.translation.events import most_events
from workbench.engines.translation.network import hop_table, mesh_columns, ring_table
from workbench.engines.translation.options import Case
from workbench.engines.translation.page_table import packed_savings
from workbench.engines.translation.state import (
    COUNT,
    CROSSBAR,
    DIRECTIONS,
    KINDS_OF_MESSAGE,
    KINDS_OF_SERVICE,
    MESH,
    MISS,
    RING_NETWORK,
    Policies,
    Rules,
    State,
)
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import Policy
from workbench.policies.translation.eviction.frequency import LFU
from workbench.policies.translation.eviction.ghost_lists import ARC, S3FIFO
from workbench.policies.translation.eviction.recency import FIFO, LRU, MRU, Random, TreePLRU
from workbench.policies.translation.eviction.rereference import DRRIP, SRRIP
from workbench.policies.translation.fill import DemandAlways
from workbench.policies.translation.locate import (
    CENTRAL,
    CLUSTER,
    DIRECTORY,
    INSTANT,
    NO_DIRECTORY,
    ORACLE,
    OWN_PLUS_AFFINE,
    Plan,
)
from workbench.policies.translation.peer import Nearest
from workbench.policies.translation.remote_fill import Always
from workbench.structures.event_queue import new_event_queue
from workbench.structures.key_index import PageNumbers, new_key_index
from workbench.structures.set_assoc import EARLIEST, NEWEST, OLDEST, new_entry_sets
from workbench.structures.timetable import new_turns

LONG_AGO = -(1 << 62)
SKIPS = 1
"""Tests set 0: no access takes a short way, no event is foreseen, and every policy is asked (`with_shortcuts`)."""
NO_GROUPS = np.zeros(0, np.int64)
NO_RINGS = np.zeros(0, np.uint64)
NETWORKS = {"mesh": MESH, "ring": RING_NETWORK, "crossbar": CROSSBAR}


class Reading(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    plan: Plan
    """Who is asked before the shared TLB, as numbers."""


def rules_of(run: Reading, events: bool) -> Rules:
    """Return the machine and the levers as whole numbers."""
    (slots, options, machine, *_), plan = run
    directory = plan.kind == DIRECTORY
    clusters = -(-machine.cores // plan.cluster_cores) if plan.kind == CLUSTER else 0
    knows_holders = plan.kind == CENTRAL or (directory and plan.update == INSTANT)
    software, predicted = options.walks_by.software(), options.bypass.prediction()
    groups = len(machine.groups) if machine.middle_entries else 0
    most_hops = int(hop_table(NETWORKS[machine.network], machine.cores).max())
    return Rules(
        cores=machine.cores,
        words=-(-machine.cores // 64),
        tlbs=machine.cores + clusters + groups + 1,
        private_entries=machine.private_entries,
        private_sets=_sets(machine.private_entries, machine.private_ways),
        private_cycles=machine.private_cycles,
        private_ports=machine.private_ports,
        mshrs=machine.private_mshrs,
        clusters=clusters,
        cluster_sets=plan.cluster_entries // plan.cluster_ways,
        groups=groups,
        middle_sets=_sets(machine.middle_entries, machine.middle_ways),
        middle_cycles=machine.middle_cycles,
        middle_ports=machine.middle_ports,
        middle_shift=machine.middle_pages.bit_length() - 1 if groups else 0,
        shared_entries=machine.shared_entries,
        shared_sets=_sets(machine.shared_entries, machine.shared_ways),
        shared_cycles=machine.shared_cycles,
        shared_shift=machine.shared_pages.bit_length() - 1 if machine.shared_entries else 0,
        banks=machine.shared_banks,
        bank_ports=machine.shared_ports,
        walkers=0 if software.only else machine.walkers,
        walk_queue=machine.walk_queue,
        levels=machine.walk_levels,
        level_cycles=machine.level_cycles,
        levels_saved=packed_savings(machine, options),
        walk_cache=machine.walk_cache_entries,
        merges=int(options.merge_walks),
        batch_level=options.walk_order.batch()[0],
        batch_most=options.walk_order.batch()[1],
        software_walks=software.walks,
        software_start=software.start_cycles,
        software_level=software.level_cycles,
        dead_threshold=predicted.threshold,
        dead_region=predicted.region_pages,
        dead_counters=predicted.counters,
        dead_remembered=predicted.remembered,
        network=NETWORKS[machine.network],
        columns=mesh_columns(machine.cores),
        hop_cycles=machine.hop_cycles,
        link_cycles=machine.link_cycles,
        most_hops=most_hops,
        farthest=most_hops * machine.hop_cycles,
        news_rides=int(options.news == "links"),
        warps=options.cores_issue.warps(),
        gap_cycles=options.cores_issue.gap_cycles(),
        inclusive=int(options.inclusive),
        targeted=int(options.shootdown == "targeted" and knows_holders),
        sample_accesses=options.sample_accesses,
        counts=int(directory and (plan.scope == OWN_PLUS_AFFINE or slots.fill.counts() or slots.remote_fill.counts())),
        beliefs=int(directory and plan.update != INSTANT),
        finite=int(directory and plan.quota >= 0),
        dense=1,
        keeps_log=int(events),
        keeps_answers=0,
        keeps_rows=0,
        walks_wait=0,
        plain_hits=0,
        follows_use=1,
        follows_arrival=1,
        hears_hits=0,
        victim_end=-1,
        shared_evicts_oldest=0,
        asks_nearest=0,
        reads_ahead=0,
        fills_always=0,
        keeps_always=0,
        plain_misses=0,
        answers_at_once=0,
    )


def _sets(entries: int, ways: int) -> int:
    return entries // ways if entries and ways else 1


def policies_of(run: Reading, rules: Rules, checked: bool) -> Policies:
    """Return the policies for one run, each with a random stream of its own."""
    slots, cores, seed = run.given.slots, rules.cores, run.given.streams.integer
    private_ways = rules.private_entries // rules.private_sets
    shared_ways = rules.shared_entries // rules.shared_sets
    return Policies(
        run.plan,
        slots.peer.ready(cores, seed("peer"), checked),
        slots.fill.ready(cores, seed("fill"), checked),
        slots.remote_fill.ready(cores, seed("remote_fill"), checked),
        slots.eviction.ready(cores * rules.private_sets, private_ways, seed("eviction"), checked),
        slots.shared_eviction.ready(rules.shared_sets, max(shared_ways, 1), seed("shared_eviction"), checked),
    )


_ENDS: dict[type[Policy], int] = {LRU: OLDEST, FIFO: EARLIEST, MRU: NEWEST}
"""Policies whose victim stands at an end of a list of its set."""
_OWN_LISTS = (ARC, LFU, S3FIFO, SRRIP, DRRIP, TreePLRU, Random)
"""Policies that read neither order of a set, but what they remember."""


def with_shortcuts(rules: Rules, run: Reading) -> Rules:
    """Set which ways of an access are plain enough for a stretch of their own, and which cores need not be asked."""
    if not SKIPS:
        return rules
    slots, eviction = run.given.slots, run.given.slots.eviction
    hits = not (rules.keeps_log or rules.private_ports or rules.warps)
    behind = rules.groups or rules.shared_entries or rules.walk_cache or run.plan.kind != NO_DIRECTORY
    fills = _is_plain(slots.fill, DemandAlways)
    rules = rules._replace(
        plain_hits=int(hits),
        follows_use=int(type(eviction.base_policy()) not in (FIFO, *_OWN_LISTS)),
        follows_arrival=int(type(eviction.base_policy()) not in (LRU, MRU, *_OWN_LISTS)),
        hears_hits=int(eviction.base_policy().notice("touched") is not None),
        victim_end=next((end for cls, end in _ENDS.items() if _is_plain(eviction, cls)), -1),
        shared_evicts_oldest=int(_is_plain(slots.shared_eviction, LRU)),
        asks_nearest=int(_is_plain(slots.peer, Nearest) and not rules.keeps_answers),
        reads_ahead=int(_reads_ahead(rules, run.plan)),
        fills_always=int(fills),
        keeps_always=int(_is_plain(slots.remote_fill, Always)),
        # Without walkers, cores walk in software, whose cycles have levers of their own.
        plain_misses=int(hits and fills and not behind and not rules.levels_saved and rules.walkers),
    )
    return rules._replace(answers_at_once=int(_answers_at_once(rules, run.plan)))


def _answers_at_once(rules: Rules, plan: Plan) -> bool:
    """Return whether a miss asks the nearest holder, the shared TLB and the walkers alone, and fills its core."""
    plain = rules.plain_hits and rules.victim_end >= 0 and rules.fills_always and not rules.keeps_answers
    simple = rules.shared_entries and rules.shared_evicts_oldest and not (rules.bank_ports or rules.dead_threshold)
    simple = simple and not (rules.groups or rules.shared_shift)
    if plan.kind == NO_DIRECTORY:
        return bool(plain and simple)
    exact = plan.kind == DIRECTORY and plan.update == INSTANT and plan.scope == ORACLE and not rules.finite
    direct = rules.asks_nearest and rules.keeps_always and not (plan.parallel or plan.use_l2_bit or plan.refreshes_peer)
    return bool(plain and simple and exact and direct and not (rules.link_cycles or rules.counts))


def _reads_ahead(rules: Rules, plan: Plan) -> bool:
    """Return whether looking into a directory leaves no trace, and takes time, so that no fill can follow at once."""
    return plan.kind == DIRECTORY and plan.look_up_cycles > 0 and not (rules.finite or rules.keeps_answers)


def _is_plain(policy: Policy, cls: type[Policy]) -> bool:
    """Return whether a policy answers as one of the workbench's own classes does."""
    return type(policy) is cls


def new_state(rules: Rules, plan: Plan, machine: TranslationMachine, numbers: PageNumbers, logged: int) -> State:
    """Make empty TLBs; the arrays by page have no space yet."""
    cores = rules.cores
    ways, owners = _all_ways(rules, plan, machine.middle_entries)
    quota = max(plan.quota, 0) if rules.finite else 0
    upper, hops = np.array([rules.walk_cache]), hop_table(rules.network, cores)
    state = made(
        State,
        {**_sizes(rules), "logged": logged, "entries_watched": int(ways.sum()) if rules.dead_threshold else 0},
        tlbs=new_entry_sets(ways, owners),
        places=new_key_index(np.zeros(rules.tlbs, np.int64)),
        records=new_entry_sets(np.full(cores, quota), np.arange(cores)),
        event_queue=new_event_queue(2 * int(most_events(cores))),
        numbers=numbers,
        hops=hops,
        rings=ring_table(hops, cores) if rules.asks_nearest and plan.kind in (DIRECTORY, CENTRAL) else NO_RINGS,
        walk_cache=new_entry_sets(upper, np.zeros(1, np.int64)),
        walk_index=new_key_index(upper),
        group_of=_group_of(machine),
        turns=new_turns(cores),
        active=np.arange(cores * rules.mshrs),
    )
    _begin(state.counters, rules)
    state.warps_free[:] = rules.warps
    state.software_free[:] = rules.software_walks
    for given in (state.ports, state.banks, state.middle_ports, state.link_free):
        given[:] = LONG_AGO
    return state


def _sizes(rules: Rules) -> dict[str, int]:
    """Return the lengths of the axes of a state's arrays."""
    return {
        "cores": rules.cores,
        "words": rules.words,
        "banks": rules.banks,
        "groups": rules.groups,
        "links": rules.cores * DIRECTIONS if rules.link_cycles else 0,
        "registers": rules.cores * rules.mshrs,
        "miss": MISS,
        "warps": rules.warps,
        "services": KINDS_OF_SERVICE,
        "messages": KINDS_OF_MESSAGE,
        "degrees": rules.cores + 1,
        "entries_of_one": rules.private_entries if rules.plain_misses and rules.cores == 1 else 0,
        "dead_counters": rules.dead_counters,
        "remembered": rules.dead_remembered,
    }


def _begin(counters: np.ndarray, rules: Rules) -> None:
    """Write the counters that do not begin at 0."""
    counters[COUNT.next_sample], counters[COUNT.walkers_free] = rules.sample_accesses, rules.walkers
    for empty in (COUNT.parked_free, COUNT.queue_head, COUNT.queue_tail, COUNT.backlog_head, COUNT.backlog_tail):
        counters[empty] = -1


def _group_of(machine: TranslationMachine) -> np.ndarray:
    """Return the group of each core: int64[cores]; of none where there is no middle level."""
    if not machine.middle_entries:
        return NO_GROUPS
    group_of = np.empty(machine.cores, np.int64)
    for group, cores in enumerate(machine.groups):
        group_of[list(cores)] = group
    return group_of


def _all_ways(rules: Rules, plan: Plan, middle_entries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways and the TLB of every set in the order of the TLBs."""
    sets = [rules.private_sets] * rules.cores + [rules.cluster_sets] * rules.clusters
    sets += [rules.middle_sets] * rules.groups + [rules.shared_sets]
    ways = [rules.private_entries // rules.private_sets] * rules.cores + [plan.cluster_ways] * rules.clusters
    ways += [middle_entries // rules.middle_sets] * rules.groups + [rules.shared_entries // rules.shared_sets]
    return np.repeat(ways, sets), np.repeat(np.arange(len(sets)), sets)
