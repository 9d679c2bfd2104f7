"""The levers of the service around its policies."""

from __future__ import annotations

from typing import Literal

from workbench.levers import Spec, lever


class PoolOptions(Spec):
    """What the engine `pool` leaves open."""

    path_metric: Literal["bottleneck", "hop_penalised", "sum_of_paths", "direct_only"] = lever(
        "bottleneck", description="bandwidth of a path over several links (spec 5, E8)"
    )
    max_hops: int = lever(8, least=1, most=64, unit="links", description="longest path that counts")
    hop_factor: float = lever(0.5, least=0.01, most=1, step=0.05, description="of hop_penalised: factor a further link")
    free_metric: Literal["largest_cached_or_physical", "sum_cached_or_physical", "sum_all"] = lever(
        "largest_cached_or_physical", description="when a card has room for a request (spec 5, E1)"
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
        "refuse", description="what becomes of a request for which no card has room (spec 5, E16)"
    )
    wait_order: Literal["first_come", "any_that_fits"] = lever(
        "first_come", description="who is served while somebody waits: nobody before them, or whoever has room (E16)"
    )
    wait_limit_ns: int = lever(
        0, least=0, most=10**15, unit="ns", description="who waited longer is refused; 0 = waits for ever (E16)"
    )
    ipc_ns: int = lever(0, least=0, most=10**9, unit="ns", description="from client to service and back (spec 5, E21)")
    service_ns: int = lever(0, least=0, most=10**9, unit="ns", description="the service's work on a request")
    driver_alloc_ns: int = lever(0, least=0, most=10**9, unit="ns", description="a physical allocation")
    driver_free_ns: int = lever(0, least=0, most=10**9, unit="ns", description="a physical release")
    driver_ns_per_mib: int = lever(0, least=0, most=10**9, unit="ns", description="more for each MiB of a driver call")
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
