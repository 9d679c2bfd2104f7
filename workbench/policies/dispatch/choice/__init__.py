"""Which of the modules with space takes the group? (spec 3, Em. 9 and 10)"""

from workbench.policies.dispatch.choice.energy import RecentCounts
from workbench.policies.policy import exported

globals().update(exported(__name__))
