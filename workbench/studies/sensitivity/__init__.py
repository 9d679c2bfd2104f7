"""Sensitivity: which levers does a measure depend on, alone and together?

A study is a sweep whose ranges are drawn by `saltelli` (Sobol's indices) or `morris` (elementary effects); its
evaluations are ordinary runs, kept like those of any sweep.

check(sweep, ...)      refuse, before anything runs, what could not be analysed
analyse(runs, ...)     one analysis a measure and way to run it      -> list of Analysis
Sensitivity            the same as tables
"""

from workbench.studies.sensitivity.analyse import Analysis, analyse, check
from workbench.studies.sensitivity.effects import Effects, elementary_effects
from workbench.studies.sensitivity.indices import Indices, sobol_indices
from workbench.studies.sensitivity.tables import Sensitivity

__all__ = [
    "Analysis",
    "Effects",
    "Indices",
    "Sensitivity",
    "analyse",
    "check",
    "elementary_effects",
    "sobol_indices",
]
