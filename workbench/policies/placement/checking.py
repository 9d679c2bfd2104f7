"""One call that tries a new policy before its first run."""

from __future__ import annotations

from workbench.compiled import RAISED, ran_out
from workbench.errors import PolicyError
from workbench.policies.placement.question import REFUSED, Placement
from workbench.policies.placement.walk import Asked, CompiledSpeaker, PlainSpeaker, fits, holds, walk

SIZES, STEPS = (16, 65, 128), 100


def check(policy: Placement) -> None:
    """Ask a policy about some hundred states, with every array index tested, and refuse a wrong answer.

    Takes about a tenth of a second, most of it to compile the answer with the tests.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, is no free range, differs between compiled and plain Python, or
        refuses what fits although the policy does not say that it may. The sentence names the state and the answer.

    Examples
    --------
    >>> from workbench.policies.placement import BestFit
    >>> check(BestFit())
    """
    for segments in SIZES:
        plain = PlainSpeaker(policy, segments)
        for asked in walk(policy, CompiledSpeaker(policy, segments, checked=True), segments, STEPS):
            _refuse(policy, asked, plain)


def _refuse(policy: Placement, asked: Asked, plain: PlainSpeaker) -> None:
    where = f"{asked.length} segment{'s' * (asked.length > 1)} in the state {asked.text}"
    if asked.answer == RAISED:
        raise PolicyError(f"{policy.short()} {_cause(policy, asked)} when asked for {where}.")
    if asked.answer != REFUSED and not holds(policy, asked):
        end = asked.answer + asked.length
        raise PolicyError(
            f"{policy.short()} answered {asked.answer} for {where}, but [{asked.answer}, {end}) is not free."
        )
    if asked.answer == REFUSED and policy.work_conserving() and fits(policy, asked):
        raise PolicyError(
            f"{policy.short()} refused {where}, which fits; one that may do so overrides work_conserving."
        )
    plain.memory = asked.memory
    again = plain.ask(asked.free, asked.length)
    if again != asked.answer:
        raise PolicyError(
            f"{policy.short()} answered {asked.answer} compiled and {again} in plain Python, for {where}."
        )


def _cause(policy: Placement, asked: Asked) -> str:
    """The exception by name: compiled code only tells that there was one, so ask again in plain Python."""
    if ran_out():
        return "did not come to an end"
    try:
        policy.ask(asked.free, asked.segments, asked.length, asked.memory)
    except Exception as problem:
        return f"raised {type(problem).__name__} ({problem})"
    return "raised an exception"
