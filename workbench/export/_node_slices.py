"""What lasts in a run of a node, read from its log of messages: who begins and who ends what, paired in order."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from workbench.export._slices import Slice, Track
from workbench.records.node import KIND, Message, NodeRecord, Who, messages_of

LINKS, POOL, APPLICATIONS = "links", "pool", "applications"


class Pair(NamedTuple):
    """What begins, and what ends it."""

    begin: Message
    end: Message


def paired(messages: list[Message], begins: int, ends: int, key: Callable[[Message], Hashable]) -> Iterator[Pair]:
    """Yield the messages of one kind with those that end them: of the same key the first with the first."""
    waiting: dict[Hashable, deque[Message]] = defaultdict(deque)
    for message in messages:
        if message.kind == begins:
            waiting[key(message)].append(message)
        elif message.kind == ends and waiting[key(message)]:
            yield Pair(waiting[key(message)].popleft(), message)


def card_name(card: int) -> str:
    """Return the process of a GPU."""
    return f"card {card}"


def slices_of(record: NodeRecord) -> list[Slice]:
    """Return everything that lasts: steps, kernels, groups, walks, sections of heaps, transfers, jobs of the pool."""
    messages = messages_of(record)
    tracks = (_steps, _kernels, _groups, _walks, _sections, _transfers, _jobs)
    return [one for track in tracks for one in track(messages)]


def _steps(messages: list[Message]) -> Iterator[Slice]:
    """Yield the steps of streams, each from the end of the one before it."""
    since: dict[tuple[int, int], int] = {}
    arrived = {message.who.application: message.cycle for message in messages if message.kind == KIND.arrive}
    for message in messages:
        if message.kind == KIND.step:
            who = message.who
            begin = since.get((who.application, who.stream), arrived.get(who.application, 0))
            since[who.application, who.stream] = message.cycle
            track = Track(APPLICATIONS, f"application {who.application} stream {who.stream}")
            yield Slice(track, begin, message.cycle, f"step {who.step}", who.words())


def _kernels(messages: list[Message]) -> Iterator[Slice]:
    """Yield kernels, from being put forward to the end of their steps."""
    for begin, end in paired(messages, KIND.put_forward, KIND.step, lambda it: it.who[1:4]):
        args = {**begin.who.words(), "groups": begin.values[0]}
        yield Slice(Track(card_name(begin.card), "kernels"), begin.cycle, end.cycle, _name("kernel", begin.who), args)


def _name(noun: str, who: Who) -> str:
    """Return a short name: the noun, then application, stream and step."""
    return f"{noun} {who.application}.{who.stream}.{who.step}"


def _groups(messages: list[Message]) -> Iterator[Slice]:
    """Yield groups, and sub-groups, for as long as they hold resources of a module."""
    for begin, end in paired(messages, KIND.dispatch, KIND.release, lambda it: (it.card, it.who[1:6])):
        module, waves = begin.values[:2]
        name = f"{_name('group', begin.who)}.{begin.who.group}"
        args = {**begin.who.words(), "waves": waves}
        yield Slice(Track(card_name(begin.card), f"module {module}"), begin.cycle, end.cycle, name, args)


def _walks(messages: list[Message]) -> Iterator[Slice]:
    """Yield walks of the page tables, once each: who joined one is told of it too, from the cycle of joining on."""
    first: dict[tuple[int, int, int], Message] = {}
    for message in messages:
        if message.kind == KIND.walk_times:
            page, begun, _, ended = message.values[:4]
            known = first.setdefault((message.card, page, ended), message)
            if begun < known.values[1]:
                first[message.card, page, ended] = message
    for message in first.values():
        page, begun, read, ended = message.values[:4]
        args = {**message.who.words(), "page": page, "read_cycles": read - begun, "link_cycles": ended - read}
        yield Slice(Track(card_name(message.card), "walkers"), begun, ended, "walk", args)


def _sections(messages: list[Message]) -> Iterator[Slice]:
    """Yield the sections of device heaps; one ends where the next begins, its answer may come later."""
    of_heap: dict[Track, list[Message]] = defaultdict(list)
    for message in messages:
        if message.kind == KIND.section and message.values[1] >= 0:
            of_heap[Track(card_name(message.card), f"heap lock of application {message.who.application}")].append(
                message
            )
    for track, sections in of_heap.items():
        sections.sort(key=lambda it: it.values[1])
        following = [*(section.values[1] for section in sections[1:]), sections[-1].values[3]]
        for section, until in zip(sections, following, strict=True):
            request, acquired, chunk, answered = section.values[:4]
            args = {**section.who.words(), "request": request, "chunk_cycles": chunk}
            yield Slice(track, acquired, max(min(answered, until), acquired), "section", args)


def _transfers(messages: list[Message]) -> Iterator[Slice]:
    """Yield transfers over the links, from card to card of the board."""
    for begin, end in paired(messages, KIND.send, KIND.arrive_link, lambda it: (it.card, it.who)):
        source, size = begin.values[:2]
        args = {**begin.who.words(), "bytes": size}
        yield Slice(Track(LINKS, f"{source} to {begin.card}"), begin.cycle, end.cycle, "transfer", args)


def _jobs(messages: list[Message]) -> Iterator[Slice]:
    """Yield the jobs of the pool's service, which does one after the other, none before it is asked."""
    pairs = [
        *paired(messages, KIND.pool_request, KIND.pool_answer, lambda it: it.who[1:]),
        *paired(messages, KIND.pool_release, KIND.pool_released, lambda it: it.who[1:]),
    ]
    free_at = 0
    for begin, end in sorted(pairs, key=lambda pair: (pair.end.cycle, pair.begin.cycle)):
        allocates = begin.kind == KIND.pool_request
        name = "release" if not allocates else "allocate" if end.values[0] else "refuse"
        args = {**begin.who.words(), "bytes": begin.values[0 if allocates else 1], "asked_cycle": begin.cycle}
        yield Slice(Track(POOL, "service"), max(begin.cycle, min(free_at, end.cycle)), end.cycle, name, args)
        free_at = end.cycle
