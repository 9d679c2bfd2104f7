"""Drawings of memory: boards and who lends, who holds a page, how a warp's requests are cut from one block.

Cards, their memory and the links between them; a directory's bitmaps, what is evicted, what an access costs; a prefix
sum that takes one lock instead of many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.docs.drawings.svg import Svg, first_run, policy_of
from workbench.errors import WorkbenchError
from workbench.policies.policy import policies

GIB = 1 << 30
CARDS = (("gpu1", 10, 24.0), ("gpu2", 90, 48.0), ("gpu3", 40, 150.0), ("gpu6", 150, 60.0))
"""Cards beside a borrower: name, free bytes, GB/s to it."""


def dgx_1v() -> str:
    """Return the DGX-1V as its preset has it."""
    from workbench.machine import preset

    one = preset("dgx_1v")
    return of_machine(one.machine(), one.title)


def of_machine(machine: Any, title: str) -> str:
    """Return a board: cards on a circle, a line for each pair with links, as wide as what it carries."""
    ids, rates = machine.ids, machine.direct_gbps()
    picture = Svg(f"{title}: cards, and links by what they carry", 620, 424)
    places = _circle(len(ids), 310, 200, 160)
    fastest = float(rates.max()) or 1.0
    for one in range(len(ids)):
        for other in range(one + 1, len(ids)):
            if rates[one, other]:
                _link(
                    picture, places[one], places[other], float(rates[one, other]), fastest, f"{ids[one]} - {ids[other]}"
                )
    for card, (x, y) in zip(machine.cards, places, strict=True):
        kind = {"gpu": "chosen", "cpu": "owner3", "switch": "blank"}[card.kind]
        size = f"{card.memory_bytes / GIB:.0f} GiB" if card.memory_bytes else "no memory"
        picture.disc(x, y, 25, kind, f"{card.id}: {size}")
        picture.words(x, y + 4, card.id, "tiny inside", "middle")
    rate_words = sorted({float(rate) for rate in rates.ravel() if rate})
    rates_text = ", ".join(f"{rate:g}" for rate in rate_words[:6]) + (" ..." if len(rate_words) > 6 else "")
    picture.words(310, 416, f"GB/s per direction, parallel links added, thin to thick: {rates_text}", "small", "middle")
    return picture.text()


def _circle(count: int, x: float, y: float, radius: float) -> list[tuple[float, float]]:
    angles = [2 * math.pi * k / count - math.pi / 2 for k in range(count)]
    return [(x + 1.5 * radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


def _link(picture: Svg, one: Sequence[float], other: Sequence[float], rate: float, fastest: float, name: str) -> None:
    width = 1 + 5 * math.sqrt(rate / fastest)
    kind = "link fast" if rate > 0.6 * fastest else "link"
    picture.line(
        one[0], one[1], other[0], other[1], kind, stroke_width=f"{width:.1f}", data_link=f"{name}: {rate:g} GB/s"
    )


def best_fit_split_drawing() -> str:
    """Return a cache of freed blocks before and after a request of 64 bytes."""
    from workbench.policies.pool.fit import best_fit_split

    cached, size = [32, 96, 128], 64
    reply = best_fit_split(cached=cached, size=size)
    assert reply is not None
    taken, rest = reply
    after = [block for block in cached if block != taken] + [rest] * bool(rest)
    picture = Svg(f"A request of {size} takes the block of {taken}; {rest} stay cached", 620, 120)
    for row, (label, blocks) in enumerate((("cached before", cached), ("cached after", sorted(after)))):
        x = 140.0
        picture.words(130, 36 + row * 44, label, "label", "end")
        for block in blocks:
            kind = "chosen" if row == 0 and block == taken else "free"
            picture.box(x, 16 + row * 44, block * 1.6, 30, kind)
            picture.words(x + block * 0.8, 36 + row * 44, block, "inside", "middle")
            x += block * 1.6 + 6
    picture.words(140, 112, f"a request of {size}: the smallest block that is large enough is {taken}", "small")
    return picture.text()


def target(policy: Any) -> str:
    """Return which of four cards lends when a card is full; empty where a policy needs more than that."""
    try:
        lender = policy.choose(size=20, cards=list(CARDS))
    except (WorkbenchError, ValueError):
        return ""
    return _lending(policy.short(), lender)


def _lending(name: str, lender: str | None) -> str:
    reply = f"{lender} lends" if lender else "no card lends"
    picture = Svg(f"{name}: a request of 20 bytes that its own card cannot serve; {reply}", 620, 200)
    picture.words(20, 22, f"{name}: {reply}", "label")
    picture.box(20, 84, 90, 44, "taken")
    picture.words(65, 111, "gpu0, full", "inside", "middle")
    for row, (card, free, rate) in enumerate(CARDS):
        top = 36 + row * 38
        picture.line(
            110, 106, 300, top + 15, "link fast" if card == lender else "link", stroke_width=f"{1 + rate / 30:.1f}"
        )
        picture.box(300, top, 90, 30, "chosen" if card == lender else "blank")
        picture.words(345, top + 20, card, "inside", "middle")
        picture.box(400, top + 6, 180 * free / 150, 18, "free")
        picture.words(406, top + 20, f"{free} free, {rate:g} GB/s", "small")
    return picture.text()


def lending() -> str:
    """Return who lends next as memory runs out: by the fastest link alone, or by links and free memory."""
    picture = Svg("Which card serves ten requests of 20 bytes, one after the other", 620, 120)
    for row, policy in enumerate(
        (policy_of("target", "max_bandwidth"), policy_of("target", "bandwidth_then_most_free", threshold_gbps=48))
    ):
        picture.words(200, 38 + row * 44, policy.name, "label", "end")
        free = {card: amount for card, amount, _ in CARDS}
        for k in range(10):
            lender = policy.choose(size=20, cards=[(card, free[card], rate) for card, _, rate in CARDS])
            kind = f"owner{list(free).index(lender)}" if lender else "blank"
            picture.box(210 + k * 40, 18 + row * 44, 37, 30, kind)
            picture.words(228.5 + k * 40, 38 + row * 44, lender or "no", "tiny inside", "middle")
            if lender:
                free[lender] -= 20
    there = "; ".join(f"{card} {free}, {rate:g}" for card, free, rate in CARDS)
    picture.words(20, 110, f"gpu0 asks; free, GB/s to it: {there}; threshold 48", "small")
    return picture.text()


HOLDERS = {"page 17": "0111", "page 42": "1000", "page 8": "1111", "page 5": "0010"}
"""Bitmaps of four pages, core 0 on the left."""


def directory() -> str:
    """Return records of a directory: the cores that hold each page, its degree, and which peer core 0 asks."""
    from workbench.policies.translation.cores import degree

    picture = Svg("Records of core 0's directory: who holds each page, and which peer is asked", 620, 190)
    for core in range(4):
        picture.words(150 + core * 34, 18, f"core {core}", "tiny", "middle")
    for row, (page, bits) in enumerate(HOLDERS.items()):
        top = 28 + row * 38
        picture.words(120, top + 20, page, "label", "end")
        for core, bit in enumerate(bits):
            picture.box(136 + core * 34, top, 28, 28, "chosen" if bit == "1" else "blank")
            picture.words(150 + core * 34, top + 19, bit, "inside", "middle")
        peer = policy_of("peer", "first_bit").ask(bits)
        reply = (
            f"core 0 asks core {peer}" if peer is not None and peer >= 0 else "nobody has it: the shared TLB is asked"
        )
        held = "core 0 has it itself, and asks nobody" if bits[0] == "1" else reply
        picture.words(290, top + 19, f"degree {degree(bits)}; {held}", "small")
    return picture.text()


def protected_eviction() -> str:
    """Return which entry of a set goes when what many cores hold is protected."""
    policy = policy_of("eviction", "sharing_aware_eviction", base="mru", candidates=4, share_threshold=3)
    degrees = (3, 2, 1, 1)
    victim = policy.victim(degrees=degrees)
    picture = Svg("A set of four entries, the base policy's first choice on the left", 560, 110)
    for k, shared in enumerate(degrees):
        kind = "chosen" if k == victim else "taken" if policy.protected(shared) else "free"
        picture.box(30 + k * 90, 20, 80, 44, kind)
        picture.words(70 + k * 90, 47, f"{k}: held by {shared}", "inside", "middle")
    picture.words(
        30,
        92,
        f"threshold {policy.share_threshold}, what reaches it is protected: entry {victim} goes, the first below",
        "small",
    )
    return picture.text()


def eviction(policy: Any) -> str:
    """Return in which order a full set of six entries would go, after some of them were used again; drawn at random
    policies have none."""
    if policy.draws:
        return ""
    inserted, touched = "ABCDEF", "BDB"
    order = policy.order(inserted=inserted, touched=touched)
    picture = Svg(f"{policy.name}: entries in the order in which they would be evicted", 620, 130)
    for line, (label, names) in enumerate((("came in", inserted), ("used again", touched), ("would go", order))):
        top = 14 + line * 38
        picture.words(110, top + 19, label, "label", "end")
        for k, name in enumerate(names):
            picture.box(120 + k * 42, top, 36, 28, f"owner{ord(name) - ord('A')}")
            picture.words(138 + k * 42, top + 19, name, "inside", "middle")
    picture.words(120 + 42 * len(order) + 6, 14 + 2 * 38 + 19, "the first one goes first", "small")
    return picture.text()


def served_by() -> str:
    """Return what served the accesses of one small run of the engine, with and without a directory."""
    runs = {name: _served(name) for name in ("no_directory", "directory")}
    kinds = [kind for kind in ("private", "peer", "shared", "walk") if any(kind in run for run in runs.values())]
    most = max(count for run in runs.values() for _, count in run.values())
    picture = Svg("What served 3,000 accesses of eight cores", 640, 30 + 26 * 2 * len(kinds))
    for row, (kind, (name, run)) in enumerate([(kind, item) for kind in kinds for item in runs.items()]):
        mean, count = run.get(kind, (0.0, 0))
        top = 12 + row * 26
        picture.words(190, top + 14, f"{kind}, {name}", "label", "end")
        picture.box(200, top, max(240 * count / most, 1), 18, "owner0" if name == "directory" else "owner3")
        words = f"{count} accesses, {mean:.0f} cycle{'s' * (round(mean) != 1)} on average" if count else "none"
        picture.words(206 + 240 * count / most, top + 14, words, "small")
    return picture.text()


def _served(locate: str) -> dict[str, tuple[float, int]]:
    """Return the mean latency and the number of accesses by who served them, of one run."""
    sweep = {
        "engine": "translation",
        "machine": "patent_pilot",
        "workload": {"synthetic": "zipf_mixture", "sharing": 0.75, "count": 3000, "pace": "poisson", "gap": 100},
        "options": {"cores_issue": {"warps": {"count": 4}}},
        "policy": {"locate": locate, "eviction": "lru", "fill": "demand_always"},
        "seeds": 1,
    }
    there, record = first_run(sweep, events=True)
    log = there.events(record)
    result: dict[str, tuple[float, int]] = {}
    for kind in ("private", "merged", "peer", "shared", "walk"):
        cycles = log["latency"][(log["kind"] == "access") & (log["served_by"] == kind)]
        if cycles.size:
            result[kind] = float(cycles.mean()), int(cycles.size)
    return result


REQUESTS = (5, 8, 9, 2, 7, 4, 6, 3)
"""Bytes that eight lanes of a warp ask for."""


def corrected() -> str:
    """Return the pieces of a warp by the exclusive prefix sum."""
    return serve(
        policy_of("serve", "warp_aggregated", warp_size=len(REQUESTS), min_alloc=1, prefix="exclusive", align=1)
    )


def as_written() -> str:
    """Return the pieces by the rule as the document's formula has it: they overlap where sizes differ."""
    choices = policies("serve")["warp_aggregated"].levers["prefix"].choices
    written = next(name for name in choices if "written" in name)
    return serve(policy_of("serve", "warp_aggregated", warp_size=len(REQUESTS), min_alloc=1, prefix=written, align=1))


