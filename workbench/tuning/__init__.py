"""Tuning: a study is a sweep whose choices a tuner makes; every evaluation is an ordinary run.

tune(...)         try, keep, and run the best once more on fresh seeds  -> StudyResults
objective(...)    the objective of a study, for your own optuna.Study             -> ObjectiveFunction
open_study(...)   a study as its folder keeps it                        -> StudyResults
read_study(...)   check a study file without running it                 -> Study
"""

from workbench.tuning.front import Front
from workbench.tuning.objective_function import ObjectiveFunction
from workbench.tuning.objectives import Objective
from workbench.tuning.results import StudyResults
from workbench.tuning.study import Study, read_study
from workbench.tuning.tuner import objective, open_study, tune

__all__ = [
    "Front",
    "Objective",
    "ObjectiveFunction",
    "Study",
    "StudyResults",
    "objective",
    "open_study",
    "read_study",
    "tune",
]
