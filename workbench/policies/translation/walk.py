"""Random scenes for the questions of translation: each is asked compiled and in plain Python, and the answers noted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.policies.translation.eviction.plain_set import PlainSet
from workbench.policies.translation.eviction.question import EVICT, Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.policies.translation.fill.question import FILL, Fill
from workbench.policies.translation.fill.view import FillView
from workbench.policies.translation.peer.question import PEER, Peer
from workbench.policies.translation.peer.view import PeerView
from workbench.policies.translation.remote_fill.question import REMOTE_FILL
from workbench.policies.translation.remote_fill.view import RemoteFillView
from workbench.streams import Streams

SEED, NOTHING = 1, -1
_peer, _fill, _remote, _evict = PEER.ask, FILL.ask, REMOTE_FILL.ask, EVICT.ask


@kernel
def _ask_peer(answer, core, cores, others, hops, load, params, memory):  # type: ignore[no-untyped-def]
    return _peer(answer, PeerView(core, cores, others, hops, load, params, memory))


@kernel
def _ask_fill(answer, core, cores, entries, held, shared, pairs, push, params, memory):  # type: ignore[no-untyped-def]
    return _fill(answer, FillView(core, cores, entries, held, shared, pairs, push, params, memory))


@kernel
def _ask_remote(answer, core, peer, cores, entries, held, degree, pairs, params, memory):  # type: ignore[no-untyped-def]
    return _remote(answer, RemoteFillView(core, peer, cores, entries, held, degree, pairs, params, memory))


@kernel
def _ask_evict(  # type: ignore[no-untyped-def]
    answer,
    nth,
    before,
    at,
    first,
    ways,
    newest,
    oldest,
    earliest,
    entries,
    holders,
    spread,
    base,
    words,
    params,
    memory,
):
    return _evict(
        answer,
        EvictionView(
            nth,
            before,
            at,
            first,
            ways,
            newest,
            oldest,
            earliest,
            entries,
            holders,
            spread,
            base,
            words,
            params,
            memory,
        ),
    )


_ASK: dict[str, Any] = {"peer": _ask_peer, "fill": _ask_fill, "remote_fill": _ask_remote, "eviction": _ask_evict}


class Asked(NamedTuple):
    """One question and its answer."""

    scene: tuple[Any, ...]
    """What was shown, in the question's order, without params and memory."""
    answer: int
    written: tuple[int, ...]
    """What the answer wrote, where it may write something."""
    memory: tuple[int, ...]
    """What the policy remembered afterwards."""


Speaker = Callable[[tuple[Any, ...]], int]


def walk(policy: Any, compiled: bool, steps: int, checked: bool = False) -> Iterator[Asked]:
    """Ask about so many random scenes."""
    memory, ask = _speaker(policy, compiled, checked)
    answer = NOTHING
    for scene, remembered in _scenes(policy, steps):
        if remembered is not None:
            memory[:] = remembered
        elif isinstance(policy, Eviction):
            scene = (scene[0], answer, *scene[2:])
        answer = ask(scene)
        wrote = tuple(scene[-1].tolist()) if isinstance(policy, Fill) else ()
        yield Asked(scene, answer, wrote, tuple(memory.tolist()))


def _speaker(policy: Any, compiled: bool, checked: bool) -> tuple[np.ndarray, Speaker]:
    if compiled:
        ready = (
            policy.ready(1, _WAYS, SEED, checked) if isinstance(policy, Eviction) else policy.ready(8, SEED, checked)
        )
        call = _ASK[policy.question]
        return ready.memory, lambda scene: int(call(ready.answer, *scene, ready.params, ready.memory))
    memory = policy.start_memory(1, _WAYS, SEED) if isinstance(policy, Eviction) else policy.start_memory(8, SEED)
    answer, params = policy.plain_answer(), policy.parameters()

    def plain(scene: tuple[Any, ...]) -> int:
        try:
            return int(answer(policy.asks.see(*scene, params, memory)))
        except Exception:
            return RAISED

    return memory, plain


_WAYS = 5


def scenes(policy: Any, steps: int) -> Iterator[tuple[Any, ...]]:
    """What is shown, drawn at random: machines of eight cores, sets of five entries."""
    return (scene for scene, _ in _scenes(policy, steps))


def _scenes(policy: Any, steps: int) -> Iterator[tuple[tuple[Any, ...], np.ndarray | None]]:
    """The scenes, and what the policy remembers where that belongs to the scene."""
    draw = Streams(SEED)["walk"]
    if isinstance(policy, Eviction):
        yield from _sets(policy, draw, steps)
        return
    yield from ((scene, None) for scene in _of_cores(policy, draw, steps))


def _of_cores(policy: Any, draw: np.random.Generator, steps: int) -> Iterator[tuple[Any, ...]]:
    for _ in range(steps):
        core, peer = (int(k) for k in draw.permutation(8)[:2])
        pairs = np.where(np.eye(8, dtype=bool), 0, draw.integers(0, 7, (8, 8))).reshape(-1)
        if isinstance(policy, Peer):
            bits = int(draw.integers(1, 256)) & ~(1 << core) or 1 << peer
            yield core, 8, np.array([bits], np.uint64), draw.integers(0, 5, 64), draw.integers(0, 9, 8)
        elif isinstance(policy, Fill):
            yield core, 8, 16, int(draw.integers(17)), int(draw.integers(9)), pairs, np.full(8, -7)
        else:
            yield core, peer, 8, 16, int(draw.integers(17)), int(draw.integers(1, 9)), pairs


def _sets(
    policy: Eviction, draw: np.random.Generator, steps: int
) -> Iterator[tuple[tuple[Any, ...], np.ndarray | None]]:
    """A set in use: asked for all its candidates, each after the answer before it."""
    for _ in range(-(-steps // _WAYS)):
        one = PlainSet(policy, _WAYS, SEED)
        for page in (*range(_WAYS), *draw.integers(0, _WAYS, 6).tolist()):
            one.use(page)
        for nth in range(_WAYS):
            yield (nth, NOTHING, *one.shown()), None if nth else one.memory


def digest(policies: list[Any], compiled: bool, steps: int = 20) -> str:
    """A digest of the answers of several policies: the same in every process, compiled or not."""
    told = [(policy.name, [(a.answer, a.written) for a in walk(policy, compiled, steps)]) for policy in policies]
    return hashlib.blake2b(repr(told).encode(), digest_size=8).hexdigest()
