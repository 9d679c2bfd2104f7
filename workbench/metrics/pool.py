"""The measures of a memory pool: completion, driver calls, borrowing, balance, fragmentation (spec 5, section 6).

A request is an allocation or a free; one that was never asked counts as an allocation that was not granted, and for
nothing else. A measure that is not defined for a run (the bandwidth of what was borrowed, when nothing was) is NaN.
It also draws the regions of a card as rectangles of requests and addresses, and memory by card after every request.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import cv, entropy, gini, over, quantile
from workbench.records.pool import (
    AFTER,
    BEFORE,
    BYTES,
    CARD,
    CAUSE,
    FREE_OF_REFUSED,
    LEFT,
    MISJUDGED,
    PHYSICAL,
    REGION,
    RELEASED,
    REPEATED_FREE,
    ROW,
    STITCHED,
    TO,
    UNKNOWN_FREE,
    FilledRecord,
    PoolRecord,
    borrowed,
    ever_away,
    granted,
    remote,
    stays_of,
    was_asked,
)

MEASURES = declared(
    Measure("completed_rate", "", "higher", "allocations that were granted, as a share of all"),
    Measure("granted_bytes", "bytes", "higher", "bytes of the allocations that were granted, as asked for"),
    Measure(
        "granted_bytes_rate", "", "higher", "bytes of the allocations that were granted, as a share of the bytes of all"
    ),
    Measure("misjudged_rate", "", "lower", "allocations refused by the card that was chosen, as a share of all"),
    Measure("driver_calls_per_request", "calls", "lower", "the driver's allocations and releases a request"),
    Measure(
        "mapping_calls_per_request",
        "calls",
        "lower",
        "the driver's calls a request that map, set access or unmap: of pages, and of what is stitched",
    ),
    Measure(
        "cache_hit_rate", "", "higher", "granted allocations that needed no driver call, as a share of the granted"
    ),
    Measure("borrowed_rate", "", "neither", "allocations granted on another card, as a share of the granted"),
    Measure("borrowed_peak_bytes", "bytes", "neither", "most bytes borrowed at a time, all cards together"),
    Measure(
        "borrowed_bandwidth_gbps",
        "GB/s",
        "higher",
        "bandwidth of the path to regions on other cards, averaged over stays",
        compared_by="ratio",
    ),
    Measure(
        "remote_access_mean_ns",
        "ns",
        "lower",
        "how long data of a region are under way, averaged over those that ever lie on another card",
        compared_by="ratio",
    ),
    Measure(
        "borrowed_reading_mean_ns", "ns", "lower", "time to read all borrowed bytes once, averaged over the run's time"
    ),
    Measure(
        "remote_slowdown",
        "",
        "lower",
        "time that data of a region on another card are under way, over what it would be without contention, averaged",
        compared_by="ratio",
    ),
    Measure(
        "transfer_mean_ns",
        "ns",
        "lower",
        "how long data of regions on other cards and of moves are under way, over all that was granted",
    ),
    Measure("moves_per_request", "moves", "lower", "regions brought from one card to another, a request"),
    Measure("moved_bytes", "bytes", "lower", "bytes of those regions, as asked for"),
    Measure(
        "lender_failure_rate", "", "lower", "allocations that their own card, lending, could not serve, as a share"
    ),
    Measure(
        "lender_entropy", "bits", "higher", "Shannon entropy of the cards that lent, over all stays on other cards"
    ),
    Measure(
        "utilisation_gini", "", "lower", "share of each card's memory in use, averaged over requests: Gini over cards"
    ),
    Measure(
        "utilisation_std",
        "",
        "lower",
        "share of each card's memory in use, averaged over requests: standard deviation over cards",
    ),
    Measure(
        "power_proxy_cv",
        "",
        "lower",
        "proxy for power balance, as no power is simulated: bytes in use on each GPU, averaged over time, standard "
        "deviation over mean over the GPUs with memory, as if every byte in use were read as often; no watts, and "
        "nothing about links, CPUs or computation",
    ),
    Measure("active_peak_bytes", "bytes", "neither", "most bytes that applications had at a time, as asked for"),
    Measure(
        "reserved_peak_bytes",
        "bytes",
        "lower",
        "most bytes got from the drivers at a time, all cards together",
        compared_by="ratio",
    ),
    Measure("cached_peak_bytes", "bytes", "lower", "most cached bytes at a time, all cards together"),
    Measure("cached_peak_card_bytes", "bytes", "lower", "most cached bytes of any card"),
    Measure("fragmentation", "", "lower", "1 - peak active / peak reserved"),
    Measure(
        "unused_rate", "", "lower", "of granted bytes over time, the share that holds no data, where the workload tells"
    ),
    Measure(
        "reserved_unused_rate", "", "lower", "of bytes got from the drivers over time, the share that holds no data"
    ),
    Measure("span_ns", "ns", "lower", "from the first request to the last answer", compared_by="ratio"),
    Measure(
        "allocations_per_millisecond",
        "allocations",
        "higher",
        "allocations that were granted, over `span_ns` in millions",
        compared_by="ratio",
    ),
    Measure("latency_mean_ns", "ns", "lower", "from a request to its answer, averaged"),
    Measure("latency_p99_ns", "ns", "lower", "from a request to its answer, 99th percentile"),
    Measure("waited_rate", "", "lower", "granted allocations that waited for memory, as a share of the granted"),
    Measure("waited_in_vain_rate", "", "lower", "allocations that waited and were refused, as a share of all"),
    Measure("wait_mean_ns", "ns", "lower", "how long allocations waited that did, granted or not, averaged"),
    Measure("wait_p99_ns", "ns", "lower", "how long allocations waited that did, granted or not, 99th percentile"),
    Measure(
        "never_asked_rate", "", "lower", "requests of applications that waited to the end: never asked, as a share"
    ),
    Measure("fallbacks", "choices", "lower", "choices of a card for which no candidate met what the policy wants"),
    Measure(
        "misused_frees", "requests", "neither", "frees of what was never allocated, is free already or was refused"
    ),
)
"""Every measure by name."""


_MISUSED = UNKNOWN_FREE, REPEATED_FREE, FREE_OF_REFUSED


def measure(record: PoolRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    latency = (record.answered - record.time)[was_asked(record)]
    used, got = in_use(record), reserved(record)
    return {
        **_grants(record),
        **_borrowing(record),
        **_moving(record),
        **_lending(record),
        **_balance(record, used),
        **_peaks(record, used, got),
        "latency_mean_ns": over(latency.sum(), latency.size),
        "latency_p99_ns": quantile(latency, 0.99),
        **_waiting(record),
        **_filled(record, used, got),
        "fallbacks": float(record.fallbacks),
        "misused_frees": float(sum((record.outcome == one).sum() for one in _MISUSED)),
    }


def _grants(record: PoolRecord) -> dict[str, float]:
    served, allocations = granted(record).sum(), (record.action == 0).sum()
    had, wanted = record.asked[granted(record)].sum(), record.asked[record.action == 0].sum()
    return {
        "completed_rate": over(served, allocations),
        "granted_bytes": float(had),
        "granted_bytes_rate": over(had, wanted),
        "misjudged_rate": over((record.outcome == MISJUDGED).sum(), allocations),
        "driver_calls_per_request": over(len(record.calls), was_asked(record).sum()),
        "mapping_calls_per_request": over(record.mappings.sum(), was_asked(record).sum()),
        "cache_hit_rate": over(served - (record.outcome == PHYSICAL).sum(), served),
        "borrowed_rate": over(borrowed(record).sum(), served),
    }


def _borrowing(record: PoolRecord) -> dict[str, float]:
    stays = stays_of(record, ever_away(record))
    away = remote(record, stays)
    lender, region = stays.card[away], stays.region[away]
    rows = np.unique(region)
    alone = record.access_alone_ns[rows]
    read = alone > 0
    slowdown = record.access_ns[rows][read] / alone[read]
    return {
        "borrowed_bandwidth_gbps": over(record.gbps[lender, record.borrower[region]].sum(), lender.size),
        "borrowed_reading_mean_ns": borrowed_reading_mean_ns(record),
        "remote_access_mean_ns": over(record.access_ns[rows].sum(), rows.size),
        "remote_slowdown": over(slowdown.sum(), slowdown.size),
        "lender_entropy": entropy(np.bincount(lender, minlength=len(record.cards))),
    }


def _moving(record: PoolRecord) -> dict[str, float]:
    under_way = record.access_ns.sum() + record.move_ns.sum()
    return {
        "transfer_mean_ns": over(under_way, granted(record).sum()),
        "moves_per_request": over(len(record.moves), record.time.size),
        "moved_bytes": float(record.asked[record.moves[:, REGION]].sum()),
    }


def _lending(record: PoolRecord) -> dict[str, float]:
    """Compute what lending costs the lenders, and how much is borrowed at a time."""
    lent = lent_out(record)
    elsewhere = (record.action == 0) & was_asked(record) & ~(granted(record) & (record.card == record.borrower))
    lending = lent[record.borrower, np.arange(record.time.size)] > 0
    return {
        "borrowed_peak_bytes": float(lent.sum(axis=0).max(initial=0)),
        "lender_failure_rate": over((elsewhere & lending).sum(), (record.action == 0).sum()),
    }


def _balance(record: PoolRecord, used: np.ndarray) -> dict[str, float]:
    with_memory, requested = np.flatnonzero(record.capacity), was_asked(record)
    if not record.time.size:
        return dict.fromkeys(("utilisation_gini", "utilisation_std", "power_proxy_cv"), math.nan)
    share = np.array([used[card, requested].mean() / record.capacity[card] for card in with_memory])
    return {
        "utilisation_gini": gini(share) if share.any() else 0.0,
        "utilisation_std": float(share.std()),
        "power_proxy_cv": cv(in_use_by_gpu(record, used)),
    }


def in_use_by_gpu(record: PoolRecord, used: np.ndarray) -> np.ndarray:
    """Return the bytes in use on each GPU with memory, averaged over time: float64[GPUs].

    Time runs from the first served request to the last. If both are one moment, the result is NaN. `used` is of
    `in_use`."""
    gpus, lasts = np.flatnonzero(~record.hosts & (record.capacity > 0)), np.diff(record.done).astype(float)
    span = lasts.sum()
    return np.array([over(used[card, :-1] @ lasts, span) for card in gpus])


def _peaks(record: PoolRecord, used: np.ndarray, got: np.ndarray) -> dict[str, float]:
    active = int(_changes(record, "asked").cumsum().max(initial=0))
    taken = got.sum(axis=0)
    idle = taken - used.sum(axis=0)
    return {
        "active_peak_bytes": float(active),
        "reserved_peak_bytes": float(taken.max(initial=0)),
        "cached_peak_bytes": float(idle.max(initial=0)),
        "cached_peak_card_bytes": float(record.peak_cached.max(initial=0)),
        "fragmentation": 1 - over(active, taken.max(initial=0)),
    }


def _filled(record: PoolRecord, used: np.ndarray, got: np.ndarray) -> dict[str, float]:
    """Return the memory that held no data; a refused request holds none."""
    span = float(record.answered.max() - record.time.min()) if record.time.size else math.nan
    unused = {"unused_rate": math.nan, "reserved_unused_rate": math.nan}
    if isinstance(record, FilledRecord):
        data = float(record.filled[granted(record)].sum())
        lasting = np.diff(record.time, append=record.answered.max(initial=0)).astype(float)
        held = float(used.sum(axis=0) @ lasting)
        had = sum(float(of_card @ lasting) for of_card in got)
        unused = {"unused_rate": 1 - over(data, held), "reserved_unused_rate": 1 - over(data, had)}
    pace = over(1e6 * granted(record).sum(), span)
    return {**unused, "span_ns": span, "allocations_per_millisecond": pace}


def _waiting(record: PoolRecord) -> dict[str, float]:
    did: Any  # a sum of truth values is a float to `over`, and not to every NumPy's types
    did, allocations = record.waited > 0, (record.action == 0).sum()
    served, waits = granted(record), record.waited[did]
    return {
        "waited_rate": over((served & did).sum(), served.sum()),
        "waited_in_vain_rate": over((~served & did).sum(), allocations),
        "wait_mean_ns": over(waits.sum(), waits.size),
        "wait_p99_ns": quantile(waits, 0.99),
        "never_asked_rate": 1 - over(was_asked(record).sum(), record.time.size),
    }


def borrowed_reading_mean_ns(record: PoolRecord) -> float:
    """Compute how long reading every borrowed byte once over its path would take, averaged over the run; NaN for one
    moment.

    A region counts with the requested bytes over the narrowest link of its path. It counts on each card from the
    request that brought it there to the one that took it away, or the last. The `clock` counts requests, so that a
    region weighs the same under every policy that lets no request wait. Times the run's length it is the sum over
    borrowed regions of bytes x time / bandwidth.

    References
    ----------
    spec 5, E14 (report remote-access time) and section 7 (offline optimum), whose bound this is held against.
    """
    time = clock(record)
    if time.size < 2 or time[-1] == time[0]:
        return math.nan
    stays = stays_of(record)
    away = remote(record, stays)
    region, moment = stays.region[away], np.append(time, time[-1])
    reading = record.asked[region] / record.gbps[stays.card[away], record.borrower[region]]
    lasts = moment[stays.last[away]] - moment[stays.first[away]]
    return float(reading @ lasts) / float(time[-1] - time[0])


def clock(record: PoolRecord) -> np.ndarray:
    """Return the time at which each request was sent, or the latest before it, int64[requests], nanoseconds: one that
    waited counts from then on.

    What the service itself takes is left out, which differs from policy to policy.
    """
    latest: np.ndarray = np.maximum.accumulate(record.time)
    return latest


class Regions(NamedTuple):
    """One row a region."""

    begin: np.ndarray
    """int64[regions], the request that was granted it, or that brought it to the card."""
    end: np.ndarray
    """int64[regions], the request that released it or took it away; as many as there are requests where none did."""
    address: np.ndarray
    """int64[regions]."""
    length: np.ndarray
    """int64[regions], bytes."""
    borrowed: np.ndarray
    """bool[regions], whether an application of another card has it."""


def regions_of(record: PoolRecord, card: int) -> Regions:
    """Return the regions of a card in the order of their grants; those stitched of several blocks are left out.

    A region that moves has a row for each of its stays on the card.
    """
    stays = stays_of(record)
    stitched = (stays.first == stays.region) & (record.outcome[stays.region] == STITCHED)
    kept = (stays.card == card) & ~stitched
    columns = (stays.first, stays.last, stays.identifier, stays.taken, remote(record, stays))
    return Regions(*(column[kept] for column in columns))


def in_use(record: PoolRecord, bytes_of: str = "taken") -> np.ndarray:
    """Return the bytes in use on each card after each request, int64[cards, requests]: of the regions, or as they were
    `asked` for."""
    return _by_card(record, bytes_of, np.ones(record.time.size, bool), np.ones((2, len(record.moves)), bool))


def lent_out(record: PoolRecord) -> np.ndarray:
    """Return the bytes in use on each card by applications of other cards, after each request: int64[cards,
    requests]."""
    guests = record.borrower[record.allocation] != record.card
    ends = record.moves[:, [LEFT, TO]].T
    return _by_card(record, "taken", guests, ends != record.borrower[record.moves[:, REGION]])


def reserved(record: PoolRecord) -> np.ndarray:
    """Return the bytes got from each card's driver and not given back, after each request: int64[cards, requests]."""
    change = np.zeros((len(record.cards), record.time.size), np.int64)
    np.add.at(change, (record.calls[:, CARD], record.calls[:, ROW]), record.calls[:, BYTES])
    return change.cumsum(axis=1)


