"""The only room that knows Numba: kernels, questions and answers, the cache on disk, bit operations."""

from workbench.compiled.bits import (
    ALL_BITS,
    NO_BITS,
    ONE_BIT,
    leading_zeros,
    left,
    ones,
    right,
    trailing_zeros,
    wrapped_product,
    wrapped_sum,
)
from workbench.compiled.diagnostics import failed_call, forget_failed_call, keep_failed_call, report_compiling
from workbench.compiled.kernel import (
    INTERPRETED,
    allocating,
    entry_point,
    inlined,
    kernel,
    noinline,
    routine,
)
from workbench.compiled.memory_access import bound, by_reference, prefetch
from workbench.compiled.meter import MOST_TURNS, ran_out
from workbench.compiled.question import NO_ANSWER, RAISED, Answer, Answers, Question, addresses, asked
from workbench.compiled.views import MEMORY, PARAMS, fields_of, guarded, number, readable, view, writable

report_compiling()
