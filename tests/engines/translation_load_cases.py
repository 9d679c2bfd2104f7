"""Translation runs as plain data, given to the engine and to its event-driven twin, also under load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.oracles.translation_load import Choices, Load, Row
from tests.oracles.translation_load_eviction import RULES
from tests.oracles.translation_load_tags import Large, Tags
from tests.oracles.translation_load_walks import WalkRules
from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation
from workbench.engines.translation.options import ByNode, DeadEntries, Open, Software, Warps
from workbench.engines.translation.page_table import ByRange, OneSize, PageRange, Runs, WholeGroups
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import policies
from workbench.policies.translation import (
    DRRIP,
    FIFO,
    LRU,
    MRU,
    S3FIFO,
    SRRIP,
    Always,
    CentralDirectory,
    Clustered,
    DemandAlways,
    Directory,
    FirstBit,
    GateAny,
    GatePair,
    GateWhenFull,
    Instant,
    LeaderFollower,
    LeastLoaded,
    Message,
    Nearest,
    Never,
    NoDirectory,
    OnResponse,
    Oracle,
    OwnOnly,
    OwnPlusAffine,
    ProtectLowDegree,
    PushNeighbours,
    PushPair,
    RandomEviction,
    RandomPeer,
    RingProbe,
    SharingAwareEviction,
    Threshold,
    TreePLRU,
)
from workbench.records.translation import OVER_TIME, TranslationRecord
from workbench.streams import Streams
from workbench.workloads.workload import Accesses, Workload

NO_POLICIES = {
    "locate": NoDirectory(),
    "peer": FirstBit(),
    "fill": DemandAlways(),
    "remote_fill": Always(),
    "eviction": LRU(),
    "shared_eviction": LRU(),
}
"""The plainest machine."""
BLOCK = 97
"""Rows of a block of a case's trace, so that what is under way crosses the ends of blocks."""


class Trace(Workload):
    """Accesses given row by row."""

    def __init__(self, rows: list[Row]) -> None:
        object.__setattr__(self, "rows", rows)

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        for first in range(0, len(self.rows), BLOCK):
            block = self.rows[first : first + BLOCK]
            cycle, core, page, unmap = (np.array(column) for column in zip(*block, strict=True))
            yield Accesses(cycle.astype(np.int64), core.astype(np.int32), page.astype(np.int64), unmap.astype(bool))


@dataclass
class Case:
    """A machine, its trace, policies by slot and options; what is not said is the plainest."""

    rows: list[Row]
    machine: dict[str, Any] = field(default_factory=dict)
    policies: dict[str, Any] = field(default_factory=dict)
    warps: tuple[int, int] | None = None
    """How many, and the gap; None = open loop."""
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1

    def setup(self) -> Setup:
        """Return what the engine runs."""
        model = Warps(count=self.warps[0], gap=self.warps[1]) if self.warps else Open()
        return Setup(
            "translation",
            TranslationMachine(**self.machine),
            Trace(self.rows),
            {**NO_POLICIES, **self.policies},
            Translation.options(cores_issue=model, **self.options),
        )

    def engine(self) -> TranslationRecord:
        """Run the engine with its log."""
        record: TranslationRecord = Translation().simulate(self.setup(), self.seed, events=True)
        return record

    def twin(self) -> Load:
        """Run the twin."""
        return self.load().run()

    def load(self) -> Load:
        """Return the twin before its first cycle."""
        warps, gap = self.warps or (0, 0)
        choices = Choices(
            warps=warps,
            gap=gap,
            tags=self._tags(),
            walks=self._walks(),
            dead=self.options.get("bypass"),
            inclusive=self.options.get("inclusive", False),
            broadcast=self.options.get("shootdown", "targeted") == "broadcast",
            free_news=self.options.get("news", "links") == "free",
            sample_accesses=self.options.get("sample_accesses", 8192),
        )
        policies = {**NO_POLICIES, **self.policies}
        return Load(TranslationMachine(**self.machine), self.rows, policies, choices, self.generator)

    def _tags(self) -> Tags:
        sizes = self.options.get("page_sizes", OneSize())
        large = [Large(one.begin, one.end, one.page_bytes) for one in getattr(sizes, "ranges", ())]
        run = getattr(self.options.get("contiguity"), "mean", 0.0)
        group, share = self.options.get("pages_an_entry", 1), self.options.get("contiguous_share", 1.0)
        return Tags(TranslationMachine(**self.machine).page_bytes, large, group, share, run)

    def _walks(self) -> WalkRules:
        order, by = self.options.get("walk_order"), self.options.get("walks_by")
        software = (by.walks, by.start_cycles, by.level_cycles, by.only) if isinstance(by, Software) else ()
        level, most = (order.level, order.most) if isinstance(order, ByNode) else (1, 1)
        return WalkRules(self.options.get("merge_walks", True), level, most, *software)

    def generator(self, slot: str) -> int:
        """Return where the random generator of a slot's policy begins."""
        policy = {**NO_POLICIES, **self.policies}[slot]
        base = getattr(policy, "base", policy)
        seed = Streams(self.seed).integer(slot)
        return int((base.start_memory(1, 1, seed) if "eviction" in slot else base.start_memory(1, seed))[0])


