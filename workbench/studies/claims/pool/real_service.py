"""H5.9b and H5.11b: the storage service as a process, with applications and clients that are processes too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.studies.claims.cases import ALL
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.pool.borrowing import ALONE, EVERY
from workbench.studies.claims.registered import margin
from workbench.studies.pool.service_application import outcomes
from workbench.studies.pool.service_load import ServiceLoad
from workbench.studies.statistics import Finding, equivalent, fact, ratio_within

FITS, BORROWS = 0.75, 1.5
"""What the application holds at once, over the memory of its card."""
CLIENTS = (1, 2, 4, 8, 16)
GAPS = {"one request after the other": 0, "a request in 1 ms": 1_000_000}
"""Nanoseconds from a reply to a client's next request."""
BLOCKS, ALLOCATIONS = 30, 200
GROWS = margin("H5.11b grows")


def _transparent(evidence: Evidence) -> Iterator[Finding]:
    result = evidence.measured("service_application", _every_policy)
    for target in EVERY:
        for footprint in (FITS, BORROWS)[: 1 if target == ALONE else 2]:
            one = result[target][str(footprint)]
            note = "{intact} of {regions} regions read back as they were written, {borrowed} on other cards".format(
                **one
            )
            whole = one["ended"] and one["intact"] == one["regions"] > 0
            share = one["intact"] / max(one["regions"], 1)
            about = f"{target}, footprint {footprint:g}"
            case = fact(about, "ends, and reads back what it wrote", bool(whole), estimate=share, note=note)
            yield case._replace(measure="regions read back", unit="share")


def _every_policy() -> Mapping[str, Any]:
    """Return the design of every policy; a footprint larger than the card is for those that lend."""
    request = {target: (FITS,) if target == ALONE else (FITS, BORROWS) for target in EVERY}
    return {
        target: {str(footprint): one._asdict() for footprint, one in outcomes(target, footprints).items()}
        for target, footprints in request.items()
    }


def _bottleneck(evidence: Evidence) -> Iterator[Finding]:
    waits = evidence.measured("service_clients", _every_load)
    for gap in GAPS:
        one = np.array(waits[gap]["1"])
        for clients in CLIENTS[1:]:
            about, says = (
                f"{clients} clients, {gap}",
                f"an allocation waits more than {GROWS:g} times as long as of one",
            )
            many = np.array(waits[gap][str(clients)])
            result = ratio_within(many, one, (GROWS, ALL))
            yield equivalent(about, says, result)._replace(measure="mean wait over that of one client")


def _every_load() -> Mapping[str, Any]:
    design = {"clients": CLIENTS, "blocks": BLOCKS, "allocations": ALLOCATIONS}
    result = {name: ServiceLoad(gap_ns=gap, **design).measure() for name, gap in GAPS.items()}  # type: ignore[arg-type]
    return {name: {str(clients): waits for clients, waits in one.items()} for name, one in result.items()}


REAL_SERVICE = [
    Claim(
        "H5.9b",
        "an application of the real service ends and reads back what it wrote, unmodified, under every policy",
        "¶60",
        lambda e: [*_transparent(e)],
        kind="counted",
        design="7 policies x an application that fits its card and one half as large again",
        on_real_service=True,
    ),
    Claim(
        "H5.11b",
        "the real service is a bottleneck: an allocation waits longer the more clients there are",
        "spec 5",
        lambda e: [*_bottleneck(e)],
        kind="measured",
        design="2, 4, 8 and 16 clients against 1, without a pause and with one of 1 ms; 30 blocks in drawn order",
        on_real_service=True,
    ),
]
