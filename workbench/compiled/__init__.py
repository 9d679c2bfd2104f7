"""The only room that knows Numba: kernels, questions and answers, the cache on disk, bit operations."""

from workbench.compiled.answer_compiler import MOST_TURNS, ran_out
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
from workbench.compiled.kernel import (
    INTERPRETED,
    allocating,
    entry_point,
    inlined,
    kernel,
    noinline,
    report_compiling,
    routine,
)
from workbench.compiled.memory_access import bound, by_reference, prefetch
from workbench.compiled.question import (
    MEMORY,
    NO_ANSWER,
    PARAMS,
    RAISED,
    Answer,
    Answers,
    Question,
    addresses,
    asked,
    failed_call,
    fields_of,
    forget_failed_call,
    guarded,
    keep_failed_call,
    number,
    readable,
    view,
    writable,
)

report_compiling()
