"""Who is asked after a miss in the core's own TLB, before the shared TLB? (spec 4, R6-R13)

A value-like question: engines implement the kinds of structures, a policy says which and with what figures. A directory
has two questions of its own: which peers' entries it covers (`Scope`; R2, E7), and how it learns what peers hold
(`Update`; E6). `equal_area_entries` is what a directory's bits would buy as entries of a larger private TLB (V16).

What every way owes, in a test file, for policies of this package or not:

    class TestMyLocate(LocateContract):
        policy = MyLocate()
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

from workbench.errors import wrong_value
from workbench.levers import Family, lever
from workbench.policies.arguments import MOST_ENTRIES, whole
from workbench.policies.contract import ValueContract
from workbench.policies.policy import Policy

NO_DIRECTORY, DIRECTORY, CENTRAL, RING, CLUSTER = range(5)
"""Kinds of structures."""
INSTANT, MESSAGE, ON_RESPONSE = range(3)
"""How directories learn what peers hold."""
ORACLE, OWN_PLUS_AFFINE, OWN_ONLY = range(3)
"""Which peers' entries a directory covers."""


class Plan(NamedTuple):
    """What an engine must know, as whole numbers."""

    kind: int = NO_DIRECTORY
    scope: int = ORACLE
    affine_threshold: int = 0
    """Entries that a closely related peer shares, at least."""
    affine_fills: int = 1
    """Fills of a core between two looks at who is closely related."""
    quota: int = -1
    """Records of peers' entries that a directory has space for; -1 = all."""
    update: int = INSTANT
    delay_cycles: int = 0
    look_up_cycles: int = 0
    parallel: int = 0
    """1 where the directory is read together with the private TLB."""
    tries: int = 1
    """Peers that are asked before the shared TLB."""
    use_l2_bit: int = 0
    refreshes_peer: int = 0
    """1 where a remote hit is a use of the peer's entry."""
    reach: int = 0
    """Neighbors that a probe visits."""
    cluster_cores: int = 1
    cluster_entries: int = 0
    cluster_ways: int = 1


class Locate(Policy, abstract=True):
    """The base of every way to look for a translation near by."""

    question: ClassVar[str] = "locate"

    def plan(self, private_entries: int) -> Plan:
        """Return the setting for private TLBs of so many entries.

        Raises
        ------
        InputError
            The figures do not go with the private TLBs.
        """
        raise NotImplementedError


class NoDirectory(Locate):
    """Ask no peer: a miss goes to the shared TLB, then to the walker; no core is chosen, so there are no ties.

    References
    ----------
    spec 4, R12: the baseline; source document paragraph 3.

    Examples
    --------
    >>> NoDirectory().plan(32).kind
    0
    """

    def plan(self, private_entries: int) -> Plan:
        return Plan()


class Scope(Family, noun="directory scope", example="{own_plus_affine: {threshold: 3}}"):
    """The base of every scope."""

    def covers(self) -> tuple[int, int, int]:
        """Return the kind, the threshold of closeness, and the fills after which closeness is looked at again."""
        raise NotImplementedError


class OwnPlusAffine(Scope):
    """The core's own entries, and those of closely related peers, with which it shares so many entries, or more.

    The set of closely related cores is computed again after so many fills of the core's TLB; at the start it is empty.

    >>> OwnPlusAffine(threshold=2).covers()
    (1, 2, 32)
    """

    threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="entries shared with a closely related peer"
    )
    fills: int = lever(
        32, least=1, most=1 << 30, scale="log", unit="fills", description="till closeness is looked at again"
    )

    def covers(self) -> tuple[int, int, int]:
        return OWN_PLUS_AFFINE, self.threshold, self.fills


_USUAL_SCOPE: type[Scope] = OwnPlusAffine


class Update(Family, noun="directory update", example="{message: 20}"):
    """The base of every way to keep directories up to date."""

    def news(self) -> tuple[int, int]:
        """Return the kind and the delay in cycles."""
        raise NotImplementedError


class Instant(Update):
    """Every directory knows at once; the messages are counted all the same.

    >>> Instant().news()
    (0, 0)
    """

    def news(self) -> tuple[int, int]:
        return INSTANT, 0


