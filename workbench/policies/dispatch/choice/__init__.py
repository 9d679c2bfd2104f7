"""Which of the modules with room takes the group? (spec 3, Em. 9 and 10)"""

from workbench.policies.dispatch.choice.affinity import Affinity, ByPages
from workbench.policies.dispatch.choice.energy import (
    CoolestFirst,
    LeastDecayedEnergy,
    LeastRecentActivity,
    LeastRecentEnergy,
    RecentCounts,
)
from workbench.policies.dispatch.choice.load import FirstModule, LeastWaves, RandomModule, RoundRobin, TwoChoices
from workbench.policies.dispatch.choice.packing import (
    BestFitModule,
    DominantResource,
    DotProduct,
    MostResidual,
    WorstFitModule,
)
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.weighted_choice import InstructionCalibrator, ResourceCalibrator, WeightedChoice
