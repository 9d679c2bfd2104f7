"""Directory: a record beside each private TLB names the cores that hold a page."""

from __future__ import annotations

from typing import Literal

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_ENTRIES, whole
from workbench.policies.translation.locate.question import DIRECTORY, Locate, Plan
from workbench.policies.translation.locate.scope import OwnPlusAffine, Scope
from workbench.policies.translation.locate.update import Instant, Update

_USUAL_SCOPE: type[Scope] = OwnPlusAffine


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
        0, least=0, most=1 << 24, unit="records", description="records it has room for; 0 = no limit (E8)"
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