def windows(counts: Counter[tuple[int, str]], record: TranslationRecord) -> list[list[int]]:
    """Return the twin's counts by cycle in the windows of a record."""
    rows: dict[int, list[int]] = {}
    for (cycle, name), amount in counts.items():
        row = rows.setdefault((cycle - record.first_cycle) // record.window_cycles, [0] * len(OVER_TIME))
        row[OVER_TIME.index(name)] += amount
    count = max(len(record.over_time), max(rows, default=-1) + 1)
    columns = record.over_time.shape[1]
    assert not any(any(row[columns:]) for row in rows.values()), "counted in a column that the record has not"
    return [rows.get(window, [0] * len(OVER_TIME))[:columns] for window in range(count)]


def differences(case: Case) -> dict[str, tuple[Any, Any]]:
    """Return every field in which the engine and the twin differ: the engine's value, the twin's."""
    record, twin = case.engine(), case.twin()
    engine = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in record._asdict().items()}
    engine["log"] = sorted(map(tuple, engine["log"]))
    settings = {**twin.record(), "over_time": windows(twin.by_cycle(), record)}
    return {name: (engine[name], value) for name, value in settings.items() if engine[name] != value}


EARLIER = (LRU, MRU, FIFO, TreePLRU, SRRIP, RandomEviction)
"""The rules of the edition before events, from which cases with kept results are drawn."""
_BY_CLASS = {cls.__name__: cls for cls in policies("eviction").values()}
EVICTIONS = tuple(_BY_CLASS[name] for name in RULES if name != "DRRIP")
"""Every rule that the twin knows; DRRIP is drawn with few sets."""


def _small_half() -> S3FIFO:
    """Return a rule whose small queue has more than one way in the small sets of the cases."""
    return S3FIFO(small_share=0.5, ghost_share=1.5, move_uses=1)


def _pick(draw: np.random.Generator, *values: Any) -> Any:
    return values[int(draw.integers(len(values)))]


def _eviction(draw: np.random.Generator, cores: int, rules: tuple[Any, ...]) -> Any:
    small = () if rules is EARLIER else (_small_half,)
    base = _pick(draw, *rules, lambda: DRRIP(sets_apart=int(_pick(draw, 2, 4)), selector_bits=3), *small)()
    if draw.random() < 0.5 or cores == 1:
        return base
    shared = {
        "base": base,
        "candidates": int(draw.integers(1, 5)),
        "share_threshold": int(draw.integers(2, min(cores, 3) + 1)),
    }
    if draw.random() < 0.3:
        return ProtectLowDegree(**shared, fallback=_pick(draw, "plain_base", "next_batch"))
    return SharingAwareEviction(**shared, fallback=_pick(draw, "plain_base", "next_batch", "lowest_degree"))


def _directory(draw: np.random.Generator, entries: int) -> Directory:
    affine = OwnPlusAffine(threshold=int(draw.integers(1, 3)), fills=int(draw.integers(1, 6)))
    return Directory(
        scope=_pick(draw, Oracle(), affine, affine, OwnOnly()),
        entries=_pick(draw, 0, 0, entries, entries + 1, entries + 4),
        update=_pick(draw, Instant(), Message(delay=int(_pick(draw, 0, 3, 20, 900))), OnResponse()),
        look_up_cycles=int(draw.integers(0, 4)),
        look_up=_pick(draw, "serial", "parallel"),
        max_remote_tries=int(draw.integers(1, 4)),
        use_l2_bit=bool(draw.random() < 0.3),
        remote_hit_refreshes=bool(draw.random() < 0.3),
    )


def _locate(draw: np.random.Generator, entries: int, kind: str) -> Any:
    cluster = int(_pick(draw, 2, 8))
    makers = {
        "none": NoDirectory,
        "directory": lambda: _directory(draw, entries),
        "central": lambda: CentralDirectory(look_up_cycles=int(draw.integers(0, 4))),
        "ring": lambda: RingProbe(reach=int(draw.integers(1, 4)), remote_hit_refreshes=bool(draw.random() < 0.3)),
        "clustered": lambda: Clustered(cores=int(_pick(draw, 2, 3)), entries=cluster, ways=int(_pick(draw, 0, 2))),
    }
    return makers[kind]()


