"""Which of the modules with room takes the group? (spec 3, Em. 9 and 10)"""

from workbench.policies.dispatch.choice.affinity import Affinity
from workbench.policies.dispatch.choice.best_fit_module import BestFitModule
from workbench.policies.dispatch.choice.calibration import InstructionCalibrator, ResourceCalibrator
from workbench.policies.dispatch.choice.coolest_first import CoolestFirst
from workbench.policies.dispatch.choice.dominant_resource import DominantResource
from workbench.policies.dispatch.choice.dot_product import DotProduct
from workbench.policies.dispatch.choice.first_module import FirstModule
from workbench.policies.dispatch.choice.least_decayed_energy import LeastDecayedEnergy
from workbench.policies.dispatch.choice.least_recent_activity import LeastRecentActivity
from workbench.policies.dispatch.choice.least_recent_energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.least_waves import LeastWaves
from workbench.policies.dispatch.choice.most_residual import MostResidual
from workbench.policies.dispatch.choice.pages import ByPages
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.random_module import RandomModule
from workbench.policies.dispatch.choice.recent_counts import RecentCounts
from workbench.policies.dispatch.choice.round_robin import RoundRobin
from workbench.policies.dispatch.choice.two_choices import TwoChoices
from workbench.policies.dispatch.choice.weighted_choice import WeightedChoice
from workbench.policies.dispatch.choice.worst_fit_module import WorstFitModule

__all__ = [
    "Affinity",
    "BestFitModule",
    "ByPages",
    "Choice",
    "CoolestFirst",
    "DominantResource",
    "DotProduct",
    "FirstModule",
    "InstructionCalibrator",
    "LeastDecayedEnergy",
    "LeastRecentActivity",
    "LeastRecentEnergy",
    "LeastWaves",
    "MostResidual",
    "RandomModule",
    "RecentCounts",
    "ResourceCalibrator",
    "RoundRobin",
    "TwoChoices",
    "WeightedChoice",
    "WorstFitModule",
]
