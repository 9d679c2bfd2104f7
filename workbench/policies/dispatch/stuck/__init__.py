"""What becomes of a group that has been stuck for many rounds? (spec 3, Em. 3)"""

from workbench.policies.dispatch.stuck.backfill import Backfill
from workbench.policies.dispatch.stuck.never_split import NeverSplit
from workbench.policies.dispatch.stuck.question import Stuck
from workbench.policies.dispatch.stuck.split_when_stuck import SplitWhenStuck

__all__ = ["Backfill", "NeverSplit", "SplitWhenStuck", "Stuck"]
