"""How long is the longest run of free blocks? (spec 3, Em. 4-7)"""

from workbench.policies.probes.bit_serial import BitSerial
from workbench.policies.probes.exact_run import ExactRun
from workbench.policies.probes.grouped_run import GroupedRun
from workbench.policies.probes.grouped_sampled_run import GroupedSampledRun
from workbench.policies.probes.hardware import ProbeCost
from workbench.policies.probes.prefix_suffix_tree import PrefixSuffixTree
from workbench.policies.probes.question import Probe
from workbench.policies.probes.sampled_run import SampledRun
from workbench.policies.probes.shared_run import SharedRun
from workbench.policies.probes.shift_doubling import ShiftDoubling

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
