"""What the engine `translation` leaves to policies."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import Given, slot
from workbench.engines.translation.options import TranslationOptions
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.fill import Fill
from workbench.policies.translation.locate import Locate, Plan
from workbench.policies.translation.peer import Peer
from workbench.policies.translation.remote_fill import RemoteFill


class Slots(NamedTuple):
    """What is decided."""

    locate: Locate = slot("directory")
    peer: Peer = slot("first_bit")
    fill: Fill = slot("push_pair")
    remote_fill: RemoteFill = slot("always")
    eviction: Eviction = slot("lru")
    shared_eviction: Eviction = slot("lru")


Case = Given[Slots, TranslationOptions, TranslationMachine]


class Reading(NamedTuple):
    """What the setup and the seed determine."""

    given: Case
    plan: Plan
    """Who is asked before the shared TLB, as numbers."""
