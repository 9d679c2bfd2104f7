"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)"""

from workbench.policies.dispatch.selection.rounds import Head, Rounds
from workbench.policies.policy import exported

globals().update(exported(__name__))
