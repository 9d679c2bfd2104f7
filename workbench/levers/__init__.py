"""Levers: parameters that are declared once, with range, step, scale, unit and meaning.

The declaration is the single source of validation (YAML and Python alike), of the slider or drop-down in a dashboard,
of the tuner's distribution, of the axis label, of the table in the documentation and of the JSON schema of sweep files.
"""

from workbench.levers.lever import REQUIRED, Kind, Lever, Scale, lever
from workbench.levers.remembered import remembered
from workbench.levers.spec import SCALAR_KINDS, Family, Spec, code_of, identity_of, read_spec, rooted, snake_case

__all__ = [
    "REQUIRED",
    "SCALAR_KINDS",
    "Family",
    "Kind",
    "Lever",
    "Scale",
    "Spec",
    "code_of",
    "identity_of",
    "lever",
    "read_spec",
    "remembered",
    "rooted",
    "snake_case",
]
