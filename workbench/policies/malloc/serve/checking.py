"""One call that tries a new way to serve warps before its first run, and what the contract asks it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.compiled import RAISED, kernel, ran_out
from workbench.errors import PolicyError
from workbench.policies.malloc.serve.question import NOT_SERVED, SERVE, Serve
from workbench.policies.malloc.serve.view import ServeView

_serve = SERVE.ask
SEED = 7


@kernel
def _asked(answer, lanes, asked, part, offset, size, leader, params, memory):  # type: ignore[no-untyped-def]
    return _serve(answer, ServeView(lanes, asked, part, offset, size, leader, params, memory))


class Asked(NamedTuple):
    """One call, and what was answered."""

    lanes: np.ndarray
    asked: np.ndarray
    parts: int
    part: np.ndarray
    offset: np.ndarray
    size: np.ndarray
    leader: np.ndarray

    def __str__(self) -> str:
        return f"{len(self.lanes)} lanes {self.lanes[:4].tolist()}... that ask for {self.asked[:4].tolist()}... bytes"


def calls(unit: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Calls of all lanes, of one, of some, of equal and unequal sizes, zeros among them."""
    draws = np.random.Generator(np.random.PCG64(3))
    yield np.arange(unit), np.full(unit, 2)
    yield np.array([unit - 1]), np.array([5])
    for k in range(24):
        lanes = np.flatnonzero(draws.random(unit) < (k + 1) / 24)
        if len(lanes):
            yield lanes, draws.integers(0, 1 << (k % 12), len(lanes))


def walk(policy: Serve, compiled: bool, checked: bool = False) -> Iterator[Asked]:
    """Every call put to the policy: compiled, through its address as the engine does, or in plain Python."""
    ready, params = policy.ready(SEED, checked), policy.parameters()
    memory = policy.start_memory(SEED)
    for lanes, asked in calls(policy.unit()):
        part, offset, size, leader = (np.zeros(len(lanes), np.int64) for _ in range(4))
        columns = (lanes, asked, part, offset, size, leader, params, memory)
        yield Asked(lanes, asked, _answer(policy, ready.answer, columns, compiled), part, offset, size, leader)


def _answer(policy: Serve, address: object, columns: tuple[np.ndarray, ...], compiled: bool) -> int:
    if compiled:
        return int(_asked(address, *columns))
    try:
        with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
            return int(policy.plain_answer()(ServeView(*columns)))
    except Exception:
        return RAISED


def fault(asked: Asked) -> str:
    """What is wrong with an answer, in words; empty where nothing is."""
    count = len(asked.lanes)
    if not 0 <= asked.parts <= count:
        return f"{asked.parts} requests"
    got = asked.part >= 0
    if asked.part.min() < NOT_SERVED or asked.part.max() >= asked.parts:
        return f"a part outside of 0 to {asked.parts - 1}"
    if got.any() and (asked.size[got].min() < 0 or asked.offset[got].min() < 0):
        return "a negative size or offset"
    if (asked.size[got] < asked.asked[got]).any():
        return "a piece smaller than what was asked for"
    for p, leader in enumerate(asked.leader[: asked.parts]):
        if not (leader == NOT_SERVED or (0 <= leader < count and asked.part[leader] == p)):
            return f"lane {leader} as the leader of request {p}, to which it does not belong"
    return ""


def digest(policy: Serve, compiled: bool) -> str:
    """A digest of all answers: the same in every process, compiled or not."""
    said = [(a.parts, *(c.tolist() for c in a[3:6]), a.leader[: a.parts].tolist()) for a in walk(policy, compiled)]
    return hashlib.blake2b(repr(said).encode(), digest_size=8).hexdigest()


def check(policy: Serve) -> None:
    """Put some calls to a policy, with every array index tested, and refuse a wrong answer.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, differs between compiled and plain Python, or says what its
        question does not allow.

    Examples
    --------
    >>> from workbench.policies.malloc import PerThread
    >>> check(PerThread())
    """
    for asked in walk(policy, True, checked=True):
        if asked.parts == RAISED:
            what = "did not come to an end" if ran_out() else "raised an exception"
            raise PolicyError(f"{policy.short()} {what} when asked about {asked}.")
        wrong = fault(asked)
        if wrong:
            raise PolicyError(f"{policy.short()} answered {wrong}, for {asked}.")
    if digest(policy, True) != digest(policy, False):
        raise PolicyError(f"{policy.short()} answers otherwise compiled than in plain Python.")
