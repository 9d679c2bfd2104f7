"""Drawings of address translation: who holds a page, what is evicted, what an access costs."""

from __future__ import annotations

from typing import Any

from workbench.docs.drawings._svg import Svg, first_run, policy_of

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
    """Return the entry of a set that goes when entries that many cores hold are protected."""
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
    """Return the sources that served the accesses of one small run of the engine, with and without a directory."""
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
    registered, record = first_run(sweep, events=True)
    log = registered.events(record)
    result: dict[str, tuple[float, int]] = {}
    for kind in ("private", "merged", "peer", "shared", "walk"):
        cycles = log["latency"][(log["kind"] == "access") & (log["served_by"] == kind)]
        if cycles.size:
            result[kind] = float(cycles.mean()), int(cycles.size)
    return result
