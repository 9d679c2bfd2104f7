"""What holds in every run, whatever its policies: nothing is lost, nothing is made (spec 6, R18)."""

from __future__ import annotations

import itertools

from tests.oracles.node.node import Simulation
from tests.oracles.node.times import parts_of, path


def broken(run: Simulation) -> list[str]:
    """Return the laws that a run breaks, a sentence each."""
    return [*_bytes(run), *_pages(run), *_groups(run), *_modules(run), *_times(run)]


def _bytes(run: Simulation) -> list[str]:
    pool = run.pool
    held = sum(region.size for region in pool.regions)
    laws = []
    if pool.granted_bytes != pool.freed_bytes + held:
        laws.append(f"bytes granted {pool.granted_bytes} are not freed {pool.freed_bytes} + held {held}")
    for card in pool.cards:
        used = sum(region.size for region in pool.regions if region.card == card.card)
        lost = card.granule * card.frames.granules - card.free - used
        if lost:
            laws.append(f"card {card.card} has {lost} bytes that are neither free, cached nor in use")
    return laws


def _pages(run: Simulation) -> list[str]:
    held = sum(len(pages) for _, pages in run._mapped_regions())
    freed = sum(len(pages) for program in run.programs for region, pages in program.chunks if region.freed)
    laws = []
    if run.mapped_pages != run.unmapped_pages + held - freed:
        laws.append(f"pages mapped {run.mapped_pages} are not unmapped {run.unmapped_pages} + held {held - freed}")
    return [*laws, *_stale(run)]


def _stale(run: Simulation) -> list[str]:
    """Return an entry of a TLB whose page is not mapped."""
    mapped = {page.tag for region, pages in run._mapped_regions() if not (region and region.freed) for page in pages}
    tlbs = [tlb for translation in run.translations for tlb in translation.tlbs]
    tags = {tag for tlb in tlbs for tag in tlb.tags}
    return [f"a TLB holds page {tag}, which is not mapped" for tag in sorted(tags - mapped)]


def _groups(run: Simulation) -> list[str]:
    laws = []
    for program in run.programs:
        steps = [step for stream in program.application.streams for step in stream]
        all_groups = sum(step.kernel.groups for step in steps if step.kernel)
        ended = sum(group.ended_at is not None for group in program.groups)
        cancelled = sum(group.cancelled for group in program.groups)
        if len(program.groups) != ended + cancelled + len(program.running):
            laws.append(f"application {program.number} put forward {len(program.groups)} groups; {ended} ended")
        if program.ended_at is not None and len(program.groups) + program.refused_groups != all_groups:
            laws.append(f"application {program.number} has {all_groups} groups; {program.refused_groups} were refused")
    return laws


def _modules(run: Simulation) -> list[str]:
    if run.failure or run.node.horizon is not None:
        return []
    busy = [card for card, one in enumerate(run.dispatchers) if one.running or any(m.waves for m in one.modules)]
    return [f"card {card} holds resources at the end" for card in busy]


def _times(run: Simulation) -> list[str]:
    laws = []
    for group in (group for program in run.programs for group in program.groups if group.ended_at is not None):
        spans, time = path(run, group), group.ended_at - group.reached_at
        joined = all(before[1] == after[0] for before, after in itertools.pairwise(spans))
        if sum(parts_of(run, group).values()) != time or not joined:
            laws.append(f"the parts of group {group.key} do not sum to its {time} cycles: {spans}")
    return laws
