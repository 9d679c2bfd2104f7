"""Which cached block serves a request? (spec 5, R11)"""

from workbench.policies.pool.fit.best_fit import BestFit
from workbench.policies.pool.fit.exact_fit import ExactFit
from workbench.policies.pool.fit.first_fit import FirstFit
from workbench.policies.pool.fit.limited_fit import LimitedFit
from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.worst_fit import WorstFit

__all__ = ["BestFit", "CacheFit", "ExactFit", "FirstFit", "LimitedFit", "WorstFit"]
