"""Why this decision: what every policy of a run saw and answered, one question after the other.

decisions_of(...)       run a setup in plain Python and keep its questions and answers  -> list[Decision]
first_difference(...)   where two runs of the same seed part                             -> int | None
"""

from workbench.studies.decisions.decision import Decision, first_difference
from workbench.studies.decisions.run import decisions_of

__all__ = ["Decision", "decisions_of", "first_difference"]
