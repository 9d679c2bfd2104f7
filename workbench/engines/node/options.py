"""What a setup of a whole node decides: policies by slot, and what acts on what (spec 6, section 5).

Slots are those of its parts, by the names that they have there; levers are those of its parts and couplings between
them, all neutral at first.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_type_hints

from workbench.engines.dispatch.prepare import DispatchOptions
from workbench.engines.dispatch.prepare import Slots as DispatchSlots
from workbench.engines.kit.engine import defaults_of, slot
from workbench.engines.malloc.options import MallocOptions
from workbench.engines.malloc.options import Slots as MallocSlots
from workbench.engines.pool.options import PoolOptions
from workbench.engines.pool.options import Slots as PoolSlots
from workbench.engines.translation.options import Slots as TranslationSlots
from workbench.engines.translation.options import TranslationOptions
from workbench.levers import Spec, lever
from workbench.policies.pool.frames import Frames

MEMORY, HOLDS, MALLOC, REMOTE = ("at_once", "wait"), ("none", "group"), ("at_once", "wait"), ("local", "link")
TO, KERNEL_CARD, FREE_IN_USE = ("holders", "directory", "all"), ("home", "most_bytes"), ("wait", "error")
KNOWN, CHUNKS = ("own", "group_before"), ("at_once", "wait")


class NodeOptions(Spec):
    """What the engine `node` leaves open."""

    memory: Literal["at_once", "wait"] = lever(
        "at_once", description="whether kernels wait for their tensors, and a refused application ends (spec 6, R9)"
    )
    pages: Literal["neutral", "4k", "64k", "2m", "largest"] = lever(
        "neutral", description="page size: 2 MiB whatever frames there are, or pages of frames (spec 6, R10)"
    )
    shootdown_cycles: int = lever(
        0, least=0, most=1 << 20, unit="cycles", description="for which a module that held a page issues nothing (R11)"
    )
    shootdown_to: Literal["holders", "directory", "all"] = lever(
        "holders", description="modules that a shoot-down goes to: that hold a page, that a directory says do, all"
    )
    touches_hold: Literal["none", "group"] = lever(
        "none", description="whether a group keeps its resources until its touches are answered (spec 6, R12)"
    )
    remote: Literal["local", "link"] = lever(
        "local", description="whether walks and data of pages on other cards pass the links (spec 6, R13)"
    )
    malloc: Literal["at_once", "wait"] = lever(
        "at_once", description="whether waves wait for malloc, and empty heaps ask the pool for a chunk (spec 6, R14)"
    )
    history: bool = lever(
        False, description="whether translation stalls and lock waits enter the instruction history (spec 6, R16)"
    )
    pages_known: Literal["own", "group_before"] = lever(
        "own", description="whose pages the choice by affinity knows: the group's, or those of the one before (R15)"
    )
    touches_a_phase: int = lever(
        0, least=0, most=1 << 14, unit="pages", description="of a touch that are simulated; 0 = all (spec 6, R7)"
    )
    kernel_card: Literal["home", "most_bytes"] = lever(
        "home", description="where a kernel runs: on its application's card, or where most of its bytes lie (R6)"
    )
    free_in_use: Literal["wait", "error"] = lever(
        "wait", description="a free of a tensor that kernels still name waits, or stops the run (spec 6, E5)"
    )
    chunk_bytes: int = lever(
        2 << 20, least=4096, most=1 << 36, scale="log", unit="bytes", description="a chunk of a device heap (E8)"
    )
    chunks: Literal["at_once", "wait"] = lever(
        "wait", description="whether a heap that grows waits for the pool, or has its chunk at once without it"
    )
    heap_answer_cycles: int = lever(
        0, least=0, most=1_000_000, unit="cycles", description="from the end of a heap's work to the answer of a call"
    )
    issue_cycles: int = lever(
        1, least=0, most=1000, unit="cycles", description="from the issue of a touch to the next of its group (E1)"
    )
    walk_bytes: int = lever(
        64, least=0, most=1 << 20, unit="bytes", description="that a walk of a page on another card moves"
    )
    line_bytes: int = lever(
        128,
        least=32,
        most=4096,
        scale="power_of_two",
        unit="bytes",
        description="of which data pass a link (spec 6, R7)",
    )
    link_latency_ns: int = lever(
        0, least=0, most=10**9, unit="ns", description="before the first byte, of every link of a path (spec 6, R13)"
    )
    local_cycles: int = lever(
        0, least=0, most=1 << 20, unit="cycles", description="data on the own card after their translation (E4)"
    )
    horizon: int = lever(
        0, least=0, most=1 << 55, unit="cycles", description="the first cycle that is not simulated; 0 = none"
    )
    alone: bool = lever(
        False, description="whether every application runs alone too, for its slowdown and the fairness (section 7)"
    )
    without: Literal[
        "nothing",
        "memory",
        "channel",
        "compute",
        "issue",
        "walkers",
        "translation",
        "link",
        "malloc_lock",
        "malloc_service",
        "heap_chunk",
        "shoot_down",
    ] = lever("nothing", description="the kind of delay that is removed, by the parts of a group's time (section 7)")
    release_ns: int = lever(
        -1, least=-1, most=10**9, unit="ns", description="the pool's work on a release; -1 = as on a request"
    )
    dispatch: DispatchOptions = lever(DispatchOptions.read({}), description="the dispatcher of every card")
    translation: TranslationOptions = lever(TranslationOptions.read({}), description="the translation of every card")
    heap: MallocOptions = lever(
        MallocOptions.read({"heap_bytes": 1 << 16}), description="the heap of an application on a card"
    )
    pool: PoolOptions = lever(PoolOptions.read({}), description="the service of the pool")


PARTS = {"dispatch": DispatchSlots, "translation": TranslationSlots, "malloc": MallocSlots, "pool": PoolSlots}
"""The slots of each part; no two parts have one of the same name."""


class OwnSlots(NamedTuple):
    """What only a node leaves to a policy."""

    frames: Frames = slot("lowest")


_EACH = (*PARTS.values(), OwnSlots)
Slots = NamedTuple(  # type: ignore[misc]
    "Slots", [(name, kind) for slots in _EACH for name, kind in get_type_hints(slots).items()]
)
"""A whole node."""
Slots._field_defaults = {name: default for slots in _EACH for name, default in defaults_of(slots).items()}
