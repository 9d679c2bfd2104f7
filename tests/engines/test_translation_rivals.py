"""The engine `translation` with every rival at once, equal to its event-driven twin, also under load."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.depth import long
from tests.engines.translation_load_cases import NO_POLICIES, Case, drawn, windows
from tests.oracles.translation_load import Choices
from tests.oracles.translation_rivals import Range, RivalLoad, Rivals
from workbench.engines.translation.walks_by import SoftwareWalks
from workbench.machine.translation_machine import TranslationMachine

BASE, SIZES = 4096, (8192, 65536, 1 << 20, 2 << 20)
SIZE = 30
"""Cases of one test."""


def _pick(draw: np.random.Generator, *values: Any) -> Any:
    return values[int(draw.integers(len(values)))]


def _ranges(draw: np.random.Generator, case: Case) -> list[dict[str, int]]:
    """Return up to three ranges of large pages among the pages of a case's trace."""
    sizes = [size for size in SIZES if size < BASE * 512 ** case.machine["walk_levels"]]
    least, most = min(row.page for row in case.rows) * BASE, max(row.page for row in case.rows) * BASE
    at, found = least, []
    for _ in range(int(draw.integers(0, 4))):
        size = int(_pick(draw, *sizes))
        begin = -(-at // size) * size if found else at // size * size
        end = begin + size * int(draw.integers(1, 4 + (most - least) // (3 * size)))
        found.append({"begin": begin, "end": end, "page_bytes": size})
        at = end + BASE * int(draw.integers(0, 40))
    return found


def _options(draw: np.random.Generator, case: Case) -> dict[str, Any]:
    """Return levers of rivals; each is neutral about as often as not."""
    levels, options = case.machine["walk_levels"], dict(case.options)
    options["page_sizes"] = {"by_range": {"ranges": _ranges(draw, case)}}
    if draw.random() < 0.5:
        options |= {"pages_an_entry": int(_pick(draw, 2, 8, 64)), "contiguous_share": 1.0}
        options["contiguity"] = {"runs": {"mean": float(_pick(draw, 1.0, 2.0, 10.0))}}
    elif draw.random() < 0.3:
        options["contiguous_share"] = 0.5
    options["merge_walks"] = bool(draw.random() < 0.5)
    if levels > 1 and draw.random() < 0.6:
        level, most = int(draw.integers(1, levels)), int(_pick(draw, 1, 2, 3, 100))
        options["walk_order"] = {"by_node": {"level": level, "most": most}}
    if draw.random() < 0.5:
        walks, start, level = int(_pick(draw, 1, 2, 9)), int(_pick(draw, 0, 7, 150)), int(_pick(draw, 0, 1, 30, 200))
        software = {"walks": walks, "start_cycles": start, "level_cycles": level, "only": bool(draw.random() < 0.3)}
        options["walks_by"] = {"software": software}
    if case.machine["shared_entries"] and not options["inclusive"] and draw.random() < 0.6:
        counters, region = int(_pick(draw, 1, 2, 64)), int(_pick(draw, 1, 4, 1 << 20))
        few = {"threshold": int(draw.integers(1, 4)), "remembered": int(_pick(draw, 0, 1, 2, 5))}
        options["bypass"] = {"dead_entries": {**few, "counters": counters, "region_pages": region}}
    return options


def rivals_of(options: Any) -> Rivals:
    """Return the levers as the twin takes them."""
    software: SoftwareWalks = options.walks_by.software()
    dead = options.bypass.prediction()
    level, most = options.walk_order.batch()
    ranges = tuple(Range(one.begin, one.end, one.page_bytes) for one in options.page_sizes.large())
    start, each = software.start_cycles, software.level_cycles
    return Rivals(
        ranges, options.contiguity.mean_run(), options.merge_walks, level, most, software.walks, start, each,
        software.only, dead.threshold, max(dead.counters, 1), dead.region_pages, dead.remembered,
    )  # fmt: skip


def rival_case(seed: int) -> Case:
    """Return a loaded case with rivals."""
    case = drawn(seed)
    case.options = _options(np.random.default_rng([seed, 15]), case)
    return case


def twin_of(case: Case) -> RivalLoad:
    """Run the twin of a case."""
    options, (warps, gap) = case.setup().options, case.warps or (0, 0)
    choices = Choices(
        warps=warps,
        gap=gap,
        pages_an_entry=options.pages_an_entry,
        inclusive=options.inclusive,
        broadcast=options.shootdown == "broadcast",
        free_news=options.news == "free",
        sample_accesses=options.sample_accesses,
    )
    machine, policies = TranslationMachine(**case.machine), {**NO_POLICIES, **case.policies}
    share = options.contiguous_share
    twin = RivalLoad(machine, case.rows, policies, choices, case.generator, rivals_of(options), share)
    twin.run()
    return twin


def differences(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return every field in which the engine and the twin differ."""
    record, twin = case.engine(), twin_of(case)
    engine = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in record._asdict().items()}
    engine["log"] = sorted(map(tuple, engine["log"]))
    told = {**twin.record(), "over_time": windows(twin.by_cycle(), record), "walk_cycles": twin.walkers.busy_cycles}
    return {name: (engine[name], value) for name, value in told.items() if engine[name] != value}


@pytest.mark.parametrize(
    "first", [*range(0, 2 * SIZE, SIZE), *(pytest.param(k, marks=long) for k in range(2 * SIZE, 3000, SIZE))]
)
def test_the_engine_with_rivals_and_its_twin_agree(first: int) -> None:
    for seed in range(first, first + SIZE):
        found = differences(rival_case(seed))
        assert not found, (seed, sorted(found))


def test_cases_have_every_rival_where_it_matters() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        case = rival_case(seed)
        twin = twin_of(case)
        seen["large"] += any(twin.pages.saved.values())
        seen["wide"] += len(twin.pages.first) < len({row.page for row in case.rows})
        seen["not merged"] += not twin.walkers.rivals.merges
        seen["dead"] += bool(twin.shared.list)
        seen["software"] += bool(twin.walkers.rivals.software)
        seen["queue"] += twin.walkers.queue_cycles > 0
    assert all(seen[name] >= 8 for name in ("large", "wide", "not merged", "dead", "software", "queue")), seen