def _fill(draw: np.random.Generator) -> Any:
    threshold = int(draw.integers(1, 3))
    return _pick(
        draw,
        DemandAlways,
        lambda: PushPair(fill_threshold=threshold),
        lambda: GateAny(fill_threshold=1),
        lambda: GatePair(fill_threshold=1),
        lambda: GateWhenFull(fill_threshold=threshold),
        lambda: PushNeighbours(reach=int(draw.integers(1, 4))),
        lambda: LeaderFollower(probation=int(_pick(draw, 2, 64))),
    )()


def _policies(draw: np.random.Generator, entries: int, cores: int, rules: tuple[Any, ...]) -> dict[str, Any]:
    kind = str(_pick(draw, "none", "directory", "directory", "directory", "central", "ring", "clustered"))
    return {
        "locate": _locate(draw, entries, kind),
        "peer": _pick(draw, FirstBit(), Nearest(), LeastLoaded(), RandomPeer()),
        "fill": _fill(draw),
        "remote_fill": _pick(draw, Always(), Always(), Never(), Threshold(threshold=1)),
        "eviction": _eviction(draw, cores, rules),
        "shared_eviction": _pick(draw, *rules)(),
    }


def _machine(draw: np.random.Generator) -> dict[str, Any]:
    entries = int(_pick(draw, 2, 4, 8))
    shared = int(_pick(draw, 0, 1, 4, 16, 64))
    return {
        "cores": int(_pick(draw, 1, 2, 3, 4, 5, 6, 9)),
        "private_entries": entries,
        "private_ways": int(_pick(draw, 0, 2)),
        "private_cycles": int(_pick(draw, 0, 1, 1, 3)),
        "private_ports": int(_pick(draw, 0, 1, 2)),
        "private_mshrs": int(_pick(draw, 1, 1, 2, 4, 64)),
        "shared_entries": shared,
        "shared_ways": int(_pick(draw, 0, 2)) if shared > 1 else 0,
        "shared_cycles": int(_pick(draw, 0, 5, 12)),
        "shared_banks": int(_pick(draw, 1, 2, 4)),
        "shared_ports": int(_pick(draw, 0, 1, 2)),
        "walkers": int(_pick(draw, 1, 1, 2, 8)),
        "walk_queue": int(_pick(draw, 0, 1, 2, 5)),
        "walk_levels": int(_pick(draw, 1, 3, 4)),
        "level_cycles": int(_pick(draw, 0, 1, 20, 100)),
        "walk_cache_entries": int(_pick(draw, 0, 0, 1, 3, 8)),
        "network": _pick(draw, "mesh", "ring", "crossbar"),
        "hop_cycles": int(_pick(draw, 0, 1, 2)),
        "link_cycles": int(_pick(draw, 0, 1, 1, 5, 30)),
    }


def _rows(draw: np.random.Generator, cores: int, count: int, gap: float, unmapping: float) -> list[Row]:
    """Return a trace in which cores share some pages, at a mean gap between rows of all cores."""
    cycles = np.cumsum(np.floor(draw.exponential(gap, count)).astype(np.int64)) if gap else np.zeros(count, np.int64)
    pages, spread, high = int(_pick(draw, 6, 15, 40)), int(_pick(draw, 1, 9, 512)), int(_pick(draw, 0, 1 << 22))
    own = float(_pick(draw, 0.0, 0.3))
    rows = []
    for cycle in cycles.tolist():
        core = int(draw.integers(cores))
        page = min(int(draw.exponential(pages / 3)), pages)
        page += 1000 * (core + 1) if draw.random() < own else 0
        rows.append(Row(cycle, core, high + page * spread, bool(draw.random() < unmapping)))
    return rows


