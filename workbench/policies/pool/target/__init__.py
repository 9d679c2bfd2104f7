"""Which card lends memory? (spec 5, R15, R18-R21)"""

from workbench.policies.policy import exported

globals().update(exported(__name__))
