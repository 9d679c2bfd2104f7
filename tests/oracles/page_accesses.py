"""Drawn accesses, one after the other, from the generators' sentences: a dictionary of where each core is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import floor, log
from typing import Any

from workbench.streams import Streams
from workbench.workloads.workload import Accesses


def accesses(workload: Any, machine: Any, seed: int) -> list[tuple[int, int, int]]:
    """(cycle, core, page) of every access."""
    streams, cores = Streams(seed), machine.cores
    draws = {
        name: streams.uniforms(name, workload.count).tolist() for name in ("pages", "sharing", "arrivals", "cores")
    }
    positions, rows, time = defaultdict(int), [], 0.0
    for n in range(workload.count):
        if workload.pace.name == "poisson":
            time += -log(1 - draws["arrivals"][n]) * workload.gap / cores
            cycle, core = floor(time), floor(draws["cores"][n] * cores)
        else:
            size = getattr(workload.pace, "size", 1)
            core, turn = n % cores, n // cores
            cycle = floor(turn // size * size * workload.gap)
        page = PAGES[workload.name](workload, machine, core, positions, draws["pages"][n], draws["sharing"][n])
        rows.append((cycle, core, page))
    return rows


def cores_by_page(blocks: Iterable[Accesses]) -> dict[int, list[int]]:
    """The core of each access, by the page that it touches."""
    cores: dict[int, list[int]] = defaultdict(list)
    for block in blocks:
        for core, page in zip(block.core.tolist(), block.page.tolist()):
            cores[page].append(core)
    return cores


def _array(working_set: float, machine: Any) -> int:
    return max(round(working_set * machine.private_entries), 1)


def _pattern(pattern: Any, pages: int, position: int, rank: float) -> int:
    if pattern.name == "sweep":
        return position % pages
    if pattern.name == "scatter":
        return floor(rank * pages)
    weights = [k**-pattern.alpha for k in range(1, pages + 1)]
    below = 0.0
    for page, weight in enumerate(weights):
        below += weight
        if rank < round(below / sum(weights) * 2**40) / 2**40:
            return page
    raise AssertionError("no page has the rank")


def _some_shared(w, machine, core, positions, rank, kind):
    shared, own = _array(w.working_set, machine), _array(w.own_working_set or w.working_set, machine)
    of_shared, of_own = w.patterns()
    is_shared = kind < w.sharing
    position = positions[core, is_shared]
    positions[core, is_shared] += 1
    if is_shared:
        return _pattern(of_shared, shared, position, rank)
    return shared + core * own + _pattern(of_own, own, position, rank)


def _private(w, machine, core, positions, rank, kind):
    pages = _array(w.working_set, machine)
    positions[core] += 1
    return core * pages + _pattern(w.pattern, pages, positions[core] - 1, rank)


def _halo(w, machine, core, positions, rank, kind):
    slab = _array(w.working_set, machine)
    halo = round(w.sharing * slab / 2)
    everything = [core * slab + place for place in range(-halo, slab + halo)]
    positions[core] += 1
    return everything[(positions[core] - 1) % len(everything)] % (slab * machine.cores)


def _producer(w, machine, core, positions, rank, kind):
    pages, groups = _array(w.working_set, machine), -(-machine.cores // w.group)
    if kind >= w.sharing:
        return (groups + core) * pages + floor(rank * pages)
    group, member = divmod(core, w.group)
    positions[core] += 1
    return group * pages + (positions[core] - 1 - (w.lag if member else 0)) % pages


PAGES = {
    "shared_sweep": _some_shared,
    "zipf_mixture": _some_shared,
    "private_arrays": _private,
    "stencil_halo": _halo,
    "producer_consumer": _producer,
}
