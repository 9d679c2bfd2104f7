"""The parts of a node: how each begins, from its slots of the setup, and the addresses of their routines.

They are a dispatcher and a translation a card, a heap an application and card, and one pool, which is made from a setup
of the engine `pool`. Nothing has happened in them: what comes when is decided by the node.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from workbench.compiled import INTERPRETED
from workbench.compiled.memory_access import Referent, entry_of, routine_of, run_of
from workbench.engines.dispatch import part as dispatch_part
from workbench.engines.dispatch import prepare as dispatch_prepare
from workbench.engines.dispatch.between import hook
from workbench.engines.dispatch.choice import ROUTINE
from workbench.engines.dispatch.choice import RUN as HOLDER
from workbench.engines.dispatch.engine import Dispatch
from workbench.engines.dispatch.run import most_dispatches
from workbench.engines.dispatch.state import COUNT, NONE
from workbench.engines.dispatch.state import Play as DispatchPlay
from workbench.engines.kit.columns import logs_of
from workbench.engines.kit.engine import Setup, defaults_of
from workbench.engines.kit.simulator import Attempt, Part
from workbench.engines.malloc import part as malloc_part
from workbench.engines.malloc import prepare as malloc_prepare
from workbench.engines.malloc.engine import Malloc
from workbench.engines.malloc.engine import Reading as HeapReading
from workbench.engines.node import pool_api
from workbench.engines.node.beginnings import begun
from workbench.engines.node.directory import PageHolders, pages_held
from workbench.engines.node.options import PARTS
from workbench.engines.node.plan import Calls, mallocs_of, with_requests
from workbench.engines.node.pool_part import PoolPart
from workbench.engines.node.prepare import Reading, most_live
from workbench.engines.node.state import Ports, Run
from workbench.engines.translation import part as translation_part
from workbench.engines.translation import prepare as translation_prepare
from workbench.engines.translation.engine import PartRules, Translation, new_play
from workbench.engines.translation.engine import Play as TranslationPlay
from workbench.engines.translation.state import Run as TranslationRun
from workbench.engines.translation.trace import Trace, no_rows
from workbench.errors import wrong_value
from workbench.streams import Streams
from workbench.structures.timetable import NEVER
from workbench.workloads.workload import Groups, Mallocs

MOST_HEAP = 1 << 30
"""Bytes that a heap and its chunks have at most."""
FOR_ALL = ("next_moment", "take_next", "answer_of", "forget_answers")
OWN: dict[ModuleType, tuple[str, ...]] = {
    dispatch_part: ("ask_group", "ask_end", "ask_cancel_range", "enter_history", "scattered_of"),
    translation_part: (
        "ask_access",
        "ask_unmap",
        "take_holder",
        "stall",
        "stalled",
        "end_walk",
        "score_held",
        "take_score",
    ),
    malloc_part: ("ask_request", "ask_free", "ask_chunk", "was_served", "time_of"),
    pool_api: ("ask_allocate", "ask_release", "copied", "run_of", "row_of", "forget_rows", "memory_of"),
}
"""The routines of each kind of part that the calendar calls."""


class Table:
    """A workload that is the table of a part."""

    name = "applications"

    def __init__(self, groups: Groups | None = None, mallocs: Mallocs | None = None) -> None:
        self._groups, self._mallocs = groups, mallocs

    def groups(self, machine: Any, streams: Streams) -> Groups | None:
        """Return the groups."""
        return self._groups

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs | None:
        """Return the calls."""
        return self._mallocs


class Member(NamedTuple):
    """A part with what is called of it."""

    kind: str
    api: ModuleType
    part: Part


class Members:
    """All parts, in the order of their numbers; None where an application has no heap."""

    def __init__(self, reading: Reading, seed: int, events: bool, room: Mapping[str, int]) -> None:
        cards = len(reading.given.machine.gpus)
        self.calls: Calls = reading.calls
        dispatchers = [_dispatcher(reading, seed, room["spans"], live=not events) for _ in range(cards)]
        translations = [_translation(reading, seed) for _ in range(cards)]
        heaps = self._heaps(reading, seed, cards)
        pool = _pool(reading, seed, room["tickets"], events)
        self.each: list[Member | None] = [*dispatchers, *translations, *heaps, pool]
        self.ports = _ports(self.each)

    def _heaps(self, reading: Reading, seed: int, cards: int) -> list[Member | None]:
        """Return the heaps, card by card; the calls learn their requests."""
        applications, requests, heaps = len(reading.applications), dict[int, np.ndarray](), list[Member | None]()
        for place in range(cards * applications):
            card, application = divmod(place, applications)
            calls = mallocs_of(reading.plan, reading.calls, application, reading.given.machine.card.wave_size)
            if not calls.bytes.size or not _may_run_on(reading, application, card):
                heaps.append(None)
                continue
            heap = _heap(reading, seed, calls)
            heaps.append(heap)
            requests[application] = heap.part.lent.cuts.request
        self.calls = with_requests(reading.calls, requests)
        return heaps

    def lend_pages(self, run: Run) -> None:
        """Let dispatchers with a choice that is told of it ask which modules hold pages of a group."""
        plays = [one.part.play for one in self.each if one is not None and one.kind == "dispatch"]
        plays = [play for play in plays if play.rules.asks_pages]
        self.holders = [Referent(PageHolders(run, play.state.pages)) for play in plays]
        for play, lent in zip(plays, self.holders):
            play.policies.terms.holder[ROUTINE], play.policies.terms.holder[HOLDER] = entry_of(pages_held, lent)

    def make_room(self, number: int) -> None:
        """Let a part have more space."""
        self.each[number].part.make_room()  # type: ignore[union-attr]

    def check(self) -> None:
        """Raise what a policy did wrong."""
        for one in self.each:
            if one is not None:
                one.part.check()


def _ports(each: list[Member | None]) -> Ports:
    """Return the routines of all parts, by address."""
    table = np.zeros((len(Ports._fields), len(each)), object if INTERPRETED else np.int64)
    for number, member in enumerate(each):
        if member is not None:
            kept = member.part.kept
            table[:, number] = run_of(kept), *_routines(member.api, kept.reference)
    return Ports(*table)


@cache
def _routines(api: ModuleType, reference: Any) -> tuple[Any, ...]:
    """Return the routines of a part that runs on tuples of a type, in the order of `Ports`; 0 for those of others."""
    own = (*FOR_ALL, *OWN[api])
    return tuple(routine_of(getattr(api, name), reference) if name in own else 0 for name in Ports._fields[1:])


def sub_setup(reading: Reading, part: str, machine: Any, workload: Any, options: Any) -> Setup:
    """Return the setup of a part: its slots of the policies."""
    given: Mapping[str, Any] = reading.given.setup.policies
    return Setup(part, machine, workload, {slot: given[slot] for slot in defaults_of(PARTS[part])}, options)


def _dispatcher(reading: Reading, seed: int, spans: int, live: bool) -> Member:
    machine, options = reading.given.machine.card, reading.given.options.dispatch
    setup = sub_setup(reading, "dispatch", machine, Table(groups=reading.groups), options)
    by = reading.groups_digest, dispatch_prepare.SKIPS
    part = begun(new_dispatcher, setup, seed, by, entries=spans, live=live)
    part.draw_selection(seed)
    return Member("dispatch", dispatch_part, part)


def _translation(reading: Reading, seed: int) -> Member:
    machine, options = reading.given.machine.translation, reading.given.options.translation
    setup = sub_setup(reading, "translation", machine, None, options)
    by, walks_wait = translation_prepare.SKIPS, reading.given.options.remote == "link"
    part = begun(new_translation, setup, seed, by, walks_wait=walks_wait)
    return Member("translation", translation_part, part)


def _heap(reading: Reading, seed: int, calls: Mallocs) -> Member:
    machine, options = reading.given.machine.card, reading.given.options.heap
    setup = sub_setup(reading, "malloc", machine, Table(mallocs=calls), options)
    part = new_heap(setup, seed, _growth(reading, calls))
    return Member("malloc", malloc_part, part)


def _pool(reading: Reading, seed: int, tickets: int, events: bool) -> Member:
    options, machine = reading.given.options, reading.given.machine
    setup = sub_setup(reading, "pool", machine.board, None, options.pool)
    part = begun(
        PoolPart, setup, seed, tickets=tickets, clock_mhz=int(machine.card.clock_mhz), pages=options.pages,
        policy=reading.given.slots.frames, by_links=options.remote == "link",
        release_ns=None if options.release_ns < 0 else options.release_ns, logs=events,
    )  # fmt: skip
    return Member("pool", pool_api, part)


def _may_run_on(reading: Reading, application: int, card: int) -> bool:
    """Return whether kernels of an application may run on a card."""
    return reading.given.options.kernel_card != "home" or reading.applications[application].home == card


def _growth(reading: Reading, calls: Mallocs) -> Growth | None:
    """Return the bytes to which a heap may grow, where waves wait for it: until all that is ever requested has a
    chunk."""
    options = reading.given.options
    if options.malloc != "wait":
        return None
    chunk, granule = options.chunk_bytes, options.heap.granule_bytes
    each = -(-np.maximum(calls.bytes.astype(np.int64) * reading.given.machine.card.wave_size, granule) // chunk) * chunk
    most = options.heap.heap_bytes + min(int(each.sum()), _most_chunks(reading, int(each.max(initial=chunk))))
    return Growth(chunk, max(min(most, MOST_HEAP), options.heap.heap_bytes))


def _most_chunks(reading: Reading, each: int) -> int:
    """Return an upper bound of the bytes of chunks of a heap: four times what the groups that run at a time hold, and
    some chunks more."""
    plan = reading.plan
    of_phase = np.add.reduceat(np.append(np.maximum(plan.malloc, SMALLEST), 0), plan.first_malloc[:-1])
    of_phase *= np.diff(plan.first_malloc) > 0
    of_kernel = np.bincount(plan.of_kernel, of_phase, minlength=plan.groups.size) * plan.waves
    needed = 4 * most_live(reading) * int(of_kernel.max(initial=0))
    return (needed // reading.given.options.chunk_bytes + 16) * each


SMALLEST = 1024
"""Bytes that a block is reckoned with, at least."""


LIVE_ANSWERS = 256
"""Answers that may wait in a part that keeps what is live."""


class Dispatcher(Part):
    """A dispatcher of groups that are put forward one by one."""

    @property
    def draws(self) -> bool:
        """Return whether what it begins with follows from the seed, but for what the selection remembers."""
        slots, options, *_ = self.run.given
        return options.module_tie == "random" or any(one.draws for one in slots if one is not slots.selection)

    def off(self) -> Self:
        part, given = super().off(), self.run.given
        given = given._replace(setup=given.setup._replace(workload=None))
        part.run = self.run._replace(given=given, groups=None, columns=None)
        return part

    def on(self, lent: DispatchPlay) -> Self:
        part = super().on(lent)
        part.run = self.run._replace(columns=lent.columns)
        if lent.rules.between:
            hook(lent, part.kept)
        return part

    def draw_selection(self, seed: int) -> None:
        """Let a selection of the package begin with the random numbers of a seed."""
        selection, rules = self.run.given.slots.selection, self.lent.rules
        if selection.draws and selection.is_of_the_package:
            drawn = dispatch_prepare.selection_seed(Streams(seed))
            self.lent.policies.selection.memory[:] = selection.start_memory(rules.channels, rules.levels, drawn)


def new_dispatcher(
    setup: Setup,
    seed: int,
    entries: int | None = None,
    live: bool = False,
    logs: Mapping[str, int] | None = None,
    **rules: int,
) -> Dispatcher:
    """Return a dispatcher whose modules are empty and whose queues are too; its routines take the `Play` that it lends.

    Parameters
    ----------
    setup : Setup
        Of the engine `dispatch`; its workload gives the table of groups.
    seed : int
    entries : int, optional
        How much may be entered at a time that the longest window of a policy still reaches; without it the past of
        modules is what their groups execute.
    live : bool
        Whether what has ended is forgotten, so that there is no record. The state grows then with what runs at a time,
        and with the sub-groups where groups may be split, not with the table; numbers of dispatches are used again.
    logs : mapping of str to int
        Rows of the logs `takes` and `failures`; without it neither is kept.
    **rules : int
        Other rules: with `ends_on_request` = 0 a group that was granted ends after its duration; with `tells_all` = 0
        verdicts about pages, splits and failed rounds are no answers.
    """
    engine = Dispatch()
    run = engine.read_table(engine.given(setup, seed), of_part=True)
    entered = int(run.history and entries is not None)
    if entered:
        none = np.zeros((0, run.columns.rates.shape[1]), np.int64)
        run = run._replace(history=False, columns=run.columns._replace(instructions=none, rates=none))
    levers = dispatch_prepare.rules_of(run.given, run.groups, run.history, logs is not None)._replace(
        keeps_answers=1,
        asks_pages=int(any(dispatch_prepare.reads_pages(term) for term, _ in run.given.slots.choice.terms())),
        most_answers=LIVE_ANSWERS if live else 2 * most_dispatches(run),
        forgets=int(live),
        entered=entered,
        hangs=0,
        **{"ends_on_request": 1, "tells_all": 1, **rules},
    )
    room = {**dict.fromkeys(logs_of(engine.state), 0), **(logs or {}), "spans": (entries or 0) * entered}
    theirs = any(not policy.built_in for policy in engine.compiled_policies(run))
    unasked = [np.full_like(column, NONE) for column in (run.columns.arrival, run.columns.following, run.columns.first)]
    columns = run.columns._replace(arrival=unasked[0], following=unasked[1], first=unasked[2])
    play = engine.begin_with(run, columns, levers, Attempt(room, logs is not None, checked=theirs))
    play.state.unasked[:] = np.bincount(run.columns.channel, minlength=levers.channels)
    play.state.counters[COUNT.look] = NEVER
    part = Dispatcher(engine, run, play, play)
    if levers.between:
        hook(play, part.kept)
    return part


class TranslationPart(Part):
    """A translation hierarchy whose arrays grow where routines say `NEEDS_ROOM`; they take the `Run` that it lends."""

    def make_room(self) -> None:
        """Make the arrays longer that one more request or event may fill."""
        self.play.make_room_for_page()
        self.kept.renew(self.play.run(no_rows()))

    def on(self, lent: TranslationRun) -> Self:
        part, given = super().on(lent), self.run.given
        trace = Trace(given, lent.state.numbers)
        part.play = TranslationPlay(given, trace, lent.policies, lent.rules, lent.state)
        return part


def new_translation(
    setup: Setup, seed: int, walks_wait: bool = False, rows: bool = False, logged: int = 0
) -> TranslationPart:
    """Return a translation hierarchy in which nothing has happened yet.

    Parameters
    ----------
    setup : Setup
        Of the engine `translation`; nothing is read of its workload.
    seed : int
    walks_wait : bool
        Whether a walk that is read waits for `end_walk`, as one whose page lies on another card does.
    rows : bool
        Whether each step between an issue and its answer is told too: looks into directories, at peers and into the
        shared TLB, requests at the walkers, walks that begin and end, fills.
    logged : int
        Rows of the log.
    """
    engine = Translation()
    run = engine.read(engine.given(setup, seed))
    theirs = any(not policy.built_in for policy in engine.compiled_policies(run))
    play = new_play(run, Attempt({"logged": logged}, logged > 0, checked=theirs), PartRules(int(walks_wait), int(rows)))
    return TranslationPart(engine, run, play, play.run(no_rows()))


class Growth(NamedTuple):
    """How far a heap may grow."""

    chunk_bytes: int
    """What it asks for at a time (spec 6, E8)."""
    most_bytes: int
    """Of the heap with all its chunks: the addresses that are set aside for it, equal parts for its arenas."""


def new_heap(setup: Setup, seed: int, growth: Growth | None = None) -> Part:
    """Return a heap that was asked for nothing yet; its routines take the `Run` that it lends.

    What may be asked is known before: the calls of the workload, cut into requests. When they are made is not: the
    arrivals of the workload only say which calls of a warp belong together, and in which order requests are numbered.

    Parameters
    ----------
    setup : Setup
        Its workload is the table of calls.
    seed : int
    growth : Growth, optional
        Without it an empty heap answers null, as in a run of the engine.

    Raises
    ------
    InputError
        The calls or the policies do not go with the machine, or a chunk is less than a granule.
    """
    engine = Malloc()
    given = engine.given(setup, seed)
    engine.check_levers(given)
    rules = malloc_prepare.rules_of(given, any_frees=True)
    if growth:
        chunk, most = (size // rules.granule for size in growth)
        if chunk < 1:
            raise wrong_value("", "chunk_bytes", f"must be at least a granule ({rules.granule})", growth.chunk_bytes)
        rules = rules._replace(grows=chunk, region=most // rules.arenas)
    calls = malloc_prepare.columns_of(setup.workload.mallocs(given.machine, given.streams), rules)
    run = HeapReading(given, rules, type(calls)(*(np.array(column) for column in calls)), part=True)
    checked = not all(policy.built_in for policy in engine.compiled_policies(run))
    play = engine.begin(run, Attempt({"taken": 0, "refusals": 0}, events=False, checked=checked))
    return Part(engine, run, play, play.run())
