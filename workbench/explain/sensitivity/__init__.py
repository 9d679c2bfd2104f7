"""Sensitivity: which levers does a measure depend on, alone and together?

A study is a sweep whose ranges are drawn by `saltelli` (Sobol's indices) or `morris` (elementary effects); its
evaluations are ordinary runs, kept like those of any sweep.

check(sweep, ...)      refuse, before anything runs, what cannot be analyzed
analyse(runs, ...)     one analysis a measure and a way to run it: list[Analysis]
Sensitivity            the same as tables
"""

from workbench.explain.sensitivity.analysis import Analysis, Sensitivity, analyse, check
from workbench.explain.sensitivity.estimates import Effects, Indices, elementary_effects, sobol_indices
