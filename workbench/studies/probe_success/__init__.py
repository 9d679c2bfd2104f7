"""How often does a probe refuse a demand? The chain from a unit to the machine, exactly and by drawing (spec 3).

>>> from workbench.policies.probes import GroupedRun
>>> [f"{failure(GroupedRun(groups=32), demand).machine.failure:.1e}" for demand in (4, 5)]
['8.9e-07', '1.0e+00']
"""

from workbench.studies.probe_success.accuracy import lost_dispatches, mean_report, under_report
from workbench.studies.probe_success.chain import Failure, Setting, failure
from workbench.studies.probe_success.chance import Chance
from workbench.studies.probe_success.octaves import octave_lengths
from workbench.studies.probe_success.run_chance import no_run
from workbench.studies.probe_success.simulate import Simulated, simulated
from workbench.studies.probe_success.table import table

__all__ = [
    "Chance",
    "Failure",
    "Setting",
    "Simulated",
    "failure",
    "lost_dispatches",
    "mean_report",
    "no_run",
    "octave_lengths",
    "simulated",
    "table",
    "under_report",
]
