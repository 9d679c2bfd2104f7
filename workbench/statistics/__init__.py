"""From paired runs to a verdict: a size with its interval, a direction, and what both are worth among many.

compare(...)           two policies on the same seeds: size by t, direction by the sign test  -> PairedComparison
judge(...)             what a table of comparisons shows: better, on average, equal, undecided -> Verdict
over_workloads(...)    one comparison over several workloads
median_within(...)     as good as equal within a band; ratio_within of two sides     -> Equivalence
superior(...)          what either says about a claim; also equivalent, fact, every, some  -> Finding
over_cases(...)        a claim over the cases of its design              -> holds, holds_where, ..., contradicted
holm, false_discovery  what p-values are worth among many
"""

from workbench.statistics.claim_verdict import WORDS, OverCases, Word, over_cases
from workbench.statistics.comparison import ComparedBy, PairedComparison, compare, over_workloads
from workbench.statistics.corrections import false_discovery, holm
from workbench.statistics.equivalence import Band, Equivalence, median_within, ratio_within
from workbench.statistics.finding import Finding, Side, equivalent, every, fact, some, superior
from workbench.statistics.floors import fewest_seeds, least_p
from workbench.statistics.interval import Interval, mean_interval, median_interval, proportion_interval, sign_p
from workbench.statistics.pairs import Pairs, pair
from workbench.statistics.verdict import Verdict, judge

__all__ = [
    "WORDS",
    "Band",
    "ComparedBy",
    "Equivalence",
    "Finding",
    "Interval",
    "OverCases",
    "PairedComparison",
    "Pairs",
    "Side",
    "Verdict",
    "Word",
    "compare",
    "equivalent",
    "every",
    "fact",
    "false_discovery",
    "fewest_seeds",
    "holm",
    "judge",
    "least_p",
    "mean_interval",
    "median_interval",
    "median_within",
    "over_cases",
    "over_workloads",
    "pair",
    "proportion_interval",
    "ratio_within",
    "sign_p",
    "some",
    "superior",
]
