"""Scenario discovery: where in the space of workload and machine does a policy lose?

The patient rule induction method (PRIM) on the points of any sweep: a box of limits on levers that holds many of the
losses and little else.

cases_of(runs, ...)     points with the values of their levers, and which are of interest   -> list of Cases
peel(cases)             boxes, each smaller and denser than the one before                   -> list of Box
discover(runs, ...)     the box that tells losses best, with its limits and their tests      -> Discovery
"""

from workbench.explain.discovery.cases import Cases, Column, Interest, cases_of, check, interest_of
from workbench.explain.discovery.discovery import Discovery, discover
from workbench.explain.discovery.prim import Box, peel
from workbench.explain.discovery.scenario import Scenario, scenarios
