"""Why this decision: what every policy of a run saw and answered, one question after the other.

Steps(...)              a run in plain Python that waits after each answer; its state can be read meanwhile
decisions_of(...)       the first questions and answers of a run                        -> list[Decision]
first_difference(...)   where two runs of the same seed part                             -> int | None
"""

from workbench.studies.decisions.decision import Decision, first_difference
from workbench.studies.decisions.run import Steps, decisions_of

__all__ = ["Decision", "Steps", "decisions_of", "first_difference"]
