"""Who gives the translations of touches (spec 6, R15; the measures are those of the engine `translation`)."""

from __future__ import annotations

from workbench.metrics.measure import Measure
from workbench.metrics.statistics import over
from workbench.records.node import NodeRecord
from workbench.records.translation import SERVED_BY


def translation_declarations() -> list[Measure]:
    """Return the measures of translations."""
    return [
        Measure("private_hit_rate", "", "higher", "touches that their module's own TLB serves at once, of all"),
        Measure("near_hit_rate", "", "higher", "touches that their module's own TLB or a peer's serves, of all"),
        Measure("shared_per_kilo", "look-ups", "lower", "touches that the shared TLB or a walk serves, per 1,000"),
        Measure("walks_per_kilo", "walks", "lower", "touches that a walk serves, per 1,000"),
    ]


def translation_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of translations; NaN of a run without a touch that was answered."""
    counts = dict(zip(SERVED_BY, record.served.tolist(), strict=True))
    total = sum(counts.values())
    near = counts["private"] + counts["peer"]
    return {
        "private_hit_rate": over(counts["private"], total),
        "near_hit_rate": over(near, total),
        "shared_per_kilo": over(1000 * (counts["shared"] + counts["walk"]), total),
        "walks_per_kilo": over(1000 * counts["walk"], total),
    }
