"""Whether two circuits compute one function, proven by SAT."""

from workbench.circuits.proof.answers import answers
from workbench.circuits.proof.equivalence import Proof, prove

__all__ = ["Proof", "answers", "prove"]
