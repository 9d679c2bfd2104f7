"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.dispatch.choice.affinity import Affinity as Affinity
from workbench.policies.dispatch.choice.affinity import ByPages as ByPages
from workbench.policies.dispatch.choice.energy import ByInstructions as ByInstructions
from workbench.policies.dispatch.choice.energy import CoolestFirst as CoolestFirst
from workbench.policies.dispatch.choice.energy import LeastDecayedEnergy as LeastDecayedEnergy
from workbench.policies.dispatch.choice.energy import LeastRecentActivity as LeastRecentActivity
from workbench.policies.dispatch.choice.energy import LeastRecentEnergy as LeastRecentEnergy
from workbench.policies.dispatch.choice.energy import RecentCounts as RecentCounts
from workbench.policies.dispatch.choice.load import ByLoad as ByLoad
from workbench.policies.dispatch.choice.load import FirstModule as FirstModule
from workbench.policies.dispatch.choice.load import LeastWaves as LeastWaves
from workbench.policies.dispatch.choice.load import RandomModule as RandomModule
from workbench.policies.dispatch.choice.load import RoundRobin as RoundRobin
from workbench.policies.dispatch.choice.load import TwoChoices as TwoChoices
from workbench.policies.dispatch.choice.packing import BestFitModule as BestFitModule
from workbench.policies.dispatch.choice.packing import ByShares as ByShares
from workbench.policies.dispatch.choice.packing import DominantResource as DominantResource
from workbench.policies.dispatch.choice.packing import DotProduct as DotProduct
from workbench.policies.dispatch.choice.packing import MostResidual as MostResidual
from workbench.policies.dispatch.choice.packing import WorstFitModule as WorstFitModule
from workbench.policies.dispatch.choice.question import Choice as Choice
from workbench.policies.dispatch.choice.weighted_choice import InstructionCalibrator as InstructionCalibrator
from workbench.policies.dispatch.choice.weighted_choice import ResourceCalibrator as ResourceCalibrator
from workbench.policies.dispatch.choice.weighted_choice import WeightedChoice as WeightedChoice