def cached(record: PoolRecord) -> np.ndarray:
    """Return the cached bytes of each card after each request: int64[cards, requests]."""
    return reserved(record) - in_use(record)


def _by_card(record: PoolRecord, bytes_of: str, which: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Add up what requests change on each card, and what moves take from one and bring to another.

    Parameters
    ----------
    which : bool[requests]
        The requests that count.
    ends : bool[2, moves]
        Whether what a move takes from the card that it leaves counts, and what it brings to the other.
    """
    change, changes = np.zeros((len(record.cards), record.time.size), np.int64), _changes(record, bytes_of)
    rows = np.flatnonzero(which & (changes != 0))
    change[record.card[rows], rows] = changes[rows]
    if len(record.moves):
        requested = record.asked[record.moves[:, REGION]]
        for counts, card, size, sign in zip(ends, (LEFT, TO), (BEFORE, AFTER), (-1, 1), strict=True):
            moved = record.moves[:, size] if bytes_of == "taken" else requested
            np.add.at(change, (record.moves[counts, card], record.moves[counts, CAUSE]), sign * moved[counts])
    return change.cumsum(axis=1)


def _changes(record: PoolRecord, bytes_of: str) -> np.ndarray:
    """Return the bytes that each grant adds to those in use and each release takes from them, moves left aside:
    int64[requests]."""
    size = record.taken if bytes_of == "taken" else record.asked[record.allocation]
    change: np.ndarray = np.where(granted(record), size, np.where(record.outcome == RELEASED, -size, 0))
    return change
