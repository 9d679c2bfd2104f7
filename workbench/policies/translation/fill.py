"""A translation comes from the shared TLB or the page table: who gets a copy? (spec 4, R14-R20)

An answer takes a `FillView`. The requester is filled too, unless the answer is that no core is. A core that holds the
page already gets nothing (spec 4, R21). A policy that must know the outcome of its copies also defines `told(see)`. It
takes a `FillNotice` when a copy is used for the first time, or leaves to make space without having been used.

What every rule owes, in a test file, for policies of this package or not:

    class TestMyFill(FillContract):
        policy = MyFill()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, number, readable, view, writable
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_CORES, MOST_ENTRIES, listed, seed_of, whole
from workbench.policies.policy import Policy
from workbench.policies.scenes import ANSWER, KEPT, Request, Scenes, Speaker, plain
from workbench.policies.translation.cores import OfCores, cores_of, drawn_pairs, two_of

REFUSED = -1
"""The answer that no core is filled."""


@view
class FillView(NamedTuple):
    """A translation that comes from the shared TLB or the page table."""

    core: int = number("the requester, the destination of the fill")
    cores: int = number("how many cores there are")
    entries: int = number("entries of a private TLB")
    held: int = number("entries of the requester's private TLB that are in use")
    shared: int = number("of these, those whose bitmap names at least one other core")
    pairs: np.ndarray = readable(
        "int64",
        "cores * cores",
        "of the entries of each core, those that it shares with each other core, as its own directory says: "
        "`pairs[core * cores + peer]`; zeros where there is no directory",
    )
    push: np.ndarray = writable("int64", "cores", "to be filled: cores that get a copy as well")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


FILL = Question(
    "fill",
    FillView,
    answers="how many cores it wrote to `push`; or -1: nobody is filled",
    wrong="answered {answer}, which is no number of cores, or no other core; -1 fills nobody",
)


@view
class FillNotice(NamedTuple):
    """What became of a copy that a core caused in another."""

    core: int = number("the core whose fill caused the copy")
    peer: int = number("the core that holds it")
    used: int = number("1 = it is used for the first time, 0 = it leaves to make room without having been used")
    cores: int = number("how many cores there are")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


TOLD = Question("fill notice", FillNotice, returns="nothing")


class ReadyFill(NamedTuple):
    """A fill rule as engines receive it."""

    answer: Answer
    told: Answer
    params: np.ndarray
    memory: np.ndarray


class Decision(NamedTuple):
    """Who gets a copy."""

    fills: bool
    """Whether the requester does."""
    pushes: tuple[int, ...]
    """The other cores that do."""


class Fill(Policy, abstract=True):
    """The base of every fill rule; a new one needs an `answer`."""

    question: ClassVar[str] = "fill"
    asks: ClassVar[Question] = FILL
    tells = {"told": TOLD}
    told: ClassVar[Callable[..., Any] | None] = None

    def counts(self) -> bool:
        """Return whether the rule reads what the requester shares with other cores, which must then be counted."""
        return False

    def most_threshold(self) -> int:
        """Return the largest threshold on entries, which must be within a private TLB; 0 = none."""
        return 0

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run: int64[memory_size], zeros unless it says otherwise."""
        return np.zeros(1, np.int64)

    def decide(self, bitmaps: Sequence[str], core: int = 0, entries: int = 0, seed: int = 0) -> Decision:
        """Decide who gets a copy, in plain Python, from the bitmaps of the destination's own entries.

        Parameters
        ----------
        bitmaps : sequence of str
            The bitmap of each entry in use, core 0 on the left, all of the same length.
        core : int
            The destination.
        entries : int
            Entries of its TLB; one more than are in use if 0.

        Raises
        ------
        InputError
            A bitmap cannot be read, or they differ in length.

        Examples
        --------
        >>> from workbench.policies.translation.fill import PushPair
        >>> PushPair(fill_threshold=3).decide(["1100", "1110", "1100", "1000"])
        Decision(fills=True, pushes=(1,))
        """
        bitmaps, core = listed("bitmaps", bitmaps, "must be a list of bitmaps"), whole("core", core, 0, MOST_CORES - 1)
        entries, seed = whole("entries", entries, 0, MOST_ENTRIES), seed_of(seed)
        held_by = [cores_of(bitmap) for bitmap in bitmaps]
        cores = len(bitmaps[0]) if bitmaps else core + 1
        if any(len(bitmap) != cores for bitmap in bitmaps):
            raise wrong_value("", "bitmaps", "must all name the same cores", bitmaps)
        whole("core", core, 0, cores - 1)
        others = [[peer for peer in holders if peer != core] for holders in held_by]
        pairs = np.zeros((cores, cores), np.int64)
        for peer in (peer for named in others for peer in named):
            pairs[core, peer] += 1
        if entries and entries < len(bitmaps):
            raise wrong_value("", "entries", f"must be 0 or at least the {len(bitmaps)} in use", entries, len(bitmaps))
        shared, held, push = sum(map(bool, others)), len(bitmaps), np.zeros(cores, np.int64)
        seen = (core, cores, entries or held + 1, held, shared, pairs.reshape(-1), push)
        reply = int(self.plain_answer()(FillView(*seen, self.parameters(), self.start_memory(cores, seed))))
        return Decision(reply != REFUSED, tuple(push[: max(reply, 0)].tolist()))

    def ready(self, cores: int, seed: int = 0, checked: bool = False) -> ReadyFill:
        """Return the policy for one run: compiled functions, parameters, fresh memory."""
        return ReadyFill(
            self.ready_answer(checked),
            self.ready_notice("told", checked),
            self.parameters(),
            self.start_memory(cores, seed),
        )


