"""Lost residency: how many workgroups fewer a unit holds at once because shared memory is cut up.

told(trace)                 of how many launches a trace tells what this takes, by the rule below   -> Told
by_granule(trace, machine)  what whole granules cost, kernel by kernel, against bytes                -> [GranuleLoss]
by_rule(workload, machine)  what contiguous placement costs on top, as rules of six GPUs place       -> [RuleLoss]
survey(traces)              both on many traces, with what each does not tell                       -> Survey

The rule for what a trace cannot tell. A launch counts where its grid, its threads and the *whole* shared memory of a
workgroup were recorded. Where only the dynamic part was (AMD's Kineto traces hold it in the launching call), it counts
if that is asked for, and every number of such a trace then says so: static shared memory is missing from it, so it is
neither a lower nor an upper bound. A launch of which neither was recorded (kernels replayed from a graph) is untold: it
is in no number, and how much of the card's time it took stands beside them. Registers that were not recorded do not
bind. Which workgroups really met on a unit no trace tells: `by_rule` takes the two ends, each kernel when it was
recorded to start, and all kernels queued at once.
"""

from workbench.studies.residency.by_granule import GRANULES, GranuleLoss, by_granule
from workbench.studies.residency.by_rule import RULES, RuleLoss, by_rule
from workbench.studies.residency.survey import Survey, public_traces, survey
from workbench.studies.residency.told import Told, told

__all__ = [
    "GRANULES",
    "RULES",
    "GranuleLoss",
    "RuleLoss",
    "Survey",
    "Told",
    "by_granule",
    "by_rule",
    "public_traces",
    "survey",
    "told",
]
