"""What a node is, as plain values: machine, applications, couplings, policies (spec 6, sections 3 to 5).

Every class can be written as a dictionary of its fields, nested as the classes are; `Node.of(dictionary)` reads it.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from dataclasses import dataclass
from typing import Any, TypeVar

KIB, MIB, GIB = 2**10, 2**20, 2**30
_T = TypeVar("_T")


@dataclass(frozen=True)
class Dispatch:
    """Describe the dispatcher of a card (spec 3)."""

    modules: int = 1
    units: int = 1
    wave_slots: int = 16  # a unit
    vgpr_blocks: int = 64  # a unit
    sgpr_blocks: int = 64  # a unit
    shared_segments: int = 64  # a module
    round_cycles: int = 1
    dispatches_a_round: int = 1
    priorities: int = 4  # 1 is the most urgent, this the least
    history_cycles: int = 1024
    free_of_charge: bool = False  # groups take no resources: for blame alone
    weights: tuple[tuple[str, float], ...] = ()  # energy by class of instruction; a class that is not named has 1


@dataclass(frozen=True)
class Translation:
    """Describe the TLBs and walkers of a card (spec 4); 0 entries of the shared TLB: there is none."""

    private_entries: int = 16
    private_ways: int = 0  # 0 = fully associative
    shared_entries: int = 64
    shared_ways: int = 0
    registers: int = 4  # misses that a private TLB can have under way
    walkers: int = 1
    walk_queue: int = 0  # 0 = no limit
    private_cycles: int = 1
    directory_cycles: int = 1
    shared_cycles: int = 12
    hop_cycles: int = 2
    walk_cycles: int = 400
    network: str = "crossbar"  # or ring
    remote_tries: int = 1


@dataclass(frozen=True)
class Heap:
    """Describe the device heap that an application has on a card (spec 2)."""

    heap_bytes: int = 64 * KIB
    granule_bytes: int = 256
    hold_cycles: int = 20
    split_cycles: int = 4  # dividing an aggregated block
    scan_step_cycles: int = 0  # a step of the sum over the lanes of an aggregated call
    warp_size: int = 32
    min_alloc: int = 4
    locked: bool = True  # without, sections overlap: for blame alone


@dataclass(frozen=True)
class Card:
    """Describe a card: its memory and its three mechanisms."""

    memory_bytes: int = GIB
    dispatch: Dispatch = Dispatch()
    translation: Translation = Translation()
    heap: Heap = Heap()


@dataclass(frozen=True)
class Link:
    """Describe a direct link of two cards, each direction of which has these bytes."""

    cards: tuple[int, int]
    gbps: float = 25.0
    latency_ns: int = 0


@dataclass(frozen=True)
class Pool:
    """Describe the service of the memory pool (spec 5)."""

    request_ns: int = 0
    release_ns: int = 0
    driver_ns: int = 0
    idle_limit_bytes: int | None = None
    when_full: str = "refuse"  # or wait
    max_hops: int = 3


@dataclass(frozen=True)
class Machine:
    """Describe the board: cards, links, the pool's service and the clock."""

    cards: tuple[Card, ...] = (Card(),)
    links: tuple[Link, ...] = ()
    pool: Pool = Pool()
    clock_mhz: int = 1000
    walk_bytes: int = 64  # that a walk of a remote page moves
    line_bytes: int = 128  # of which data pass a link
    local_cycles: int = 0  # of data on the own card (E4)


@dataclass(frozen=True)
class Touch:
    """Touch a tensor: slice, halo, shared, gather or stride (R7)."""

    tensor: str
    pattern: str = "slice"
    halo: int = 1  # bytes
    stride: int = 1  # elements
    count: int = 4  # elements
    element_bytes: int = 128
    skew: float = 1.0
    bytes: int | None = None  # that a group moves; its lines if None


@dataclass(frozen=True)
class Phase:
    """Compute, then touch and allocate."""

    compute: Any = 100  # a law (draws.py)
    instructions: tuple[tuple[str, int], ...] = ()  # a group, by class
    touches: tuple[Touch, ...] = ()
    mallocs: tuple[int, ...] = ()  # bytes a lane; each wave asks for the same


