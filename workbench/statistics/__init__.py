"""From paired runs to a claim that holds or does not: one estimand a verdict, its exact test, families, cases.

compare(...)           two policies on the same seeds: the median paired difference  -> PairedComparison
median_within(...)     as good as equal within a band; ratio_within of two sides     -> Equivalence
superior(...)          what either says about a claim; also equivalent, fact, every, some  -> Finding
over_cases(...)        a claim over the cases of its design              -> holds, holds_where, ..., contradicted
holm, false_discovery  what p-values are worth among many
Looks(...)             what they are worth when data are looked at more than once
"""

from workbench.statistics.claim_verdict import WORDS, OverCases, Word, over_cases
from workbench.statistics.comparison import (
    Band,
    Equivalence,
    Estimand,
    PairedComparison,
    compare,
    median_within,
    ratio_within,
)
from workbench.statistics.corrections import Looks, false_discovery, holm
from workbench.statistics.finding import Finding, Side, equivalent, every, fact, some, superior
from workbench.statistics.interval import Interval, least_p, mean_interval, median_interval, proportion_interval, sign_p
from workbench.statistics.pairs import Pairs, pair

__all__ = [
    "WORDS",
    "Band",
    "Equivalence",
    "Estimand",
    "Finding",
    "Interval",
    "Looks",
    "OverCases",
    "PairedComparison",
    "Pairs",
    "Side",
    "Word",
    "compare",
    "equivalent",
    "every",
    "fact",
    "false_discovery",
    "holm",
    "least_p",
    "mean_interval",
    "median_interval",
    "median_within",
    "over_cases",
    "pair",
    "proportion_interval",
    "ratio_within",
    "sign_p",
    "some",
    "superior",
]
