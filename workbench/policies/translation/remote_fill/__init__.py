"""A peer has answered: does the asker keep a copy? (spec 4, E9)"""

from workbench.policies.translation.remote_fill.always import Always
from workbench.policies.translation.remote_fill.never import Never
from workbench.policies.translation.remote_fill.question import RemoteFill
from workbench.policies.translation.remote_fill.threshold import Threshold

__all__ = ["Always", "Never", "RemoteFill", "Threshold"]
