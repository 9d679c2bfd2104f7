"""What became of an answer that raised, for the sentence that names it: the exception, the line, and what was asked."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np

from workbench.compiled import MOST_TURNS, failed_call, forget_failed_call, guarded, ran_out
from workbench.policies.policy import Policy


def why_it_failed(policy: Policy) -> str:
    """Return how the answer, or a notice, of a policy failed last in this thread, as a part of a sentence.

    Compiled code reports no more than that it raised. What it saw in that very call was kept, so the plain function is
    asked the same once more.

    Examples
    --------
    >>> from workbench.policies.placement import FirstFit
    >>> why_it_failed(FirstFit())
    'raised an exception'
    """
    call = failed_call()
    if ran_out():
        forget_failed_call()
        return f"did not end within {MOST_TURNS:,} loop turns{'' if call is None else f' for {call.see}'}"
    if call is None:
        return "raised an exception"
    forget_failed_call()
    problem = _again(policy, call.question, call.see) or call.problem
    if problem is None:
        return f"raised an exception for {call.see}, and does not in plain Python"
    return f"raised {_said(problem)} for {call.see}"


def _again(policy: Policy, question: str, see: Any) -> Exception | None:
    """Ask the plain functions that may have been asked the same once more; return what the first of them raises."""
    for speaker in policy.speakers():
        for function, asks in speaker.functions(question):
            try:
                with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                    speaker.plain_answer(function, asks)(guarded(see))
            except Exception as problem:
                return problem
    return None


def _said(problem: BaseException) -> str:
    """Return an exception by name, with its text, its file and its line."""
    text = f"{type(problem).__name__} ({problem})" if str(problem) else type(problem).__name__
    places = [one for one in traceback.extract_tb(problem.__traceback__) if not _is_ours(one.filename)]
    return f"{text} in {Path(places[-1].filename).name}, line {places[-1].lineno}," if places else text


def _is_ours(file: str) -> bool:
    """Return whether a frame is of the code that asks, not of what is asked."""
    return Path(file).parent.name == "compiled" or file == __file__
