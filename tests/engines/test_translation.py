"""The engine `translation` against its slow twin, field by field, over every policy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.depth import deeper
from tests.engines.translation_cases import simulate
from tests.oracles import translation as slow
from tests.oracles.translation_policies import Eviction, Fill, Peer
from workbench.engines.translation import growing
from workbench.policies.policy import policies
from workbench.records.translation import MESSAGES, OVER_TIME, SERVED_BY, TranslationRecord
from workbench.records.translation_events import events
from workbench.streams import Streams

SEED = 1
BASES = ("lru", "mru", "fifo", "random", "tree_plru", "srrip", "drrip")
FILLS = ("demand_always", "gate_any", "gate_pair", "gate_when_full", "push_pair", "push_neighbours", "leader_follower")
PEERS = ("first_bit", "nearest", "random", "least_loaded")
TOTALS = ("shared_accesses", "walks", "walk_levels", "walk_queue_cycles", "walks_joined", "fills", "evictions",
          "refused_fills", "pushes", "pushes_used", "pushes_unused", "remote_requests", "stale", "noc_queue_cycles",
          "noc_trips", "port_wait_cycles", "mshr_wait_cycles", "shootdowns", "shot_down")  # fmt: skip


def drawn_seed(slot: str) -> int:
    """The state of the generator of a policy that draws: a stream of the slot, then of the policy."""
    return Streams(Streams(SEED).integer(slot)).integer("random")


@st.composite
def machines(draw: Any) -> dict[str, Any]:
    some = st.sampled_from
    entries, ways = draw(some([(2, 0), (4, 0), (4, 2), (6, 3), (5, 0), (8, 4)]))
    behind, behind_ways = draw(some([(0, 0), (4, 0), (8, 4), (12, 3), (16, 0)]))
    return {
        "cores": draw(some([1, 2, 3, 4, 5, 7])), "private_entries": entries, "private_ways": ways,
        "private_cycles": draw(some([0, 1, 3])), "private_ports": draw(some([0, 0, 1, 2])),
        "private_mshrs": draw(some([1, 2, 64])), "shared_entries": behind, "shared_ways": behind_ways,
        "shared_cycles": draw(some([0, 5, 12])), "shared_banks": draw(some([1, 2])),
        "shared_ports": draw(some([0, 0, 1])), "walkers": draw(some([1, 2, 8])), "walk_queue": draw(some([0, 0, 1, 3])),
        "walk_levels": draw(some([1, 2, 4])), "level_cycles": draw(some([0, 7, 100])),
        "walk_cache_entries": draw(some([0, 1, 3, 8])), "network": draw(some(["mesh", "ring", "crossbar"])),
        "hop_cycles": draw(some([0, 1, 3])), "link_cycles": draw(some([0, 0, 1, 4])),
    }  # fmt: skip


@st.composite
def locates(draw: Any, entries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A way to look near by: as the sweep says it, and as the twin is told."""
    some = st.sampled_from
    kind = draw(some(["directory"] * 6 + ["no_directory", "central_directory", "ring_probe", "clustered"]))
    if kind == "no_directory":
        return {kind: {}}, {"locate": kind}
    look_up, refreshes = draw(some([0, 1, 2, 5])), draw(st.booleans())
    if kind == "ring_probe":
        reach = draw(some([1, 2, 9]))
        return {kind: {"reach": reach, "remote_hit_refreshes": refreshes}}, {
            "locate": kind,
            "reach": reach,
            "refreshes": refreshes,
        }
    if kind == "central_directory":
        said = {"look_up_cycles": look_up, "remote_hit_refreshes": refreshes}
        return {kind: said}, {"locate": kind, "look_up_cycles": look_up, "refreshes": refreshes}
    if kind == "clustered":
        members, size, ways = draw(some([(2, 4, 0), (1, 6, 2), (4, 8, 8)]))
        said = {"cores": members, "entries": size, "ways": ways, "look_up_cycles": look_up}
        return {kind: said}, {"locate": kind, "cluster": (members, size, ways), "look_up_cycles": look_up}
    threshold, fills = draw(some([1, 2])), draw(some([1, 2, 5]))
    scope = draw(some(["oracle", "oracle", "own_plus_affine", "own_plus_affine", "own_only"]))
    delay, quota = draw(some([0, 3, 40])), draw(some([None, None, 0, 1, 3]))
    update = draw(some(["instant", "message", "on_response"]))
    parallel, tries, l2_bit = draw(st.booleans()), draw(some([1, 2, 5])), draw(st.booleans())
    said = {
        "scope": {scope: {"threshold": threshold, "fills": fills}} if scope == "own_plus_affine" else scope,
        "update": {"message": delay} if update == "message" else update,
        "entries": 0 if quota is None else entries + quota, "look_up_cycles": look_up,
        "look_up": "parallel" if parallel else "serial", "max_remote_tries": tries, "use_l2_bit": l2_bit,
        "remote_hit_refreshes": refreshes,
    }  # fmt: skip
    told = {
        "scope": scope, "affine_threshold": threshold, "affine_fills": fills, "quota": quota, "update": update,
        "delay": delay, "look_up_cycles": look_up, "parallel": parallel, "tries": tries, "use_l2_bit": l2_bit,
        "refreshes": refreshes,
    }  # fmt: skip
    return {kind: said}, told