def serve(policy: Any) -> str:
    """Return the heap requests that a warp of eight lanes makes, and the piece of each lane."""
    served = policy.served(REQUESTS)
    rows = [(one, piece) for one in served for piece in _pieces(one)]
    most = max([one.total for one in served] + [o + s for _, (_, o, s) in rows])
    scale = 520 / most
    picture = Svg(_title(policy, served), 640, 60 + 22 * len(rows))
    picture.words(70, 16, _title(policy, served), "label")
    for row, (one, (lane, offset, size)) in enumerate(rows):
        top = 26 + row * 22
        picture.words(62, top + 14, f"lane {lane}", "label", "end")
        picture.box(70, top, one.total * scale, 18, "ground")
        picture.box(70 + offset * scale, top, max(size * scale - 1, 1), 18, f"owner{lane % 6}")
        picture.words(70 + (offset + size / 2) * scale, top + 13, size, "inside", "middle")
    overlap = _overlap(rows)
    end = 44 + 22 * len(rows)
    picture.words(70, end, f"bytes that two lanes share: {overlap}", "small")
    return picture.text()


def _pieces(one: Any) -> list[tuple[int, int, int]]:
    return list(zip(one.lanes, one.offsets, one.sizes, strict=True))


def _title(policy: Any, served: list[Any]) -> str:
    requests = f"{len(served)} request{'s' * (len(served) > 1)} to the heap"
    rule = f", prefix {policy.prefix}" if "prefix" in policy.levers else ""
    return f"{policy.name}{rule}: {requests} for {sum(REQUESTS)} bytes of {len(REQUESTS)} lanes"