class DemandAlways(Fill):
    """Fill the requester, always, as usual; sharing is not looked at, so there are no ties.

    References
    ----------
    spec 4, R20: the conventional control.

    Examples
    --------
    >>> DemandAlways().decide(["1100"])
    Decision(fills=True, pushes=())
    """

    @staticmethod
    def answer(see: FillView) -> int:
        return 0


class ByThreshold(Fill, abstract=True):
    """The base of rules that act from so many shared entries on."""

    fill_threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which it acts"
    )

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.fill_threshold


class GateAny(ByThreshold):
    """Fill the requester if so many of its entries, or more, are shared with others; equal is enough, else no core.

    The literal text: an empty TLB shares nothing, so it is never filled (spec 4, V15, E1).

    References
    ----------
    spec 4, R14-R16; source document paragraphs 80-81.

    Examples
    --------
    >>> GateAny(fill_threshold=3).decide(["1100", "1010", "1000", "1001"]).fills
    True
    """

    @staticmethod
    def answer(see: FillView) -> int:
        return 0 if see.shared >= see.levers.fill_threshold else REFUSED


class GatePair(ByThreshold):
    """Fill the requester if it shares so many entries, or more, with some one core; equal is enough, else no core.

    References
    ----------
    spec 4, R17; source document paragraph 82.

    Examples
    --------
    >>> GatePair(fill_threshold=3).decide(["1100", "1010", "1000", "1001"]).fills
    False
    """

    @staticmethod
    def answer(see: FillView) -> int:
        for peer in range(see.cores):
            if peer != see.core and see.pairs[see.core * see.cores + peer] >= see.levers.fill_threshold:
                return 0
        return REFUSED


class GateWhenFull(ByThreshold):
    """Fill the requester while it has free entries; then as `gate_any`, where equal is enough.

    Repairs the cold start, not what follows: a full TLB that shares nothing is never renewed (spec 4, E1).

    References
    ----------
    spec 4, R19, E1.

    Examples
    --------
    >>> GateWhenFull().decide(["1000"], entries=1).fills, GateWhenFull().decide(["1000"], entries=2).fills
    (False, True)
    """

    @staticmethod
    def answer(see: FillView) -> int:
        return 0 if see.held < see.entries or see.shared >= see.levers.fill_threshold else REFUSED


class PushPair(ByThreshold):
    """Fill the requester, always, and every core with which it shares so many entries, or more; equal is enough.

    The recommended reading: it cannot lock up, and gives the text's "at the same time" a meaning (spec 4, E1).

    References
    ----------
    spec 4, R18, E1; source document paragraph 82.

    Examples
    --------
    >>> PushPair(fill_threshold=3).decide(["1100", "1110", "1100", "1000"]).pushes
    (1,)
    """

    @staticmethod
    def answer(see: FillView) -> int:
        count = 0
        for peer in range(see.cores):
            if peer != see.core and see.pairs[see.core * see.cores + peer] >= see.levers.fill_threshold:
                see.push[count] = peer
                count += 1
        return count


