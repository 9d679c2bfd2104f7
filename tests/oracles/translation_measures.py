"""Slow twins of the measures of translation, from each access that the event-driven twin logs and what it counts."""

from __future__ import annotations

import math
import statistics

from tests.oracles.translation_load import ACCESS, MERGED, MIDDLE, PEER, PRIVATE, Load, in_steps


def measures(load: Load) -> dict[str, float]:
    """Return every measure of a run that is over."""
    served = [row for row in load.log if row[1] == ACCESS]
    begin = load.first_cycle or 0
    return {
        **_served(load, [by for *_, by, _, _ in served]),
        **_latencies([(by, latency) for *_, by, _, latency in served]),
        **_pace(load, len(served), load.last_cycle - begin),
        **_messages(load, len(served)),
        **_entries(load, len(served)),
        **_walks(load, len(served), sum(latency for *_, latency in served)),
        **_samples(load),
        "power_proxy_cv": _unevenness([core for _, _, core, _, by, *_ in served if by not in (PRIVATE, MERGED)], load),
        "shot_down": load.counted["shot_down"],
    }


def _mean(values: list[int]) -> float:
    return statistics.fmean(values) if values else math.nan


def _each(total: float, count: float) -> float:
    return total / count if count else math.nan


def _served(load: Load, by: list[int]) -> dict[str, float]:
    own, near = [one == PRIVATE for one in by], [one in (PRIVATE, PEER) for one in by]
    return {
        "private_hit_rate": _mean(own),
        "peer_hit_rate": _mean([one == PEER for one in by]),
        "middle_hit_rate": _mean([one == MIDDLE for one in by]) if load.middle else math.nan,
        "middle_per_kilo": _each(load.middle.accesses, len(by) / 1000) if load.middle else math.nan,
        "near_hit_rate": _mean(near),
        "merged_per_kilo": _mean([1000 * (one == MERGED) for one in by]),
        "shared_per_kilo": _each(load.shared.accesses, len(by) / 1000),
        "walks_per_kilo": _each(load.walkers.walks, len(by) / 1000),
    }


def _latencies(served: list[tuple[int, int]]) -> dict[str, float]:
    ranked = sorted(in_steps(latency) for _, latency in served)
    return {
        "latency_mean_cycles": _mean([latency for _, latency in served]),
        "latency_p99_cycles": ranked[math.ceil(0.99 * len(ranked)) - 1] if ranked else math.nan,
        "miss_latency_mean_cycles": _mean([latency for by, latency in served if by != PRIVATE]),
        "private_latency_mean_cycles": _mean([latency for by, latency in served if by == PRIVATE]),
    }


def _pace(load: Load, accesses: int, span: int) -> dict[str, float]:
    return {
        "accesses_per_kilocycle": _each(accesses, span / 1000),
        "makespan_cycles": span,
        "drain_share": _each(load.last_cycle - load.counted["last_start"], span),
    }


def _messages(load: Load, accesses: int) -> dict[str, float]:
    sent, kilo = load.network.messages, accesses / 1000
    return {
        "noc_messages_per_kilo": _each(sum(sent.values()), kilo),
        "update_messages_per_kilo": _each(sent["update"], kilo),
        "shootdown_messages_per_kilo": _each(sent["shootdown"], kilo),
        "noc_queue_cycles_mean": _each(load.network.queue_cycles, load.network.trips),
        "remote_per_kilo": _each(load.counted["remote_requests"], kilo),
        "stale_rate": _each(load.counted["stale"], load.counted["remote_requests"]),
    }


def _entries(load: Load, accesses: int) -> dict[str, float]:
    """Return what comes into private TLBs and what does not, and how long their ports and registers are waited for."""
    counted, kilo = load.counted, accesses / 1000
    return {
        "pushes_per_kilo": _each(counted["pushes"], kilo),
        "push_pollution": _each(counted["pushes_unused"], counted["pushes"]),
        "push_use": _each(counted["pushes_used"], counted["pushes"]),
        "fills_per_kilo": _each(counted["fills"], kilo),
        "refused_fills_per_kilo": _each(counted["refused_fills"], kilo),
        "bypassed_entries_per_kilo": _each(load.shared.dead.not_made, kilo),
        "port_wait_cycles_mean": _each(counted["port_wait_cycles"], accesses),
        "mshr_wait_cycles_mean": _each(counted["mshr_wait_cycles"], accesses),
        "mshr_stalls_per_kilo": _each(counted["mshr_stalls"], kilo),
    }


def _walks(load: Load, accesses: int, latency: int) -> dict[str, float]:
    walkers, rules = load.walkers, load.walkers.rules
    places = load.machine.cores * rules.core_walks + (0 if rules.cores_only else load.machine.walkers)
    return {
        "walk_queue_cycles_mean": _each(walkers.queue_cycles, walkers.walks),
        "walk_queue_share": _each(walkers.waited, latency),
        "walker_utilization": _each(walkers.busy_cycles / places, load.last_cycle - (load.first_cycle or 0)),
        "joined_walks_per_kilo": _each(walkers.joined, accesses / 1000),
        "walk_levels_mean": _each(walkers.levels, walkers.walks),
    }


def _samples(load: Load) -> dict[str, float]:
    entries = load.machine.cores * load.machine.private_entries
    return {
        "sharing_degree_mean": _each(sum(load.degrees), sum(load.pages_held)),
        "reach_wasted": statistics.fmean(1 - pages / entries for pages in load.pages_held),
    }


def _unevenness(cores: list[int], load: Load) -> float:
    counts = [cores.count(core) for core in range(load.machine.cores)]
    return statistics.pstdev(counts) / statistics.fmean(counts) if cores else math.nan
