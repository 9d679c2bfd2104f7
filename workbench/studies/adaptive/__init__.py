"""Adaptive seeds: paired seeds are added until the intervals are narrow, twice in a row.

run_plan(...)    do what is missing of a plan; a sweep with `seeds: {until: ...}` is run look by look   -> seconds
settled(runs)    the same runs, cut to the seeds at which the rule stops                     -> Plan
stop(runs)       where it stopped, and which points are wider than was asked                 -> Stop
looks_of(runs)   the looks that every interval and p-value of a sweep answers for            -> Looks
"""

from workbench.studies.adaptive.drive import run_plan
from workbench.studies.adaptive.schedule import looks_of
from workbench.studies.adaptive.stop import Stop, settled, stop

__all__ = ["Stop", "looks_of", "run_plan", "settled", "stop"]