class PushNeighbours(Fill):
    """Fill the requester, and the next cores by number, in a circle; who shares what is not looked at, so no ties.

    Prefetching for neighbors, which ring probing (`ring_probe`) is combined with.

    References
    ----------
    spec 4, section 7. Baruah et al., "Valkyrie: Leveraging Inter-TLB Locality to Enhance GPU Performance", PACT 2020:
    in its style, not its protocol.

    Examples
    --------
    >>> PushNeighbours(reach=2).decide(["0010", "0010"], core=2).pushes
    (3, 0)
    """

    reach: int = lever(1, least=1, most=1024, unit="cores", description="how many neighbors get a copy")

    @staticmethod
    def answer(see: FillView) -> int:
        count = min(see.levers.reach, see.cores - 1)
        for k in range(count):
            see.push[k] = (see.core + 1 + k) % see.cores
        return count


LEAST, MOST = 0, 1


class LeaderFollower(Fill):
    """Fill the requester, and every core that uses what this core's misses bring it; equal confidence is enough.

    A counter for each pair, leader and follower, starts at the least confidence, grows when a copy is used, shrinks
    when one leaves unused, and stays within 0 and the most. It predicts instead of looking up: no directory is read.
    A pair below the least is tried again after as many misses of the leader as the probation says.

    References
    ----------
    spec 4, section 7. Bhattacharjee, Martonosi, "Inter-core cooperative TLB prefetchers for chip multiprocessors",
    ASPLOS 2010: leader-follower with confidence; the probation is ours.

    Examples
    --------
    >>> LeaderFollower().decide(["1000"]).pushes
    (1, 2, 3)
    """

    least: int = lever(2, least=0, most=1 << 16, unit="uses", description="the confidence from which a copy is pushed")
    most: int = lever(3, least=1, most=1 << 16, unit="uses", description="the largest confidence")
    probation: int = lever(
        64, least=1, most=1 << 40, scale="log", unit="misses", description="till a pair is tried again"
    )

    @staticmethod
    def answer(see: FillView) -> int:
        count, tried = 0, see.cores * see.cores + see.core
        see.memory[tried] += 1
        again = see.memory[tried] % see.levers.probation == 0
        for peer in range(see.cores):
            if peer != see.core and (again or see.memory[see.core * see.cores + peer] >= see.levers.least):
                see.push[count] = peer
                count += 1
        return count

    @staticmethod
    def told(see: FillNotice) -> None:
        pair = see.core * see.cores + see.peer
        see.memory[pair] = min(see.memory[pair] + 1, see.levers.most) if see.used else max(see.memory[pair] - 1, 0)

    def start_memory(self, cores: int, seed: int) -> np.ndarray:
        """Return the confidence of each pair, and the misses of each leader: int64[cores * cores + cores]."""
        memory = np.full(cores * cores + cores, min(self.least, self.most), np.int64)
        memory[cores * cores :] = 0
        return memory


ENTRIES = 16


class FillContract(OfCores):
    """Tests that every fill rule passes; a subclass names the policy."""

    policy: ClassVar[Fill]

    def scenes(self, policy: Fill, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about translations that come, and tell of what becomes of copies."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            held, shared = int(draw.integers(ENTRIES + 1)), int(draw.integers(9))
            yield FillView(core, size, ENTRIES, held, shared, drawn_pairs(draw, size), np.full(size, -7), *KEPT)
            yield "told", FillNotice(core, peer, int(draw.integers(2)), size, *KEPT)

    def judge(self, request: Request) -> str:
        """Return a fault where a copy goes to the requester, twice to one core, or to none that there is."""
        if request.name != ANSWER:
            return ""
        see, pushed = request.see, request.after.push[: max(request.answer, 0)].tolist()
        others = set(range(see.cores)) - {see.core}
        fine = REFUSED <= request.answer < see.cores and set(pushed) <= others and len(set(pushed)) == len(pushed)
        return "" if fine else f"answered {request.answer} with copies to {pushed}, for {see}"

    def test_depends_on_counts_only_where_it_says_so(self) -> None:
        speaker = Speaker(self.policy, self.start_memory(self.policy, 8, 1), plain(self.policy))
        for requested in self.requests() if not self.policy.counts() else []:
            if requested.name == ANSWER:
                blind = requested.see._replace(shared=0, pairs=0 * requested.see.pairs, memory=None)
                assert speaker.ask(blind) >= 0, "a rule that reads no counts does not depend on them"
