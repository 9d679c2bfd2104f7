"""H4.1b, H4.2b: the directory against private TLBs that are larger by as many bits as its records take (spec 4, V16).

A record is a page number, a bit a core and a bit for the shared TLB; an entry of a private TLB a page number, a frame
number and its state. Each core's directory has a record for every entry of its own and as many again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from workbench.machine.preset import preset
from workbench.machine.translation_machine import TranslationMachine
from workbench.policies.translation import Directory, equal_area_entries
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.translation.experiment import BASES, DIRECTORY, MACHINE, NONE, SHARED, experiment
from workbench.studies.statistics import Finding


def sizes() -> tuple[int, int, int]:
    """Return a core's records, its entries beside them, and the entries that the same bits give without them.

    >>> sizes()
    (64, 32, 66)
    """
    machine = cast(TranslationMachine, preset(MACHINE, TranslationMachine).machine())
    entries, pages = machine.private_entries, machine.pages.bit_length() - 1
    records = 2 * entries
    directory = Directory.read({DIRECTORY: {"entries": records}})
    more = equal_area_entries(directory, entries, machine.private_ways, machine.cores, pages)
    return records, entries, more


def against(regime: str) -> dict[str, Any]:
    """Return the sweep of a regime: larger private TLBs against a directory, under LRU and under MRU."""
    records, entries, more = sizes()
    return experiment(
        regime,
        {"preset": MACHINE, "private_entries": {"vary": [more, entries], "zip": "bits"}},
        locate={"vary": [NONE, {DIRECTORY: {"entries": records}}], "zip": "bits"},
        eviction={"vary": list(BASES)},
    )


def _gains(evidence: Evidence, *measures: str) -> Iterator[Finding]:
    _, entries, more = sizes()
    for regime in SHARED:
        runs = evidence.runs(f"translation_equal_bits_{regime}", against(regime))
        for base in BASES:
            larger, having = (point(runs, private_entries=size, eviction=base) for size in (more, entries))
            for measure in measures:
                yield better(runs, larger, having, measure, f"{regime}, {base}, {more} entries against {entries}")


EQUAL_BITS = [
    Claim(
        "H4.1b",
        "at equal bits, fewer accesses to the shared TLB than with larger private TLBs",
        "¶34, ¶64 and ¶90",
        lambda e: list(_gains(e, "shared_per_kilo")),
        costs=lambda e: list(_gains(e, "noc_messages_per_kilo")),
    ),
    Claim(
        "H4.2b",
        "at equal bits, a lower mean latency than with larger private TLBs",
        "¶34 and ¶64",
        lambda e: list(_gains(e, "latency_mean_cycles")),
    ),
]
