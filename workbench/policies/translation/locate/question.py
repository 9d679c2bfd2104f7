"""Who is asked after a miss in the core's own TLB, before the shared TLB? (spec 4, R6-R13)

A value-like question: engines implement the kinds of structures, a policy says which and with what figures.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

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
    """Records of peers' entries that a directory has room for; -1 = all."""
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
    """Neighbours that a probe visits."""
    cluster_cores: int = 1
    cluster_entries: int = 0
    cluster_ways: int = 1


class Locate(Policy, abstract=True):
    """The base of every way to look for a translation near by."""

    question: ClassVar[str] = "locate"

    def plan(self, private_entries: int) -> Plan:
        """Return what it means for private TLBs of so many entries.

        Raises
        ------
        InputError
            The figures do not go with the private TLBs.
        """
        raise NotImplementedError
