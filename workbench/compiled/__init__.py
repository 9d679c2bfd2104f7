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
    creates_arrays,
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

__all__ = [
    "ALL_BITS",
    "INTERPRETED",
    "MEMORY",
    "MOST_TURNS",
    "NO_ANSWER",
    "NO_BITS",
    "ONE_BIT",
    "PARAMS",
    "RAISED",
    "Answer",
    "Answers",
    "Question",
    "addresses",
    "allocating",
    "asked",
    "bound",
    "by_reference",
    "creates_arrays",
    "entry_point",
    "failed_call",
    "fields_of",
    "forget_failed_call",
    "guarded",
    "inlined",
    "keep_failed_call",
    "kernel",
    "leading_zeros",
    "left",
    "noinline",
    "number",
    "ones",
    "prefetch",
    "ran_out",
    "readable",
    "right",
    "routine",
    "trailing_zeros",
    "view",
    "wrapped_product",
    "wrapped_sum",
    "writable",
]

report_compiling()
