"""Who proposes trials: one file a sampler, found by name; Optuna's own names are taken too."""

from workbench.studies.tuning.samplers.by_optuna import ByOptuna, read_sampler
from workbench.studies.tuning.samplers.cmaes import Cmaes
from workbench.studies.tuning.samplers.gp import Gp
from workbench.studies.tuning.samplers.nsga2 import Nsga2
from workbench.studies.tuning.samplers.nsga3 import Nsga3
from workbench.studies.tuning.samplers.qmc import Qmc
from workbench.studies.tuning.samplers.random import Random
from workbench.studies.tuning.samplers.sampler import Sampler
from workbench.studies.tuning.samplers.tpe import Tpe

__all__ = ["ByOptuna", "Cmaes", "Gp", "Nsga2", "Nsga3", "Qmc", "Random", "Sampler", "Tpe", "read_sampler"]
