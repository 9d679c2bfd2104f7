"""From paired runs to a claim that holds or does not: intervals, paired tests, equivalence, families, verdicts.

compare(...)           two policies on the same seeds, in full           -> PairedComparison
equivalent_mean(...)   as good as equal within a band; also _ratio, _proportion  -> Equivalence
superior(...)          what either says about a claim; also majority, equivalent, fact, every, some  -> Finding
judge(...)             all claims of a study together, Holm-corrected    -> Verdicts
over_cases(...)        a claim over the cases of its design              -> holds, holds_where, ..., contradicted
Looks(...)             what levels and p-values are worth when data are looked at more than once
"""

from workbench.studies.statistics.equivalence import (
    Equivalence,
    equivalent_mean,
    equivalent_proportion,
    equivalent_ratio,
)
from workbench.studies.statistics.false_discovery import false_discovery
from workbench.studies.statistics.family import holm
from workbench.studies.statistics.finding import Finding, equivalent, every, fact, majority, some, superior
from workbench.studies.statistics.interval import Interval, mean_interval
from workbench.studies.statistics.looks import Looks
from workbench.studies.statistics.over_cases import OverCases, over_cases
from workbench.studies.statistics.paired import PairedComparison, compare
from workbench.studies.statistics.pairing import Pairs, pair
from workbench.studies.statistics.permutation_test import permutation_test
from workbench.studies.statistics.point_mean import point_mean
from workbench.studies.statistics.proportion import proportion_interval
from workbench.studies.statistics.ratio import ratio_interval
from workbench.studies.statistics.sign_test import sign_test
from workbench.studies.statistics.significance import Significance
from workbench.studies.statistics.verdict import Verdict, judge
from workbench.studies.statistics.wilcoxon import wilcoxon

__all__ = [
    "Equivalence",
    "Finding",
    "Interval",
    "Looks",
    "OverCases",
    "PairedComparison",
    "Pairs",
    "Significance",
    "Verdict",
    "compare",
    "equivalent",
    "equivalent_mean",
    "equivalent_proportion",
    "equivalent_ratio",
    "every",
    "fact",
    "false_discovery",
    "holm",
    "judge",
    "majority",
    "mean_interval",
    "over_cases",
    "pair",
    "permutation_test",
    "point_mean",
    "proportion_interval",
    "ratio_interval",
    "sign_test",
    "some",
    "superior",
    "wilcoxon",
]
