"""Which card lends memory, which frames, what is cached, what goes back, what moves? (spec 5; spec 6, R10)"""

from workbench.policies.policy import exported
from workbench.policies.pool.cache import CacheRules
from workbench.policies.pool.fit import best_fit_split
from workbench.policies.pool.residency import ResidencyRules

globals().update(exported(__name__))
