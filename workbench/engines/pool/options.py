"""The levers and slots of the engine `pool`, and what of them and of requests is refused before a run."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.engines.kit import Given, slot
from workbench.engines.kit.checks import check_column
from workbench.engines.kit.engine import at_path
from workbench.engines.kit.order import LAST_CYCLE
from workbench.errors import InputError
from workbench.levers import Spec, lever
from workbench.machine.board import Board
from workbench.policies.placement.question import Placement
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.fit import CacheFit
from workbench.policies.pool.idle import IdleRelease
from workbench.policies.pool.residency import Residency
from workbench.policies.pool.target.question import Target
from workbench.workloads.pool_requests import ALLOC, DIE, PoolRequests


class PoolOptions(Spec):
    """What the engine `pool` leaves open."""

    path_metric: Literal["bottleneck", "hop_penalised", "sum_of_paths", "direct_only"] = lever(
        "hop_penalised", description="bandwidth of a path over several links (spec 5, E8)"
    )
    max_hops: int = lever(8, least=1, most=64, unit="links", description="longest path that counts")
    hop_factor: float = lever(0.5, least=0.01, most=1, step=0.05, description="of hop_penalised: factor a further link")
    free_metric: Literal["largest_cached_or_physical", "sum_cached_or_physical", "sum_all"] = lever(
        "largest_cached_or_physical", description="when a card has space for a request (spec 5, E1)"
    )
    target_tie: Literal["lowest_id", "most_free"] = lever(
        "lowest_id", description="which of the cards with the same score lends (spec 5, V12)"
    )
    cpus_lend: bool = lever(True, description="whether memory of CPU cards is lent (spec 5, E24)")
    history_window: int = lever(
        0,
        least=0,
        most=1 << 40,
        unit="requests",
        description="latest requests whose grants count as history; 0 = all (E13)",
    )
    history_weight: Literal["grants", "bytes"] = lever("grants", description="what history counts (spec 5, E13)")
    when_full: Literal["refuse", "wait"] = lever(
        "refuse", description="what becomes of a request for which no card has space (spec 5, E16)"
    )
    wait_order: Literal["first_come", "any_that_fits"] = lever(
        "first_come",
        description="who is served while a request waits: none that came later, or each that has space (E16)",
    )
    wait_limit_ns: int = lever(
        0, least=0, most=10**15, unit="ns", description="who waited longer is refused; 0 = waits for ever (E16)"
    )
    ipc_ns: int = lever(0, least=0, most=10**9, unit="ns", description="from client to service and back (spec 5, E21)")
    service_ns: int = lever(0, least=0, most=10**9, unit="ns", description="the service's work on a request")
    driver_alloc_ns: int = lever(0, least=0, most=10**9, unit="ns", description="a physical allocation")
    driver_free_ns: int = lever(0, least=0, most=10**9, unit="ns", description="a physical release")
    driver_ns_per_mib: int = lever(
        0, least=0, most=10**9, unit="ns", description="more for each whole MiB of a driver call"
    )
    driver_granule: int = lever(
        2 << 20,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="what a driver that is a placement policy deals in (spec 5, section 8)",
    )
    driver_map_ns: int = lever(
        0,
        least=0,
        most=10**9,
        unit="ns",
        description="a call of the driver that maps, sets access or unmaps (virtual memory)",
    )
    pointer_mode: Literal["identifier", "mapped_pointer"] = lever(
        "identifier",
        description="what an application gets of a region (spec 5, R25); pointers are mapped by its client",
    )
    map_ns: int = lever(
        0, least=0, most=10**9, unit="ns", description="of mapped_pointer: the client maps what was granted"
    )
    unmap_ns: int = lever(
        0,
        least=0,
        most=10**9,
        unit="ns",
        description="of mapped_pointer: the client unmaps what it releases (spec 5, R27)",
    )
    zero_gbps: float = lever(
        0.0,
        least=0,
        most=1e6,
        unit="GB/s",
        description="speed at which reused blocks are zeroed (spec 5, E20); 0 = they are not",
    )
    touches: float = lever(
        1.0, least=0, most=1e6, description="bytes moved over the links per byte of a borrowed region, over its life"
    )


class Slots(NamedTuple):
    """What is decided."""

    cache: Cache = slot("split_and_coalesce")
    cache_fit: CacheFit = slot("best_fit")
    target: Target = slot("max_bandwidth")
    idle_release: IdleRelease = slot("keep_all")
    driver: Placement = slot("byte_counter")
    residency: Residency = slot("stay")


Case = Given[Slots, PoolOptions, Board]


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
