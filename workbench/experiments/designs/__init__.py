"""Designs: which values do the ranges of a sweep take, and in which combinations?

A range, `{vary: {from: 8, to: 64}}`, stands for a lever's values between two ends. A design draws all ranges of a sweep
together; what it draws becomes lists of choices that step together, so policies, which are lists, multiply with it.

draw(sweep)           what the design of a sweep draws, None where it has no range   -> Drawn
with_choices(sweep)   what a sweep varies, with lists in place of ranges             -> mapping
"""

from workbench.experiments.designs.design import Design, LatinHypercube, Morris, Random, Saltelli, Sobol
from workbench.experiments.designs.draw import Drawn, draw, with_choices
from workbench.experiments.designs.ranges import Axis