def drawn(seed: int, loaded: bool = True, rules: tuple[Any, ...] = EVICTIONS) -> Case:
    """Draw a configuration; loaded ones are saturated more often than not, others leave every access time to end."""
    draw = np.random.default_rng([seed, 4])
    machine = _machine(draw)
    gap = float(_pick(draw, 0, 0.5, 3, 20, 120)) if loaded else 0.0
    rows = _rows(draw, machine["cores"], int(draw.integers(50, 300)), gap, float(_pick(draw, 0, 0, 0.03)))
    if not loaded:
        rows = [row._replace(cycle=SPACE * at) for at, row in enumerate(rows)]
    options = {
        "pages_an_entry": int(_pick(draw, 1, 1, 1, 4)),
        "contiguous_share": float(_pick(draw, 1.0, 1.0, 0.0)),
        "inclusive": bool(draw.random() < 0.2),
        "shootdown": _pick(draw, "targeted", "broadcast"),
        "sample_accesses": int(_pick(draw, 1, 7, 8192)),
    }
    if hasattr(Translation.options(), "news") and draw.random() < 0.3:
        options["news"] = "free"
    warps = (int(_pick(draw, 1, 2, 8)), int(_pick(draw, 0, 0, 5))) if loaded and draw.random() < 0.5 else None
    policies = _policies(draw, machine["private_entries"], machine["cores"], rules)
    return Case(rows, machine, policies, warps, options, seed)