@st.composite
def evictions(draw: Any, cores: int) -> tuple[Any, Eviction]:
    base, some = draw(st.sampled_from(BASES)), st.sampled_from
    seed = drawn_seed("eviction")
    kind = draw(some([None, "high", "high", "low"]))
    if kind is None or cores < 2:
        return base, Eviction(base, seed=seed)
    candidates, threshold = draw(some([1, 2, 4, 9])), draw(st.integers(2, cores))
    fallback = draw(
        some(["plain_base", "next_batch", "lowest_degree"] if kind == "high" else ["plain_base", "next_batch"])
    )
    name = "sharing_aware_eviction" if kind == "high" else "protect_low_degree"
    said = {"base": base, "candidates": candidates, "share_threshold": threshold, "fallback": fallback}
    return {name: said}, Eviction(base, kind, candidates, threshold, fallback, seed)


@st.composite
def fills(draw: Any, cores: int) -> tuple[Any, Fill]:
    kind, amount = draw(st.sampled_from(FILLS)), draw(st.sampled_from([1, 2]))
    if kind == "leader_follower":
        return {kind: {"least": 2, "most": 3, "probation": 5}}, Fill(kind, cores=cores, again=5)
    if kind == "push_neighbours":
        return {kind: {"reach": amount}}, Fill(kind, amount)
    return {kind: {"fill_threshold": amount}} if kind != "demand_always" else kind, Fill(kind, amount)


@st.composite
def cases(draw: Any) -> tuple[dict[str, Any], slow.Levers, list[tuple[int, int, int, bool]]]:
    machine = draw(machines())
    cores = machine["cores"]
    locate, told = draw(locates(machine["private_entries"]))
    eviction, slow_eviction = draw(evictions(cores))
    fill, slow_fill = draw(fills(cores))
    shared = draw(st.sampled_from(BASES))
    peer = draw(st.sampled_from(PEERS))
    remote = draw(st.sampled_from(["always", "always", "never", "threshold"]))
    warps, gap = draw(st.sampled_from([(0, 0), (0, 0), (1, 0), (3, 2)]))
    inclusive, targeted, k = draw(st.booleans()), draw(st.booleans()), draw(st.sampled_from([1, 1, 4]))
    levers = slow.Levers(
        machine=machine, **told, peer=Peer(peer, drawn_seed("peer")), fill=slow_fill, remote_fill=(remote, 2),
        eviction=slow_eviction, shared_eviction=Eviction(shared, seed=drawn_seed("shared_eviction")), warps=warps,
        gap=gap, inclusive=inclusive, targeted=targeted, pages_an_entry=k,
    )  # fmt: skip
    said = {
        "machine": machine,
        "policy": {
            "locate": locate, "eviction": eviction, "fill": fill, "peer": peer, "shared_eviction": shared,
            "remote_fill": {remote: {"threshold": 2}} if remote == "threshold" else remote,
        },
        "cores_issue": {"warps": {"count": warps, "gap": gap}} if warps else "open", "inclusive": inclusive,
        "shootdown": "targeted" if targeted else "broadcast", "pages_an_entry": k,
    }  # fmt: skip
    pages = st.integers(0, draw(st.sampled_from([6, 14, 30]))) | st.integers(0, 1 << 30)
    row = st.tuples(st.sampled_from([0, 0, 1, 2, 30, 700]), st.integers(0, cores - 1), pages, st.integers(0, 19))
    steps = draw(st.lists(row, max_size=70))
    at = np.cumsum([gap for gap, *_ in steps]).tolist()
    return said, levers, [(c, core, page, odd == 0) for c, (_, core, page, odd) in zip(at, steps, strict=True)]


