"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)"""

from workbench.policies.dispatch.selection.stepper import Head, SelectionStepper
from workbench.policies.policy import exported

globals().update(exported(__name__))
