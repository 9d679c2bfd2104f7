"""Drawings of pools: boards and their links, cards that lend, a block that is split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.docs.drawings._svg import Svg, policy_of
from workbench.errors import WorkbenchError

GIB = 1 << 30
CARDS = (("gpu1", 10, 24.0), ("gpu2", 90, 48.0), ("gpu3", 40, 150.0), ("gpu6", 150, 60.0))
"""Cards other than a borrower: name, free bytes, GB/s to it."""


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
    """Return the card, of four, that lends when a card is full; empty where a policy needs more than that."""
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
    """Return the next lenders as memory runs out: by the fastest link alone, or by links and free memory."""
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
    rates = "; ".join(f"{card} {free}, {rate:g}" for card, free, rate in CARDS)
    picture.words(20, 110, f"gpu0 asks; free, GB/s to it: {rates}; threshold 48", "small")
    return picture.text()