@dataclass(frozen=True)
class Step:
    """One step of a stream: exactly one of its first four fields is set, or `kernel`."""

    allocate: str | None = None
    free: str | None = None
    wait: int | None = None  # a stream of the same application
    bytes: int = 0  # of allocate
    upto: int | None = None  # of wait: so many steps of that stream; all if None
    kernel: Kernel | None = None


@dataclass(frozen=True)
class Kernel:
    """Describe a kernel: groups, what each holds, and its phases."""

    groups: int = 1
    waves: int = 1
    vgpr_blocks: int = 0  # a wave
    sgpr_blocks: int = 0  # a wave
    shared_segments: int = 0  # a group
    independent: bool = False  # may be split (spec 3, R24)
    phases: tuple[Phase, ...] = ()
    tensors: tuple[str, ...] = ()  # named beside those of the touches


@dataclass(frozen=True)
class Application:
    """Describe an application: where, how urgent, when, and its streams."""

    home: int = 0
    priority: int = 1
    arrival: int = 0
    streams: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True)
class Couplings:
    """Say what acts on what (R9 to R16, and levers of R6, R7, R11, E5, E8); the defaults are neutral."""

    memory: str = "at_once"  # R9: or wait
    pages: str = "neutral"  # R10: or 4k, 64k, 2m, largest
    shootdown_cycles: int = 0  # R11
    shootdown_to: str = "holders"  # or directory, all
    touches_hold: str = "none"  # R12: or group
    remote: str = "local"  # R13: or link
    malloc: str = "at_once"  # R14: or wait
    history: bool = False  # R16
    pages_known: str = "own"  # R15: or group_before
    touches_a_phase: int = 0  # R7: 0 = all
    kernel_card: str = "home"  # R6: or most_bytes
    free_in_use: str = "wait"  # E5: or error
    chunk_bytes: int = 2 * MIB  # E8
    issue_at_once: bool = False  # touches of a phase in one cycle: for blame alone
    chunks_at_once: bool = False  # the pool is not waited for by heaps: for blame alone


@dataclass(frozen=True)
class Policies:
    """Name the answers to ask (policies.py), or give functions."""

    order: Any = "static"
    split: Any = "rotated"
    choice: Any = "first_module"
    stuck: Any = "never_split"
    stuck_threshold: int = 256
    registers: Any = "first_fit"
    shared: Any = "first_fit"
    serve: Any = "per_thread"
    heap: Any = "first_fit"
    locate: Any = "no_directory"
    fill: Any = "demand_always"
    eviction: Any = "lru"
    shared_eviction: Any = "lru"
    target: Any = "max_bandwidth"
    cache: Any = "best_fit"
    frames: Any = "lowest"
    residency: Any = "stay"


@dataclass(frozen=True)
class Node:
    """Describe a whole run."""

    machine: Machine = Machine()
    applications: tuple[Application, ...] = ()
    couplings: Couplings = Couplings()
    policies: Policies = Policies()
    seed: int = 0
    horizon: int | None = None

    @classmethod
    def of(cls, values: dict[str, Any]) -> Node:
        """Return the node that nested dictionaries describe."""
        return _read(cls, values)


def _read(kind: Any, value: Any) -> Any:
    if value is None or kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return value if isinstance(value, kind) else _read_fields(kind, value)
    if typing.get_origin(kind) is tuple:
        return _read_tuple(typing.get_args(kind), value)
    if isinstance(kind, types.UnionType):
        return _read(next(one for one in typing.get_args(kind) if one is not type(None)), value)
    return value


def _read_fields(kind: type[_T], value: dict[str, Any]) -> _T:
    kinds = _hints(kind)
    unknown = sorted(set(value) - set(kinds))
    if unknown:
        raise TypeError(f"{kind.__name__} has no field {unknown[0]}; it has {', '.join(kinds)}.")
    return kind(**{name: _read(kinds[name], given) for name, given in value.items()})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read_tuple(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if kinds[-1] is ...:
        rows = value.items() if isinstance(value, dict) else value
        return tuple(_read(kinds[0], one) for one in rows)
    return tuple(_read(kind, one) for kind, one in zip(kinds, value))
