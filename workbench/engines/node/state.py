"""What a run of the engine `node` is made of: the plan, the rules, the parts by address, and what changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.kit import STOP, column, log, numbered
from workbench.engines.kit.faults import full, stuck
from workbench.engines.node.event_heap import EventHeap
from workbench.engines.node.link_state import Links
from workbench.engines.node.pages import Pages
from workbench.engines.node.plan import MOST_TOUCHES, Calls, Plan
from workbench.structures.timetable import NEVER

NONE = -1
NEEDS_ROOM = -2
"""What a part answers whose arrays must grow first; nothing has happened."""
AT_ONCE, WAIT = range(2)
LOCAL, LINK = range(2)
MATCH_TOUCH, MATCH_PLACE = range(2)
"""In `State.match`: the touch of a phase that a position lies in, and which of its pages it is."""
HOLD_NOTHING, HOLD_GROUP = range(2)


class Counters(NamedTuple):
    """Where a run stands, and what it has counted."""

    now: int
    """The moment of the event that is under way."""
    makespan: int
    """The cycle of the last end of a step."""
    steps: int
    """That have ended."""
    put_forward: int
    """Groups."""
    groups_ended: int
    groups_cancelled: int
    kernels_refused: int
    """Of refused applications, that were never put forward; so for groups."""
    groups_refused: int
    shoot_downs: int
    stalled_modules: int
    """Modules that shoot-downs went to, each once a shoot-down."""
    touches: int
    remote_touches: int
    touched_bytes: int
    """That the touches stand for."""
    remote_bytes: int
    """Of these, that passed a link."""
    calls: int
    """Of malloc."""
    nulls: int
    chunks: int
    """That were asked for."""
    pending: int
    """Ends of walks for which a translation had no space."""
    free_task: int
    """The head of the list of free tasks; so for accesses."""
    free_access: int
    messages: int
    """Rows of the log."""
    details: int
    """Numbers behind them."""
    drawn: int
    """Pages of elements in `State.drawn`."""
    drawn_touch: int
    """Of which touch and group they are."""
    drawn_group: int
    window: int
    """Cycles of a row of `State.spent`."""


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    part: int = stuck("part {row} of the node stopped at cycle {cycle} ({answer}).")
    part_full: int = stuck("part {row} of the node has no more room.")
    waits_for_ever: int = stuck("at cycle {cycle} nothing is pending any more, and {who}.", starved=True)
    freed_in_use: int = stuck(
        "at cycle {cycle} tensor {answer} is freed while kernels that name it have not ended; with free_in_use: wait "
        "the free waits."
    )
    too_many_touches: int = stuck(
        f"at cycle {{cycle}} a group touches more than {MOST_TOUCHES:,} pages in one phase, and there are no numbers "
        "for more (spec 6, R3); take larger pages, or options.touches_a_phase."
    )
    event_heap_full: int = full("event_heap")
    links_full: int = full("links")
    pages_full: int = full("pages")
    tasks_full: int = full("tasks")
    accesses_full: int = full("accesses")
    tickets_full: int = full("tickets")
    spans_full: int = full("spans")


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)


class Rules(NamedTuple):
    """Machine and couplings as whole numbers."""

    cards: int
    applications: int
    modules: int
    """Of a card."""
    seed: int
    memory: int
    touches_hold: int
    malloc: int
    history: int
    most_touches: int
    """Of a touch's pages that are simulated; 0 = all."""
    kernel_card: int
    pages_known: int
    free_in_use: int
    shootdown_cycles: int
    shootdown_to: int
    remote: int
    pages: int
    """Code of the page size."""
    local_cycles: int
    walk_bytes: int
    line_bytes: int
    places: int
    """Cards of the board, CPUs and switches among them."""
    heap_granule: int
    chunk_bytes: int
    horizon: int
    """The first cycle that is not simulated; `NEVER` = none."""
    events: int
    """Whether messages are kept."""
    power: int
    """Whether the energy of instructions is counted."""
    issue_cycles: int
    heap_answer_cycles: int
    chunks: int
    skips: int = 1
    """0 where every cycle is looked at, every part at every event, and nothing is kept that can be found again, so that
    tests may see what skipping changes: nothing."""


