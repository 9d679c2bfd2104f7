"""What stays during a run of the engine `dispatch`: shape of the machine, columns of groups, rules, policies.

Resources are numbered in the machine's order: those of units first (0 to `of_unit` - 1), then those of modules. Each
contiguous resource of a unit, and each of a module, has a free map of its own, a row of one array.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import Answers
from workbench.policies.dispatch.admission import ReadyAdmission
from workbench.policies.dispatch.die import ReadyDie
from workbench.policies.dispatch.priority import ReadyPriority
from workbench.policies.dispatch.selection.question import ReadySelection
from workbench.policies.dispatch.stuck import ReadyStuck
from workbench.policies.dispatch.units import ReadyUnits
from workbench.policies.placement.question import ReadyPlacement

to_int64: Any = np.int64
"""For a routine is compiled once more for each other type of whole number that it is given, a plain 0 among them."""
EVERY = 1 << 62
OWN = -1
"""The unit of a module's own resource."""


class Shape(NamedTuple):
    """The machine."""

    modules: int
    units: int
    of_unit: int
    """How many resources are of units."""
    blocks: np.ndarray
    """int64[resources], blocks of a unit or of a module."""
    first_map: np.ndarray
    """int64[resources], the row of the first free map of each contiguous resource; -1 for a countable one."""
    words: np.ndarray
    """int64[resources], words of a free map."""
    scattered: np.ndarray
    """bool[resources], whether a grant may be any free blocks."""
    own_placement: np.ndarray
    """bool[resources], whether the resource is served by the placement policy of shared memory."""
    remembers: np.ndarray
    """int64[resources], slots of memory that the placement policy keeps of each free map."""
    footprint: np.ndarray
    """int64[resources, most blocks + 2], blocks that a request of each size takes; the last size, one more than any
    resource has, and those above a resource's own take more than any report says."""
    totals: np.ndarray
    """int64[resources], blocks of each resource in a module, all units together."""
    places: int
    """Of a module: each resource of each unit, and those of its own."""
    ranges: np.ndarray
    """int64[ranges, 2], unit (OWN = the module's own) and resource of each free map of a module, in the order in which
    groups take them."""
    dies: int
    die_of: np.ndarray
    """int64[modules], the die of each module."""
    barriers: int
    """The resource of which groups and sub-groups of one wave take none; NONE = there is no such resource."""


class Lot(NamedTuple):
    """What groups say of what stands between their queue and their unit (spec 7); no rows where nothing is asked."""

    kernel: np.ndarray
    """int64[groups]."""
    number: np.ndarray
    """int64[groups], of each in its kernel; of the first group of a cluster, the number of the cluster."""
    of: np.ndarray
    """int64[groups], how many groups, or clusters, its kernel has."""
    beside: np.ndarray
    """int64[groups], the next group of the same cluster, -1 = none."""
    rank: np.ndarray
    """int64[groups], the place of its kernel in the order in which kernels arrive."""
    barrier: np.ndarray
    """int64[groups], the start barrier that each names, -1 = none."""
    endless: np.ndarray
    """bool[groups]."""


class Columns(NamedTuple):
    """The groups, one row a group, and their channels."""

    arrival: np.ndarray
    channel: np.ndarray
    priority: np.ndarray
    waves: np.ndarray
    independent: np.ndarray
    duration: np.ndarray
    demand: np.ndarray
    """int64[groups, resources]: blocks a wave of a unit's resource, blocks a group of a module's."""
    instructions: np.ndarray
    """int64[groups, 6], or no rows where they are not requested."""
    rates: np.ndarray
    """int64[groups, 6], instructions a cycle in units of 2**-20, or no rows."""
    following: np.ndarray
    """int32[groups], the group behind each in its channel, -1 = none."""
    first: np.ndarray
    """int64[channels], the first group of each channel, -1 = none."""
    lot: Lot