class Directory(Locate):
    """Ask a core that the local directory's record names, then the next, then the shared TLB; `peer` breaks ties.

    A record is a page, a bitmap of the cores that hold it, and a bit for its presence in the shared TLB. A peer that
    does not hold the page any more answers in the negative, and its bit is cleared.

    References
    ----------
    spec 4, R1-R13; source document paragraphs 6-17, 61-78.

    Examples
    --------
    >>> Directory(max_remote_tries=2).plan(32).tries
    2
    >>> Directory(entries=16).plan(32)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: directory.entries must be 0 (no limit) or at least private_entries (32). Got 16. ...32.
    """

    scope: Scope = lever(_USUAL_SCOPE(), description="which peers' entries it covers (spec 4, R2, E7)")
    entries: int = lever(
        0, least=0, most=1 << 24, unit="records", description="records it has space for; 0 = no limit (E8)"
    )
    update: Update = lever(Instant(), description="how it learns what peers hold (spec 4, E6)")
    look_up_cycles: int = lever(1, least=0, most=10_000, unit="cycles", description="a look-up")
    look_up: Literal["serial", "parallel"] = lever(
        "serial", description="after the miss, or together with the private look-up (spec 4, R13)"
    )
    max_remote_tries: int = lever(
        1, least=1, most=1024, unit="peers", description="peers asked before the shared TLB (R11)"
    )
    use_l2_bit: bool = lever(False, description="act on the bit for presence in the shared TLB (spec 4, E12)")
    remote_hit_refreshes: bool = lever(
        False, description="whether a remote hit is a use of the peer's entry (spec 4, E10)"
    )

    def plan(self, private_entries: int) -> Plan:
        private_entries = whole("private_entries", private_entries, 1, MOST_ENTRIES)
        if 0 < self.entries < private_entries:
            expected = f"must be 0 (no limit) or at least private_entries ({private_entries})"
            raise wrong_value("", f"{self.name}.entries", expected, self.entries, private_entries)
        scope, threshold, fills = self.scope.covers()
        update, delay = self.update.news()
        return Plan(
            kind=DIRECTORY,
            scope=scope,
            affine_threshold=threshold,
            affine_fills=fills,
            quota=self.entries - private_entries if self.entries else -1,
            update=update,
            delay_cycles=delay,
            look_up_cycles=self.look_up_cycles,
            parallel=int(self.look_up == "parallel"),
            tries=self.max_remote_tries,
            use_l2_bit=int(self.use_l2_bit),
            refreshes_peer=int(self.remote_hit_refreshes),
        )


class CentralDirectory(Locate):
    """Ask one directory next to the shared TLB, which sends the request on to a holder; `peer` breaks ties.

    It lies at the core in the middle by number and is always up to date. A hit takes three ways over the network (to
    it, to the holder, back) instead of two; without a holder the request goes on to the shared TLB from there. Degrees
    and counts of shared entries are not known at the private TLBs.

    References
    ----------
    spec 4, section 7: a rival with one structure and one extra trip.

    Examples
    --------
    >>> CentralDirectory().plan(32).look_up_cycles
    2
    """

    look_up_cycles: int = lever(2, least=0, most=10_000, unit="cycles", description="a look-up")
    remote_hit_refreshes: bool = lever(False, description="whether a remote hit is a use of the peer's entry")

    def plan(self, private_entries: int) -> Plan:
        return Plan(kind=CENTRAL, look_up_cycles=self.look_up_cycles, refreshes_peer=int(self.remote_hit_refreshes))


class RingProbe(Locate):
    """Probe the next cores by number, in a circle, one after the other; the first that holds it answers, so no ties.

    The probe travels from neighbor to neighbor and waits for each look-up; after the last it goes to the shared TLB. No
    storage. With `push_neighbours` as fill rule translations are fetched for neighbors in advance.

    References
    ----------
    spec 4, section 7. Baruah et al., "Valkyrie: Leveraging Inter-TLB Locality to Enhance GPU Performance", PACT 2020:
    in its style, not its protocol.

    Examples
    --------
    >>> RingProbe(reach=3).plan(32).reach
    3
    """

    reach: int = lever(2, least=1, most=1024, unit="cores", description="neighbours that are probed")
    remote_hit_refreshes: bool = lever(False, description="whether a remote hit is a use of the peer's entry")

    def plan(self, private_entries: int) -> Plan:
        return Plan(kind=RING, reach=self.reach, refreshes_peer=int(self.remote_hit_refreshes))


class Clustered(Locate):
    """Look in a TLB that a few neighboring cores share, an L1.5, before the shared TLB; it evicts the LRU entry.

    What comes from the shared TLB or a walk is kept there too. A hit counts as served by a peer; the log's peer is the
    number of the cluster. No ties can occur.

    References
    ----------
    spec 4, section 7: an alternative hierarchy.

    Examples
    --------
    >>> Clustered(cores=4, entries=128).plan(32).cluster_entries
    128
    """

    cores: int = lever(4, least=1, most=1024, unit="cores", description="cores that share one")
    entries: int = lever(128, least=1, most=1 << 20, unit="entries", description="entries of each")
    ways: int = lever(0, least=0, most=1 << 20, unit="ways", description="entries of a set; 0 = fully associative")
    look_up_cycles: int = lever(
        4, least=0, most=10_000, unit="cycles", description="a look-up, with the way there and back"
    )

    def check(self) -> None:
        if self.ways and self.entries % self.ways:
            least = min(self.ways, self.entries)
            near = next(ways for ways in range(least, 0, -1) if self.entries % ways == 0)
            raise wrong_value("", f"{self.name}.ways", f"must divide entries ({self.entries})", self.ways, near)

    def plan(self, private_entries: int) -> Plan:
        return Plan(
            kind=CLUSTER,
            look_up_cycles=self.look_up_cycles,
            cluster_cores=self.cores,
            cluster_entries=self.entries,
            cluster_ways=self.ways or self.entries,
        )


