"""How are a group's waves shared out over the units of a module? (spec 3, Em. 8)"""

from workbench.policies.dispatch.units.least_loaded import LeastLoaded
from workbench.policies.dispatch.units.no_rotation import NoRotation
from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.random_rotation import RandomRotation
from workbench.policies.dispatch.units.rotated_split import RotatedSplit
from workbench.policies.dispatch.units.split_table import SplitTable

__all__ = ["LeastLoaded", "NoRotation", "RandomRotation", "RotatedSplit", "SplitTable", "Units"]