class Rules(NamedTuple):
    """The levers as whole numbers."""

    channels: int
    levels: int
    offers: int
    """How many groups of a channel may be put forward: the head and the look-ahead."""
    round_cycles: int
    dispatches_a_round: int
    fail_init: int
    a_block_a_wave: int
    """1 where each wave of a unit gets a range of its own, 0 where a unit's waves share one."""
    sums_first: int
    """1 where no report can promise more than is free, so that sums of free blocks may be looked at first."""
    may_refuse: int
    """1 where a placement may refuse what a report promised, so that what it remembers is compared."""
    most_tries: int
    """Refusals at allocation in a row, while all modules are empty, after which a group counts as waiting for ever."""
    tie: int
    """LOWEST, RANDOM or ROTATING."""
    history: int
    """1 where the recent past of modules is counted."""
    heat_cycles: int
    """Cycles of a step of the thermal model, 0 = no heat."""
    events: int
    """1 where what every dispatch has taken is counted and logged."""
    ends_on_request: int = 0
    """1 where a group that was granted stays until its end is asked, 0 where it ends after its duration."""
    keeps_answers: int = 0
    """1 where grants and ends are kept for whoever asked."""
    tells_all: int = 0
    """1 where verdicts, splits and failed rounds are kept, too."""
    most_answers: int = EVERY
    """Answers that may wait when another event is taken."""
    asks_pages: int = 0
    """1 where a term of the choice reads pages and somebody may know of them."""
    forgets: int = 0
    """1 where nothing is kept of what has ended, so that a dispatch has the number of its slot."""
    entered: int = 0
    """1 where the past of modules is what others enter; then the groups' own instructions are not counted."""
    between: int = 0
    """1 where anything stands between queue and unit that spec 3 does not know (spec 7)."""
    hangs: int = 0
    """1 where a run in which nothing can happen any more hangs, 0 where it is starved."""
    asks_admission: int = 0
    asks_die: int = 0
    in_order: int = 0
    """Whether kernels wait for those before: `FULL_OVERLAP`, `LEFTOVER` or `SERIALISE`."""
    clusters: int = 0
    """1 where some groups start together."""
    spread: int = 0
    """1 where no module takes two groups of a cluster."""
    paced: int = 0
    """1 where the groups of a module share its rate."""
    paced_by_waves: int = 0
    """1 where waves count as residents, 0 where groups do."""
    pending_depth: int = 0
    """Places of a module's queue."""
    one_label: int = 0
    """1 where selections see priority 1 of every group that is not below all (spec 3, E3)."""
    skips: int = 1
    """0 where every cycle is looked at and every round played, so that tests may see what skipping changes: nothing."""


LOWEST, RANDOM, ROTATING = 0, 1, 2
FULL_OVERLAP, LEFTOVER, SERIALISE = 0, 1, 2


class Turns(NamedTuple):
    """When a probe that serves several resources in turn looks at each; without one `periods` is 0."""

    periods: int
    cycles_a_period: int
    forget: int
    period: np.ndarray
    """int64[resources], -1 where the report is always fresh."""


class Terms(NamedTuple):
    """The scores of modules that are summed."""

    answers: Answers
    chosen: Answers
    """The same of those that are told which module was taken."""
    weights: np.ndarray
    params: np.ndarray
    """float64[terms, most parameters]."""
    sizes: np.ndarray
    """int64[terms, 2]: parameters and slots of memory of each term."""
    history: np.ndarray
    """int64[terms], cycles of the sliding window, 0 = none."""
    halving: np.ndarray
    """int64[terms], cycles between halvings, 0 = none."""
    classes: np.ndarray
    """int64[terms], numbers a module that each reads of the recent past."""
    held: Answers
    """The same of those that are told of pages."""
    holder: Answers
    """The answerer of questions about pages: a routine and the tuple that it runs on; 0 where there is none."""


class Warmth(NamedTuple):
    """The thermal model in steps: heat becomes a @ heat + b @ power."""

    a: np.ndarray
    b: np.ndarray
    joules: np.ndarray
    """float64[8], energy of an instruction of each class, and of a cycle of each wait."""
    idle_watts: float
    seconds: float
    """Of a step."""


class Probes(NamedTuple):
    """The probe of each resource."""

    answers: Answers
    """0 in place of an answer where nothing is probed."""
    params: np.ndarray
    """float64[resources, most parameters]."""
    sizes: np.ndarray
    """int64[resources], parameters of each."""


class Policies(NamedTuple):
    """The policies, ready to be asked."""

    probes: Probes
    placement: ReadyPlacement
    shared_placement: ReadyPlacement
    priority: ReadyPriority
    selection: ReadySelection
    stuck: ReadyStuck
    units: ReadyUnits
    terms: Terms
    turns: Turns
    warmth: Warmth
    die: ReadyDie
    admission: ReadyAdmission
    rates: np.ndarray
    """int64[most residents + 1], the rate of each of so many in 2^-20; empty where rates are constant."""
    hooks: Answers
    """The routines of `between` by their places in `HOOK`, and the play that they run on. 0 where nothing stands
    between queue and unit: they are compiled for the other runs alone."""


class Hooks(NamedTuple):
    """The places of what the loop calls where something stands between queue and unit."""

    lent: int
    open_modules: int
    dispatch: int
    start_queued: int
    note: int
    enter: int
    leave: int
    renew_pace: int
    take_paced: int
    follow_paces: int


HOOK = Hooks(*range(len(Hooks._fields)))