class Ports(NamedTuple):
    """The routines of all parts, by address: an entry a part, of those that it has (0 elsewhere)."""

    lent: np.ndarray
    next_moment: np.ndarray
    take_next: np.ndarray
    answer_of: np.ndarray
    forget_answers: np.ndarray
    ask_group: np.ndarray
    ask_end: np.ndarray
    ask_cancel_range: np.ndarray
    enter_history: np.ndarray
    ask_access: np.ndarray
    ask_unmap: np.ndarray
    take_holder: np.ndarray
    stall: np.ndarray
    end_walk: np.ndarray
    score_held: np.ndarray
    take_score: np.ndarray
    stalled: np.ndarray
    ask_request: np.ndarray
    ask_free: np.ndarray
    ask_chunk: np.ndarray
    was_served: np.ndarray
    time_of: np.ndarray
    ask_allocate: np.ndarray
    ask_release: np.ndarray
    copied: np.ndarray
    run_of: np.ndarray
    row_of: np.ndarray
    forget_rows: np.ndarray
    scattered_of: np.ndarray
    memory_of: np.ndarray


class ApplicationFields(NamedTuple):
    """A row of `State.application`."""

    left: int
    """Streams that have not ended."""
    refused: int
    live: int
    """Groups that were put forward and have neither ended nor been cancelled."""
    ended: int
    first_tensor: int
    """The first that was asked for, -1 = none."""
    last_tensor: int
    first_chunk: int
    last_chunk: int
    ended_at: int
    """When, -1 = not yet."""


class StreamFields(NamedTuple):
    """A row of `State.stream`."""

    step: int
    """The step that is under way."""
    ended: int
    """Steps that have ended."""
    since: int
    """When the step before it ended."""


class TensorFields(NamedTuple):
    """A row of `State.tensor`."""

    status: int
    users: int
    """Kernels that name it and have not ended."""
    card: int
    """On whose memory it lies."""
    free_step: int
    """The step that frees it, -1 = none yet."""
    planned: int
    """Whether its free was planned."""
    pool: int
    """What the pool has said."""
    left: int
    """Whether the step that freed it has ended without the pool."""
    next: int
    """The next that its application asked for, -1 = none."""


class KernelFields(NamedTuple):
    """A row of `State.kernel`."""

    waits: int
    """Whether it waits for its tensors."""
    left: int
    """Groups that have not ended."""
    since: int
    """When the step before it ended."""
    put: int
    """When it was put forward, -1 = not yet."""
    card: int


class TaskFields(NamedTuple):
    """A row of `State.task`: a group, or a sub-group, that was dispatched."""

    kernel: int
    group: int
    """Among all groups."""
    wave: int
    """-1 = the whole group."""
    card: int
    module: int
    dispatch: int
    phase: int
    """Among all phases."""
    open: int
    """Answers that the end of the group waits for."""
    waited: int
    """Answers that the end of the phase waits for."""
    touches: int
    """Touches among them."""
    done: int
    """Whether its last phase is over."""
    over: int
    """Whether it waits for nothing more either."""
    released: int
    """Whether it has given back what it held."""
    waves: int
    computed: int
    """When the compute of its phase ended."""
    stalled: int
    """Cycles for which its module had been stalled by then."""
    next: int
    """The next free row."""


class AccessFields(NamedTuple):
    """A row of `State.access`: a touch of one page under way."""

    task: int
    phase: int
    position: int
    """Among the touches of the phase."""
    tag: int
    tensor: int
    bytes: int
    """That it stands for."""
    entered: int
    """When it entered the queue of its module, -1 = not yet."""
    computed: int
    """When the compute of its phase ended; for how long the module had been stalled by then, after its issue since
    then; and what the path of its task had come to."""
    stalled: int
    compute: int
    lock: int
    service: int
    chunk: int
    shot: int
    issued: int
    answered: int
    """When it was issued, and its translation answered."""
    queued: int
    begun: int
    read: int
    walked: int
    """When its walk came to the walkers, began, was read and ended."""
    remote: int
    """Whether its data pass a link."""
    next: int
    """The next free row."""


class CallFields(NamedTuple):
    """A row of `State.call`: a call of malloc of a wave."""

    left: int
    """Requests that are not answered."""
    task: int
    card: int
    module: int
    status: int
    since: int
    """When it was made."""
    nulls: int
    """Requests that got nothing."""


