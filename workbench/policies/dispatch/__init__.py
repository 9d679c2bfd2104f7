"""How are workgroups dispatched? (spec 3, Em. 1-3 and 8-10)"""

from workbench.policies.dispatch.units import LeastLoaded, NoRotation, RandomRotation, RotatedSplit, SplitTable, Units

__all__ = [
    "LeastLoaded",
    "NoRotation",
    "RandomRotation",
    "RotatedSplit",
    "SplitTable",
    "Units",
]