def _overlap(rows: list[tuple[Any, tuple[int, int, int]]]) -> int:
    """Return how many bytes belong to more than one lane of a block."""
    owners: dict[tuple[int, int], int] = {}
    for one, (_, offset, size) in rows:
        for byte in range(offset, offset + size):
            owners[id(one), byte] = owners.get((id(one), byte), 0) + 1
    return sum(count > 1 for count in owners.values())


def one_lock() -> str:
    """Return how often the lock of the heap is taken, by thread and by warp, counted from what policies ask."""
    threads = [16] * 128
    ways = (
        policy_of("serve", "per_thread"),
        policy_of("serve", "warp_aggregated", warp_size=32),
        policy_of("serve", "warp_aggregated", warp_size=64),
    )
    counts = [len(policy.served(threads)) for policy in ways]
    picture = Svg("Requests to the heap of 128 threads that each ask for 16 bytes", 620, 40 + 34 * len(ways))
    for row, (policy, count) in enumerate(zip(ways, counts, strict=True)):
        top = 16 + row * 34
        width = 230 * count / max(counts)
        picture.words(220, top + 16, policy.short(), "label", "end")
        picture.box(230, top, max(width, 2), 22, f"owner{row}")
        picture.words(238 + width, top + 16, f"{count} requests, {count} locks", "small")
    return picture.text()
