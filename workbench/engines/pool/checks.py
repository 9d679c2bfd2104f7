"""What the engine `pool` refuses before a run: requests that make no sense, policies that cannot go together."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.engine import at_path
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.kit.tables import check_column
from workbench.engines.pool.slots import Case, Slots
from workbench.errors import InputError
from workbench.machine.board import Board
from workbench.policies.pool.target.question import Target
from workbench.workloads.pool_requests import ALLOC, DIE, PoolRequests


def check_policies(case: Case) -> None:
    """Refuse cards that the board does not have, and policies that cannot go together."""
    check_named_cards(case.slots.target, case.machine)
    _check_driver(case.slots)
    _check_waiting(case)


def check_named_cards(target: Target, board: Board) -> None:
    """Refuse a choice of a card that names one which the board does not have."""
    _check_cards(target, f"policy.target.{target.name}", board)


def _check_cards(target: Any, path: str, board: Board) -> None:
    """Refuse unknown cards of a choice, or of each choice that it sums, by the path of the one that names them."""
    for k, inner in enumerate(getattr(target, "choices", ())):
        _check_cards(inner, f"{path}.choices[{k}].{inner.name}", board)
    if not hasattr(target, "choices"):
        with at_path(path, target.name):
            target.parameters_on(board.ids)


def _check_driver(slots: Slots) -> None:
    """Refuse a driver that would move what is allocated, and one run for what is mapped page by page."""
    policy, cache = slots.driver, slots.cache
    if policy.layout == "compacting":
        raise InputError(f"policy.driver: {policy.name} moves what is allocated, which a driver cannot; use its base.")
    if policy.layout == "contiguous" and cache.rules().pages:
        raise InputError(
            f"policy.driver: {policy.name} places each allocation in one run, but {cache.name} maps pages wherever "
            "they lie; use byte_counter."
        )


def _check_waiting(case: Case) -> None:
    """Refuse a newcomer that would move others away and yet wait: what it moved would belong to no request."""
    residency = case.slots.residency
    if case.options.when_full == "wait" and residency.rules().evicts:
        raise InputError(
            f"options.when_full: {residency.name} moves others away for a newcomer, which therefore does not wait; "
            "use refuse, or migrate_back."
        )


def check_requests(requests: PoolRequests, board: Board) -> None:
    """Refuse what no board could serve: sizes, cards and times that make no sense, regions larger than every card."""
    for name, least, most in _RANGES:
        check_column("request", name, getattr(requests, name), len(requests.time), least, most)
    alloc = requests.action == ALLOC
    largest = max(card.free_bytes for card in board.cards)
    card = np.clip(requests.card, 0, len(board.cards) - 1)
    runs = np.array([it.kind != "switch" for it in board.cards])[card]
    wrong = (
        (alloc & (requests.bytes < 1), "asks for {bytes} bytes; a region has at least 1"),
        (alloc & (requests.bytes > largest), f"asks for {{bytes}} bytes; the largest card has {largest}"),
        (card != requests.card, f"comes from card {{card}}; the board's cards are 0 to {len(board.cards) - 1}"),
        (~runs, "comes from card {card}, which is a switch; applications run on processors"),
        (np.diff(requests.time, prepend=0) < 0, "comes before the one in front of it"),
    )
    for rows, says in wrong:
        if rows.any():
            row = int(np.argmax(rows))
            raise InputError(f"request {row} {says.format(bytes=requests.bytes[row], card=requests.card[row])}.")


_RANGES = (
    ("time", 0, LAST_CYCLE),
    ("app", 0, LAST_CYCLE),
    ("card", -LAST_CYCLE, LAST_CYCLE),
    ("action", ALLOC, DIE),
    ("handle", -LAST_CYCLE, LAST_CYCLE),
    ("bytes", -LAST_CYCLE, LAST_CYCLE),
)
"""The least and the most of each column; what a board allows of cards and bytes is looked at afterwards."""