def compare(record: TranslationRecord, told: slow.Told) -> None:
    found = {name: getattr(record, name) for name in TOTALS}
    assert found == {name: told.totals[name] for name in TOTALS}
    assert dict(zip(MESSAGES, record.messages.tolist(), strict=True)) == {m: told.messages[m] for m in MESSAGES}
    for core in range(record.cores):
        served = told.served.get(core, Counter())
        assert record.served[core].tolist() == [served[source] for source in SERVED_BY]
    assert dict(zip(record.latency_cycles.tolist(), record.latency_counts.tolist(), strict=True)) == told.latencies
    assert record.latency_sums.tolist() == [told.spent[source] for source in SERVED_BY]
    assert record.last_cycle == told.last_cycle
    assert {d: n for d, n in enumerate(record.degrees.tolist()) if n} == told.degrees
    rows, columns = np.nonzero(record.pairs)
    assert {(a, b): record.pairs[a, b] for a, b in zip(rows.tolist(), columns.tolist(), strict=True)} == told.pairs
    expected = np.zeros((max(len(record.over_time), 1), len(OVER_TIME)), int)
    for cycle, what, amount in told.by_window:
        at = (cycle - record.first_cycle) // record.window_cycles
        if amount:
            expected[at, OVER_TIME.index(what)] += amount
    assert record.over_time.tolist() == expected[: len(record.over_time)].tolist()


def compare_log(record: TranslationRecord, told: slow.Told, pages_an_entry: int) -> None:
    log = events(record)
    names = ("cycle", "kind", "core", "page", "served_by", "peer", "latency")
    found = list(zip(*(log[name].tolist() for name in names), strict=True))
    expected = [
        (now, kind, core, page * (1 if kind == "access" else pages_an_entry), source or "", peer, latency)
        for now, kind, core, page, source, peer, latency in told.log
    ]
    assert found == expected


@deeper(60, 400)
@given(case=cases(), cuts=st.lists(st.integers(0, 70), max_size=3))
def test_equals_the_slow_twin(case, cuts):
    said, levers, rows = case
    told = slow.Twin(levers).run(rows)
    record = simulate(rows, cuts=cuts, events=True, sample_accesses=1 << 40, seed=SEED, **said)
    compare(record, told)
    compare_log(record, told, levers.pages_an_entry)


def test_the_twin_knows_every_policy():
    known = {"eviction": {*BASES, "sharing_aware_eviction", "protect_low_degree"},
             "fill": set(FILLS), "peer": set(PEERS),
             "remote_fill": {"always", "never", "threshold"},
             "locate": {"directory", "no_directory", "central_directory", "ring_probe", "clustered"}}  # fmt: skip
    for question, names in known.items():
        assert {name for name, cls in policies(question).items() if cls.built_in} == names


@pytest.mark.parametrize("cells", [0, 1 << 21])
def test_hash_tables_and_the_table_by_page_say_the_same(cells, monkeypatch):
    draw = np.random.default_rng(4)
    rows = [(t, int(draw.integers(4)), int(draw.integers(60) ** 2), bool(draw.random() < 0.01)) for t in range(600)]
    machine = {"cores": 4, "private_entries": 8, "shared_entries": 32}
    usual = simulate(rows, machine)
    monkeypatch.setattr(growing, "DENSE_CELLS", cells)
    again = simulate(rows, machine, cuts=(50, 300))
    assert all(np.array_equal(one, other) for one, other in zip(usual, again, strict=True))
