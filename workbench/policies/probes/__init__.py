"""How long is the longest run of free blocks? (spec 3, Em. 4-7)"""

from workbench.policies.probes.exact_probes import BitSerial, PrefixSuffixTree, ShiftDoubling
from workbench.policies.probes.question import Probe, ProbeCost
from workbench.policies.probes.shared_run import SharedRun
from workbench.policies.probes.shift_probe import ExactRun, GroupedRun, GroupedSampledRun, SampledRun

__all__ = [
    "BitSerial",
    "ExactRun",
    "GroupedRun",
    "GroupedSampledRun",
    "PrefixSuffixTree",
    "Probe",
    "ProbeCost",
    "SampledRun",
    "SharedRun",
    "ShiftDoubling",
]
