"""Which entry of a full set goes? (spec 4, R22-R28)"""

from workbench.policies.policy import exported

globals().update(exported(__name__))
