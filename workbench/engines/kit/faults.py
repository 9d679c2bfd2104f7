"""Counters and faults by name, a number each; one kernel keeps the first fault, one function words what stops a run."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from workbench.compiled import kernel
from workbench.errors import PolicyError, StarvedError
from workbench.policies.policy import Policy
from workbench.policies.scenes import why_it_failed

FINE = 0
"""No fault."""


class Stop(NamedTuple):
    """The first counters of every engine: what stopped its run, when, at which row, with which answer."""

    fault: int
    cycle: int
    row: int
    answer: int


Names = TypeVar("Names")


def numbered(names: type[Names], after: tuple[int, ...] = ()) -> Names:
    """Return the place of each name of a named tuple: 0, 1, 2 ... in the order of its fields.

    Compiled code takes `NAMES.served` of a module's constant as the number itself.

    Parameters
    ----------
    names : class
        A named tuple with an `int` field for each name, described below it.
    after : tuple
        Numbered names that come before: an engine's counters come after `STOP`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Counters(NamedTuple):
    ...     status: int
    ...     served: int
    >>> numbered(Counters)
    Counters(status=0, served=1)
    """
    fields = cast(Any, names)._fields
    return names(*range(len(after), len(after) + len(fields)))


STOP = numbered(Stop)


def raised(slot: str) -> Any:
    """Declare that the policy of a slot raised, or never ended."""
    return Fault(slot, raised=True)


class Fault(NamedTuple):
    """A way in which a run stops."""

    slot: str
    """The slot whose policy broke its contract, or a lever of it (`heap.placement`); empty where no single one did."""
    sentence: str = ""
    """What the policy did; empty = its question's own sentence."""
    raised: bool = False
    """Whether the policy raised, or never ended, instead of giving an answer."""
    log: str = ""
    """The log that is full, of a run that is played again with more space."""
    starved: bool = False
    """Whether something waits for ever: such runs have a status of their own."""


def wrong(slot: str, sentence: str = "", starved: bool = False) -> Any:
    """Declare that the policy of a slot answered against its question.

    Parameters
    ----------
    slot : str
    sentence : str
        What follows the policy's name, with `{answer}` and the engine's own words; without one the question's `wrong`.
    starved : bool
        Whether it refuses for ever, and something waits.
    """
    return Fault(slot, sentence, starved=starved)


def stuck(sentence: str, starved: bool = False) -> Any:
    """Declare that a run cannot go on, in a sentence of the engine's words; `starved` if something waits for ever."""
    return Fault("", sentence, starved=starved)


def full(log: str) -> Any:
    """Declare that a run stopped because it had no more space, named by one of its sizes."""
    return Fault("", log=log)


@kernel
def fail(counters: np.ndarray, fault: int, cycle: int, row: int, answer: int) -> None:
    """Keep the first thing that went wrong; what follows from it is not news."""
    if counters[STOP.fault] != FINE:
        return
    counters[STOP.fault], counters[STOP.cycle] = fault, cycle
    counters[STOP.row], counters[STOP.answer] = row, answer


def stop_of(counters: np.ndarray) -> Stop:
    """Return the reason why a run stopped."""
    return Stop(*counters[: len(STOP)].tolist())


def fault_of(faults: Any, stop: Stop) -> Fault:
    """Return the fault that stopped a run."""
    fault: Fault = type(faults)._field_defaults[faults._fields[stop.fault]]
    return fault


def policy_error(faults: Any, slots: Any, stop: Stop, words: Mapping[str, Any]) -> PolicyError:
    """Return the error that names the policy, what it did, and where: a StarvedError if something waits for ever.

    Parameters
    ----------
    faults : tuple
        The numbered faults of an engine.
    slots : tuple
        The policies of the run, by slot.
    stop : Stop
        What stopped it.
    words : mapping of str to object
        What sentences name: `where` ("at cycle 3, group 2"), and the engine's own.
    """
    fault, words = fault_of(faults, stop), {"cycle": stop.cycle, "answer": stop.answer, **words}
    error = StarvedError if fault.starved else PolicyError
    if not fault.slot:
        return error(fault.sentence.format(**words))
    policy: Policy = attrgetter(fault.slot)(slots)
    what = why_it_failed(policy) if fault.raised else (fault.sentence or policy.asks.wrong).format(**words)
    known = {one.slot for one in type(faults)._field_defaults.values() if one.slot}
    which = f" ({fault.slot})" if len(known) > 1 else ""
    return error(f"{policy.short()}{which} {what}; {words['where']}.")
