"""Tuning: a study is a sweep whose choices a tuner makes; every evaluation is an ordinary run.

tune(...)         try, keep, and run the best once more on fresh seeds  -> StudyResults
open_study(...)   a study as its folder keeps it                        -> StudyResults
read_study(...)   check a study file without running it                 -> Study
"""

from workbench.tuning.front import Front
from workbench.tuning.objectives import Objective
from workbench.tuning.results import StudyResults
from workbench.tuning.study import Study, read_study
from workbench.tuning.tuner import open_study, tune

__all__ = ["Front", "Objective", "Study", "StudyResults", "open_study", "read_study", "tune"]
