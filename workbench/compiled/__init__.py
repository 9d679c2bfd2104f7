"""The only room that knows Numba: kernels, questions and answers, the cache on disk, bit operations."""

from workbench.compiled.bits import ALL_BITS, NO_BITS, ONE_BIT, leading_zeros, left, ones, right, trailing_zeros
from workbench.compiled.bound import bound
from workbench.compiled.compile_events import report_compiling
from workbench.compiled.kernel import INTERPRETED, allocating, apart, creates_arrays, kernel, routine
from workbench.compiled.lent import lend
from workbench.compiled.meter import MOST_TURNS, ran_out
from workbench.compiled.prefetch import prefetch
from workbench.compiled.question import NO_ANSWER, RAISED, Question, addresses

__all__ = [
    "ALL_BITS",
    "INTERPRETED",
    "MOST_TURNS",
    "NO_ANSWER",
    "NO_BITS",
    "ONE_BIT",
    "RAISED",
    "Question",
    "addresses",
    "allocating",
    "apart",
    "bound",
    "creates_arrays",
    "kernel",
    "leading_zeros",
    "left",
    "lend",
    "ones",
    "prefetch",
    "ran_out",
    "right",
    "routine",
    "trailing_zeros",
]

report_compiling()
