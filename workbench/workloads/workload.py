"""The base of workloads, and the columns of requests that they give, one type a kind of engine.

A workload is one frozen value that says what is asked of the machine; asked with a seed it gives request columns. A
workload that is drawn at random, a `Generator`, uses named streams of the seed alone, so every policy of a comparison
meets the same requests.

`check_kind` refuses a workload that gives other requests than an engine serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError, at, nearest_name
from workbench.levers import Family, Spec
from workbench.streams import Streams
from workbench.workloads.application import Applications
from workbench.workloads.pool_requests import PoolRequests, TensorRequests

KINDS = ("workgroups", "groups", "accesses", "mallocs", "pool_requests", "tensor_requests", "applications")
"""What engines may want: the methods of a workload that give requests."""
MOST_CHANNELS = 64
MOST_PRIORITIES = 8
INSTRUCTION_CLASSES = ("move", "load", "store", "matrix", "compare", "jump")
"""What instructions are counted by (spec 3, R78), in the order of the columns of `Groups.instructions`."""


class Workgroups(NamedTuple):
    """Requests to a shared memory: one row a workgroup, in queue order, arrivals not decreasing."""

    arrival: np.ndarray
    """int64[workgroups], the cycle at which each joins the queue."""
    length: np.ndarray
    """int64[workgroups], contiguous segments asked for, at least 1."""
    duration: np.ndarray
    """int64[workgroups], cycles from its start to its release, at least 1."""


class Groups(NamedTuple):
    """Workgroups to be dispatched: one row a group; rows of a channel are in queue order, arrivals not decreasing."""

    arrival: np.ndarray
    """int64[groups], the cycle at which each joins the queue of its channel."""
    channel: np.ndarray
    """int64[groups], the channel (hardware queue, stream) of each, from 0."""
    priority: np.ndarray
    """int64[groups], static priority, 1 = highest."""
    waves: np.ndarray
    """int64[groups], waves (warps) of each, at least 1; each takes a wave slot of a unit."""
    independent: np.ndarray
    """bool[groups], whether the waves of each may run apart."""
    duration: np.ndarray
    """int64[groups], cycles from its dispatch to its release, at least 1."""
    demand: dict[str, np.ndarray]
    """int64[groups] by the resource's name: blocks a wave of a unit's resource, blocks a group of a module's; what is
    not named is not needed."""
    instructions: np.ndarray
    """int64[groups, 6]: instructions that a whole group executes of each class (move, load, store, matrix, compare,
    jump), spread evenly over its life."""
    channels: int = 0
    """How many channels there are; 0 = as many as come."""
    levels: int = 0
    """How many static priorities there are; 0 = as many as come."""
    kernel: np.ndarray | None = None
    """int64[groups], the kernel of each, from 0; None = the groups of each channel are one kernel."""
    cluster: np.ndarray | None = None
    """int64[groups], how many groups of its kernel start together, 1 = each for itself; None = 1 everywhere."""
    barrier: np.ndarray | None = None
    """int64[groups], the start barrier that each names, from 0, -1 = none; None = no group names one."""
    endless: np.ndarray | None = None
    """bool[groups], whether each runs until all others have ended; None = none does."""

    def take(self, rows: np.ndarray) -> Groups:
        """Return some rows only, in this order."""
        return self._each(lambda column: column[rows])

    def repeated(self, times: np.ndarray) -> Groups:
        """Return every row as often as told, one after the other: int64[rows] times.

        Columns that need not grow are handed on as they are.
        """
        if len(times) == times.sum() and times.min(initial=1) == 1:
            return self
        return self._each(lambda column: np.repeat(column, times, axis=0))

    def copied(self) -> Groups:
        """Return the same in arrays of their own."""
        return self._each(np.copy)

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> Groups:
        """Return the same groups with every column changed; how many channels and priorities there are stays."""
        columns: dict[str, Any] = {name: change(c) for name, c in self._asdict().items() if isinstance(c, np.ndarray)}
        return self._replace(demand={label: change(blocks) for label, blocks in self.demand.items()}, **columns)


class Workload(Spec):
    """The base of every workload."""

    random: ClassVar[bool] = True
    """Whether the seed changes what comes; a trace comes as it was recorded."""
    more_seeds: ClassVar[str] = ""
    """Which lever would let further seeds give different requests, for the message about seeds that repeat runs."""

    @classmethod
    def gives(cls, wanted: str) -> bool:
        """Return whether it can serve an engine that wants one of `KINDS`: whether it answers that method."""
        return getattr(cls, wanted) is not getattr(Workload, wanted)

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        """Return the requests for a machine (`machine.segments`, `machine.granule_bytes`, ...), drawn from named
        streams."""
        raise NotImplementedError

    def groups(self, machine: Any, streams: Streams) -> Groups:
        """Return the workgroups that are dispatched over all modules of a machine, drawn from named streams."""
        raise NotImplementedError

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        """Return the accesses to pages by the cores of a machine, block by block, drawn from named streams."""
        raise NotImplementedError

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs:
        """Return the allocations by threads, drawn from named streams."""
        raise NotImplementedError

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        """Return the requests of applications to the cards of a machine, drawn from named streams."""
        raise NotImplementedError

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        """Return the requests of programs to PyTorch's allocator, drawn from named streams."""
        raise NotImplementedError

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the applications that run on a whole node, drawn from named streams."""
        raise NotImplementedError

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        """Refuse, before anything is drawn, a machine that can never serve what is asked of it."""

    def further_code(self) -> tuple[type, ...]:
        """Return the classes of the user's, other than its own, whose code decides what comes."""
        return ()

    def different_seeds(self, machine: Any) -> int | None:
        """Return the number of seeds that give different requests on a machine; None = all of them do."""
        return None if self.random else 1