APPLICATION, STREAM, TENSOR = numbered(ApplicationFields), numbered(StreamFields), numbered(TensorFields)
KERNEL, TASK, ACCESS = numbered(KernelFields), numbered(TaskFields), numbered(AccessFields)
CALL = numbered(CallFields)
UNKNOWN, ASKED, GRANTED, REFUSED, FREED = range(5)
"""What a tensor may be."""
MESSAGE = 10
"""Numbers of a message: moment, kind, card, two words of K, five values."""


class GroupFields(NamedTuple):
    """A row of `State.group`."""

    parts: int
    """Sub-groups that have not ended; of one that was not split itself."""
    began: int
    ended: int
    card: int
    cancelled: int
    """Whether a part of it was."""
    path_at: int
    """When its part on the critical path ended, and the first wave of that."""
    path_by: int


class TicketFields(NamedTuple):
    """A row of `State.ticket`: a tensor, or a chunk, as the pool knows it."""

    first: int
    """The words of K of who asked for it."""
    second: int
    free_first: int
    """The words of K of who gave it back."""
    free_second: int
    card: int
    """That granted it."""
    bytes: int
    """That were asked for."""
    heap: int
    """Of a chunk, the part that asks for it, and for which of its requests and calls."""
    request: int
    call: int
    next: int
    """The next chunk of its application, -1 = none."""


GROUP, TICKET = numbered(GroupFields), numbered(TicketFields)


class State(NamedTuple):
    """What changes during a run."""

    event_heap: EventHeap
    counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    soonest: np.ndarray = column(np.int64, "parts", fill=NEVER)
    """The moment of each part's next event."""
    application: np.ndarray = column(np.int64, "applications", len(APPLICATION))
    stream: np.ndarray = column(np.int64, "streams", len(STREAM))
    tensor: np.ndarray = column(np.int64, "tensors", len(TENSOR))
    kernel: np.ndarray = column(np.int64, "kernels", len(KERNEL))
    group: np.ndarray = column(np.int64, "groups", len(GROUP))
    task: np.ndarray = column(np.int64, "tasks", len(TASK))
    path: np.ndarray = column(np.int64, "tasks", 37)
    """Of each task, see `path_times.begin_path`."""
    times: np.ndarray = column(np.int64, "groups", 11)
    """The parts of each group's time."""
    access: np.ndarray = column(np.int64, "accesses", len(ACCESS))
    call: np.ndarray = column(np.int64, "calls", len(CALL))
    ticket: np.ndarray = column(np.int64, "tickets", len(TICKET), fill=NONE)
    holders: np.ndarray = column(np.uint64, "tickets", "module_words")
    """Of each tensor, or chunk, whose pages were unmapped, the modules that its shoot-down goes to, card by card, as
    bits (`structures.bitmaps`)."""
    stalled_until: np.ndarray = column(np.int64, "modules")
    """Of each module, card by card, the cycle at which its last stall ends."""
    drawn: np.ndarray = column(np.int64, "most_drawn", 2)
    """The pages of one touch of elements of a group in the order of first use, with their lines (`touched_bytes`)."""
    by_address: np.ndarray = column(np.int64, "most_drawn", 2)
    first_use: np.ndarray = column(np.int64, "most_drawn")
    order: np.ndarray = column(np.int64, "most_drawn")
    """The same while they are being found: by address, when each is used first, and what is being sorted."""
    pending: np.ndarray = column(np.int64, 1 << 12, 2)
    """See `directory.end_walks_again`."""
    match: np.ndarray = column(np.int64, 4)
    """The touch of the last page that was looked for: see `touches.find_page`."""
    gauge: np.ndarray = column(np.float64, "gauges", 4)
    """See `telemetry.note_module`."""
    spent: np.ndarray = column(np.float64, "windows", "watched")
    """Picojoules of the instructions of each module, card by card, in windows of time; see `telemetry.spend`."""
    picojoules: np.ndarray = column(np.float64, 6)
    """Of an instruction of each class."""
    served: np.ndarray = column(np.int64, 5)
    """Touches by who gave the translation (`records.translation.SERVED_BY`)."""
    messages: np.ndarray = log("messages", MESSAGE)
    details: np.ndarray = log("details", 1)


class Run(NamedTuple):
    """What the compiled routines see, by reference."""

    plan: Plan
    rules: Rules
    ports: Ports
    boards: np.ndarray
    """The place of each GPU among the cards of the board."""
    links: Links
    pages: Pages
    calls: Calls
    state: State