class Oracle(Scope):
    """Entries of every peer: the upper bound.

    >>> Oracle().covers()
    (0, 0, 1)
    """

    upper_bound = True

    def covers(self) -> tuple[int, int, int]:
        return ORACLE, 0, 1


class OwnOnly(Scope):
    """The core's own entries alone: a miss never finds a record, so peers are known for fills and evictions only.

    >>> OwnOnly().covers()
    (2, 0, 1)
    """

    def covers(self) -> tuple[int, int, int]:
        return OWN_ONLY, 0, 1


class Message(Update):
    """Every fill and eviction is told to the other directories by messages that take so many cycles.

    An access that is issued when the message arrives, or later, sees it. Records may be stale until then.

    >>> Message(delay=20).news()
    (1, 20)
    """

    brief = ("delay",)
    delay: int = lever(
        20, least=0, most=1 << 30, unit="cycles", description="from a fill or eviction till all others know"
    )

    def news(self) -> tuple[int, int]:
        return MESSAGE, self.delay


class OnResponse(Update):
    """Directories learn from answers alone, no message is sent for them.

    A peer's answer brings what its record of the page names. The asker learns that before the remote fill decides. The
    peer notes the asker only if the remote fill keeps a copy of this answer. An answer of the shared TLB brings the
    cores that it has given this entry to, which are learned after its fill. Evictions are never told: a bit is cleared
    when a peer answers in the negative.

    References
    ----------
    spec 4, E6, T21.

    >>> OnResponse().news()
    (2, 0)
    """

    def news(self) -> tuple[int, int]:
        return ON_RESPONSE, 0


class LocateContract(ValueContract):
    """Tests that every way to look near by passes; a subclass names the policy."""

    policy: ClassVar[Any]

    def test_plans_in_whole_numbers(self) -> None:
        for entries in (1, 32, 1024):
            assert all(isinstance(figure, int) for figure in self.policy.plan(entries))


FRAME_BITS = 40
"""Of a physical frame number; an assumption, with which an entry's own size is stated."""
STATE_BITS = 8
"""Valid, permissions and recency of an entry; an assumption."""


def record_bits(page_number_bits: int, cores: int) -> int:
    """Return the bits of a directory's record: the page number, a bit a core, and the bit for the shared TLB (spec 4,
    R3, V16).

    >>> [record_bits(36, cores) for cores in (4, 16, 80)]
    [41, 53, 117]
    """
    return page_number_bits + cores + 1


def entry_bits(page_number_bits: int, frame_bits: int = FRAME_BITS, state_bits: int = STATE_BITS) -> int:
    """Return the bits of an entry of a private TLB: page number, frame number, state.

    >>> entry_bits(36)
    84
    """
    return page_number_bits + frame_bits + state_bits


def directory_bits(records: int, page_number_bits: int, cores: int, in_entries: int = 0) -> int:
    """Return the bits of one core's directory with so many records.

    Parameters
    ----------
    in_entries : int
        Records that stand in the TLB's own entries, whose page number need not be stored twice.

    >>> directory_bits(64, 36, 16), directory_bits(64, 36, 16, in_entries=32)
    (3392, 2240)
    """
    return records * record_bits(page_number_bits, cores) - in_entries * page_number_bits


def equal_area_entries(
    directory: Directory, private_entries: int, private_ways: int, cores: int, page_number_bits: int = 36
) -> int:
    """Return the entries of a private TLB without a directory that takes the bits of one with this directory.

    Rounded down to whole sets; a directory without a limit counts as one with a record for each of the core's own
    entries and as many again.

    Parameters
    ----------
    private_ways : int
        Entries of a set; 0 = fully associative, where nothing is rounded.

    Raises
    ------
    InputError
        There are no entries to compare with.

    Examples
    --------
    >>> equal_area_entries(Directory(), 32, 0, cores=16)
    72
    >>> equal_area_entries(Directory(entries=32), 32, 4, cores=80)
    76
    """
    numbers = {"private_ways": private_ways, "cores": cores, "page_number_bits": page_number_bits}
    private_ways, cores, page_number_bits = (whole(name, number, 0, MOST_ENTRIES) for name, number in numbers.items())
    private_entries = whole("private_entries", private_entries, None, MOST_ENTRIES)
    if private_entries < 1:
        raise wrong_value("", "private_entries", "must be at least 1", private_entries, 1)
    records = directory.entries or 2 * private_entries
    more = directory_bits(records, page_number_bits, cores) // entry_bits(page_number_bits)
    return private_entries + more // max(private_ways, 1) * max(private_ways, 1)
