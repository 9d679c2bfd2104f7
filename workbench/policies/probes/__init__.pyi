"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

import numpy as np

from workbench.policies.probes.exact_probes import BitSerial as BitSerial
from workbench.policies.probes.exact_probes import PrefixSuffixTree as PrefixSuffixTree
from workbench.policies.probes.exact_probes import ShiftDoubling as ShiftDoubling
from workbench.policies.probes.question import Probe as Probe
from workbench.policies.probes.question import ProbeCost as ProbeCost
from workbench.policies.probes.question import ProbeView as ProbeView
from workbench.policies.probes.shared_run import SharedRun as SharedRun
from workbench.policies.probes.shift_probe import ExactRun as ExactRun
from workbench.policies.probes.shift_probe import GroupedRun as GroupedRun
from workbench.policies.probes.shift_probe import GroupedSampledRun as GroupedSampledRun
from workbench.policies.probes.shift_probe import SampledRun as SampledRun
from workbench.policies.probes.shift_probe import ShiftProbe as ShiftProbe

def reports(probe: Probe, states: np.ndarray, blocks: int) -> np.ndarray:
    """Return the report of each state: int64[states]."""
