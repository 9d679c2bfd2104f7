"""One call that tries a new selection policy before its first run."""

from __future__ import annotations

from workbench.compiled import RAISED, ran_out
from workbench.errors import PolicyError
from workbench.policies.dispatch.selection.question import NOBODY, Selection
from workbench.policies.dispatch.selection.walk import Asked, CompiledSpeaker, PlainSpeaker, walk

CHANNELS, LEVELS, STEPS = (1, 2, 5, 64), 4, 60
LATER = 1000


def check(policy: Selection, channels: tuple[int, ...] = CHANNELS, levels: int = LEVELS) -> None:
    """Ask a policy about some hundred rounds, with every array index tested, and refuse a wrong answer.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, is no group that fits, differs between compiled and plain
        Python, is nobody although the policy does not say that it may, or is nobody and was remembered or would have
        been another a little later.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import ChannelRoundRobin
    >>> check(ChannelRoundRobin())
    """
    for count in channels:
        policy.check_run(count, levels)
        speaker, plain = CompiledSpeaker(policy, count, levels, checked=True), PlainSpeaker(policy, count, levels)
        for asked in walk(speaker, count, levels, STEPS):
            refuse(policy, asked, plain)


def refuse(policy: Selection, asked: Asked, plain: PlainSpeaker) -> None:
    """Refuse one answer that is not allowed, or that plain Python does not give."""
    name, answer = policy.short(), asked.answer
    if answer == RAISED:
        what = "did not come to an end" if ran_out() else "raised an exception"
        raise PolicyError(f"{name} {what} when asked at {asked.round}.")
    if not asked.in_order:
        raise PolicyError(f"{name} answered {answer}, which is no group that fits, at {asked.round}.")
    if answer == NOBODY and policy.work_conserving():
        raise PolicyError(f"{name} chose nobody at {asked.round}; one that may do so overrides work_conserving.")
    plain.memory = asked.before.copy()
    again = plain.ask(asked.round)
    if again != answer or plain.memory.tolist() != asked.after.tolist():
        raise PolicyError(f"{name} answered {answer} compiled and {again} in plain Python, or remembers otherwise.")
    if answer == NOBODY:
        _refuse_fickle(policy, asked, plain)


def _refuse_fickle(policy: Selection, asked: Asked, plain: PlainSpeaker) -> None:
    """Nobody must stay nobody while nothing but time changes."""
    if asked.before.tolist() != asked.after.tolist():
        raise PolicyError(f"{policy.short()} chose nobody and remembered something, at {asked.round}.")
    later = asked.round._replace(cycle=asked.round.cycle + LATER, waited=asked.round.waited + LATER)
    if plain.ask(later) != NOBODY:
        raise PolicyError(f"{policy.short()} chose nobody at {asked.round}, and somebody when only time had passed.")