def _ranges(draw: np.random.Generator, rows: list[Row], page_bytes: int, levels: int) -> tuple[PageRange, ...]:
    """Return a few ranges of large pages among those that a trace names, some of which it only touches."""
    spans = [span for span in (4, 32, 512, 2048) if span < 512 ** (levels)]
    sizes = sorted({int(_pick(draw, *spans)) for _ in range(3)})
    first, last = min(row.page for row in rows), max(row.page for row in rows)
    result, at = list[PageRange](), first
    while at <= last and len(result) < 5:
        span = int(_pick(draw, *sizes))
        begin = at // span * span + span * int(draw.integers(0, 2))
        begin = max(begin, -(-at // span) * span)
        end = begin + span * int(draw.integers(1, 4))
        result.append(PageRange(begin=begin * page_bytes, end=end * page_bytes, page_bytes=span * page_bytes))
        at = end + int(draw.integers(0, 1 + (last - first) // 3))
    return tuple(result)


def drawn_with_walks(seed: int) -> Case:
    """Draw a loaded configuration with what docs/translation-rules.md allows of pages, walks and dead entries."""
    case, draw = drawn(seed), np.random.default_rng([seed, 15])
    machine, options = dict(case.machine), dict(case.options)
    page_bytes = TranslationMachine(**machine).page_bytes
    if draw.random() < 0.4:
        machine["walk_levels"] = int(_pick(draw, 3, 4))
        options["page_sizes"] = ByRange(ranges=_ranges(draw, case.rows, page_bytes, machine["walk_levels"] - 1))
    if draw.random() < 0.4:
        options |= {"pages_an_entry": int(_pick(draw, 2, 8)), "contiguous_share": float(_pick(draw, 0.0, 0.5, 1.0))}
        if draw.random() < 0.5:
            options |= {"contiguous_share": 1.0, "contiguity": Runs(mean=float(_pick(draw, 1.5, 3.0, 20.0)))}
    options["merge_walks"] = bool(draw.random() < 0.6)
    if draw.random() < 0.5:
        machine["walk_levels"] = max(machine["walk_levels"], 3)
        options["walk_order"] = ByNode(level=int(_pick(draw, 1, 2)), most=int(_pick(draw, 1, 2, 3, 8)))
    if draw.random() < 0.4:
        walks, only = int(_pick(draw, 1, 1, 2, 8)), bool(draw.random() < 0.3)
        start, level = int(_pick(draw, 0, 1, 150)), int(_pick(draw, 0, 30, 200))
        options["walks_by"] = Software(walks=walks, start_cycles=start, level_cycles=level, only=only)
    if draw.random() < 0.5 and machine["shared_entries"] and not options["inclusive"]:
        options["bypass"] = DeadEntries(
            threshold=int(_pick(draw, 1, 1, 2, 4, 7)),
            counters=int(_pick(draw, 1, 4, 64)),
            region_pages=int(_pick(draw, 1, 4)),
            remembered=int(_pick(draw, 0, 1, 2, 16)),
        )
    unmapping = float(_pick(draw, 0, 0, 0.1))
    rows = [row._replace(unmap=row.unmap or bool(draw.random() < unmapping)) for row in case.rows]
    return replace(case, rows=rows, machine=machine, options=options)


def _groups(draw: np.random.Generator, cores: int) -> dict[str, Any]:
    """Return groups that are named, uneven and mixed, or of cores that follow each other."""
    if draw.random() < 0.4:
        return {"middle_cores": int(_pick(draw, 1, 2, 3, 16))}
    of = draw.integers(int(draw.integers(1, 5)), size=cores)
    groups = [[str(core) for core in draw.permutation(cores) if of[core] == group] for group in np.unique(of)]
    return {"shared_groups": ", ".join(" ".join(group) for group in groups)}


def drawn_with_middle(seed: int) -> Case:
    """Draw a loaded configuration with a middle level, of what other tests draw, and levels whose entries reach far."""
    draws = (drawn, drawn_with_walks, drawn_with_unmappings, lambda number: drawn_with_unmappings(number, plain=True))
    case, draw = draws[seed % len(draws)](seed), np.random.default_rng([seed, 56])
    machine, options = dict(case.machine), dict(case.options)
    entries = int(_pick(draw, 0, 1, 2, 6, 24))
    machine |= {
        "middle_entries": entries,
        "middle_ways": int(_pick(draw, 0, 2, 1)) if entries % 2 == 0 else 0,
        "middle_cycles": int(_pick(draw, 0, 1, 6, 30)),
        "middle_ports": int(_pick(draw, 0, 1, 2)),
        **_groups(draw, machine["cores"]),
    }
    if draw.random() < 0.5:
        options |= {"pages_an_entry": 1, "page_sizes": OneSize(), "contiguous_share": 1.0, "contiguity": WholeGroups()}
        machine["middle_pages"] = int(_pick(draw, 1, 2, 16))
        machine["shared_pages"] = 1 if options["inclusive"] else int(_pick(draw, 1, 2, 16, 64))
    case = replace(case, machine=machine, options=options)
    return _nothing_behind(case) if draw.random() < 0.15 else case


def _nothing_behind(case: Case) -> Case:
    """Return a case without a level behind the middle one, whose misses could be one step if that were not there."""
    machine = {**case.machine, "shared_entries": 0, "shared_ways": 0, "walk_cache_entries": 0, "private_ports": 0}
    policies = {**case.policies, "locate": NoDirectory(), "fill": DemandAlways()}
    options = {name: value for name, value in case.options.items() if name not in ("bypass", "page_sizes")}
    rows = [row._replace(cycle=row.cycle * 40) for row in case.rows]
    return replace(case, rows=rows, machine=machine, policies=policies, warps=None, options=options)


SOON = (0, 0, 1, 2, 5, 13, 40, 150, 600)
"""Cycles after which a page that was missed is unmapped, and asked for anew."""


def _unmapped_soon(draw: np.random.Generator, rows: list[Row], cores: int) -> list[Row]:
    """Return a trace in which a third of the accesses is unmapped soon after, and half of these asked for once more."""
    more = list[Row]()
    for row in rows:
        if row.unmap or draw.random() > 0.33:
            continue
        gone = row.cycle + int(_pick(draw, *SOON))
        more.append(Row(gone, int(draw.integers(cores)), row.page, True))
        if draw.random() < 0.5:
            more.append(Row(gone + int(_pick(draw, *SOON)), int(draw.integers(cores)), row.page))
    return sorted([*rows, *more], key=lambda row: row.cycle)


def drawn_with_unmappings(seed: int, plain: bool = False) -> Case:
    """Draw a configuration whose pages are unmapped while under way: few registers, one walker, a small shared TLB.

    A plain one is such that the engine may serve misses in one step.
    """
    case, draw = drawn(seed) if plain else drawn_with_walks(seed), np.random.default_rng([seed, 12])
    machine = {**case.machine, "walkers": 1, "private_mshrs": int(_pick(draw, 1, 1, 2, 8))}
    machine |= {"shared_entries": int(_pick(draw, 1, 1, 4)), "shared_ways": 0}
    rows = _unmapped_soon(draw, case.rows, machine["cores"])
    case = replace(case, machine=machine, rows=rows)
    return _served_at_once(draw, case) if plain else case


def _served_at_once(draw: np.random.Generator, case: Case) -> Case:
    """Return a case with the policies whose misses may be answered in one step, and rows farther apart."""
    near = Directory(scope=Oracle(), look_up_cycles=int(draw.integers(4)), max_remote_tries=int(draw.integers(1, 3)))
    plain = {"locate": near if draw.random() < 0.5 else NoDirectory(), "peer": Nearest(), "fill": DemandAlways()}
    plain |= {"remote_fill": Always(), "shared_eviction": LRU()}
    apart = int(_pick(draw, 1, 5, 40))
    plain["eviction"] = _pick(draw, LRU, FIFO, MRU)()
    rows = [row._replace(cycle=row.cycle * apart) for row in case.rows]
    machine = {**case.machine, "private_ports": 0, "shared_ports": 0, "link_cycles": 0}
    return replace(case, rows=rows, machine=machine, policies=plain, warps=None)


SPACE = 50_000
"""Cycles between two rows of a case without load: longer than anything takes."""
