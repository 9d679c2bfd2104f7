"""H4.1b and c, H4.2b and c: the directory against private TLBs that are larger by what its records take (spec 4, V16).

Each core's directory has a record for every entry of its own and as many again. What they take is counted twice. In
bits: a record is a page number, a bit a core and a bit for the shared TLB; an entry of a private TLB a page number, a
frame number and its state. And in area, as a synthesiser makes the circuits of the directory and of the private TLB,
whose registers are flip-flops: the look-up of a record, its holders' news and its sharing counter are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, cast

from workbench.machine.presets import preset
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation import Directory, equal_area_entries
from workbench.policies.translation.eviction import LRU
from workbench.policies.translation.locate import FRAME_BITS
from workbench.policies.translation.peer import FirstBit
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.synthesised import area
from workbench.studies.claims.translation.experiment import BASES, DIRECTORY, MACHINE, NONE, SHARED, experiment
from workbench.studies.statistics import Finding


class Sizes(NamedTuple):
    """A core's records, its entries beside them, and the entries that a budget gives without them."""

    records: int
    entries: int
    more: int


def machine() -> TranslationMachine:
    """Return the machine of the pilot."""
    return cast(TranslationMachine, preset(MACHINE, TranslationMachine).machine())


def in_bits() -> Sizes:
    """Return the sizes at equal bits.

    >>> in_bits()
    Sizes(records=64, entries=32, more=66)
    """
    one = machine()
    records = 2 * one.private_entries
    directory = Directory.read({DIRECTORY: {"entries": records}})
    pages = one.pages.bit_length() - 1
    more = equal_area_entries(directory, one.private_entries, one.private_ways, one.cores, pages)
    return Sizes(records, one.private_entries, more)


@lru_cache(1)
def in_area() -> Sizes:
    """Return the sizes at equal area as synthesised: an entry takes what one of twice as many entries takes more.

    >>> in_area().more > in_bits().more
    True
    """
    one = machine()
    entries, pages = one.private_entries, one.pages.bit_length() - 1
    few, twice = (area((LRU(), (count, pages, FRAME_BITS))) for count in (entries, 2 * entries))
    directory = area((FirstBit(), (one.cores, 2 * entries, pages)))
    return Sizes(2 * entries, entries, entries + int(directory * entries / (twice - few)))


def against(regime: str, sizes: Sizes) -> dict[str, Any]:
    """Return the sweep of a regime: larger private TLBs against a directory, under LRU and under MRU."""
    return experiment(
        regime,
        {"preset": MACHINE, "private_entries": {"vary": [sizes.more, sizes.entries], "zip": "budget"}},
        locate={"vary": [NONE, {DIRECTORY: {"entries": sizes.records}}], "zip": "budget"},
        eviction={"vary": list(BASES)},
    )


def _gains(evidence: Evidence, budget: str, *measures: str) -> Iterator[Finding]:
    sizes = _BUDGETS[budget]()
    for regime in SHARED:
        runs = evidence.runs(f"translation_equal_{budget}_{regime}", against(regime, sizes))
        for base in BASES:
            larger, having = (point(runs, private_entries=size, eviction=base) for size in (sizes.more, sizes.entries))
            for measure in measures:
                note = f"{regime}, {base}, {sizes.more} entries against {sizes.entries}"
                yield better(runs, larger, having, measure, note)


def _claims(mark: str, budget: str, words: str) -> list[Claim]:
    return [
        Claim(
            f"H4.1{mark}",
            f"at equal {words}, fewer accesses to the shared TLB than with larger private TLBs",
            "¶34, ¶64 and ¶90",
            lambda e: list(_gains(e, budget, "shared_per_kilo")),
            costs=lambda e: list(_gains(e, budget, "noc_messages_per_kilo")),
        ),
        Claim(
            f"H4.2{mark}",
            f"at equal {words}, a lower mean latency than with larger private TLBs",
            "¶34 and ¶64",
            lambda e: list(_gains(e, budget, "latency_mean_cycles")),
        ),
    ]


_BUDGETS: dict[str, Callable[[], Sizes]] = {"bits": in_bits, "area": in_area}
EQUAL_BUDGET = [*_claims("b", "bits", "bits"), *_claims("c", "area", "area as synthesised")]