class Accesses(NamedTuple):
    """A block of a trace of translations: one row an access of a core, cycles not decreasing (nor from block to block).

    A core's accesses are in the order in which it issues them; a page that is unmapped loses every translation.
    """

    cycle: np.ndarray
    """int64[accesses], the earliest cycle at which each is issued."""
    core: np.ndarray
    """int32[accesses], who asks, from 0."""
    page: np.ndarray
    """int64[accesses], the virtual page number in pages of the machine, from 0; in an unmapping row the page that
    goes."""
    unmap: np.ndarray | None = None
    """bool[accesses], whether a row unmaps its page instead of accessing it; None = no row does."""


class Mallocs(NamedTuple):
    """Allocations by threads: one row a call, arrivals not decreasing; a thread that is not named did not call.

    Rows of one arrival whose threads are of one warp are one call of that warp, its other lanes being inactive.
    """

    arrival: np.ndarray
    """int64[calls], the cycle at which each thread calls."""
    thread: np.ndarray
    """int64[calls], the thread's number in the whole grid, from 0; increasing among the rows of one arrival."""
    bytes: np.ndarray
    """int64[calls], what each asks for, at least 0."""
    free_at: np.ndarray
    """int64[calls], the cycle from which each gives back what it got; -1 = never."""


class Generator(
    Workload, Family, noun="synthetic workload", kind="generator", example="{random_workgroups: {count: 300}}"
):
    """The base of every generator; a class that derives from it can be named in `workload: {synthetic: ...}`."""

    counted_by: ClassVar[str] = "count"
    """The lever that says how many requests there are."""


def check_kind(cls: type[Workload], wants: str, what: str, known: Iterable[str], where: str = "") -> None:
    """Refuse a workload that gives something else than an engine serves.

    Parameters
    ----------
    wants : str
        The method of a workload that the engine asks: one of `KINDS`.
    what : str
        What the user wrote, as messages name it: `regime large_uniform`.
    known : names
        What could stand there instead.

    Raises
    ------
    InputError
        It does not give what is wanted: one sentence that names what would.

    Examples
    --------
    >>> from workbench.workloads.workgroup_file import WorkgroupFile
    >>> known = ["group_file", "random_groups"]
    >>> check_kind(WorkgroupFile, "groups", "workgroup_file", known, "a.yaml")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    workbench.errors.InputError: a.yaml: workgroup_file gives workgroups where the engine serves groups; there are
    group_file, random_groups. Did you mean group_file?
    """
    if cls.gives(wants):
        return
    gives = " and ".join(kind for kind in KINDS if cls.gives(kind)) or "nothing"
    names = sorted(known)
    guess = nearest_name(what.split()[-1], names)
    cure = f" Did you mean {guess}?" if guess else ""
    there = f"there are {', '.join(names)}" if names else "there are none"
    raise InputError(at(where, f"{what} gives {gives} where the engine serves {wants}; {there}.{cure}"))


ROWS = 1 << 16
"""Rows of a block, about: what comes does not depend on it, only how much is held at once."""
