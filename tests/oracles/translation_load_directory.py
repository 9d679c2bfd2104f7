"""Who holds what, in truth and as each core's directory has heard it (spec 4, R1-R3, R28, E6-E8, T10)."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tests.oracles.translation_load_clock import NEWS, Clock
from tests.oracles.translation_load_network import Network
from workbench.policies.translation.locate import (
    CENTRAL,
    DIRECTORY,
    INSTANT,
    MESSAGE,
    ON_RESPONSE,
    ORACLE,
    OWN_PLUS_AFFINE,
    Plan,
)


class Truth:
    """The cores that hold each tag."""

    def __init__(self) -> None:
        self._cores: defaultdict[int, set[int]] = defaultdict(set)

    def of(self, tag: int) -> set[int]:
        return self._cores[tag]


class Directories:
    """The directory of every core, and the news between them."""

    def __init__(self, clock: Clock, network: Network, plan: Plan, cores: int, free_news: bool) -> None:
        self.clock, self.network, self.plan, self.cores, self.free_news = clock, network, plan, cores, free_news
        self.truth = Truth()
        self.held: list[set[int]] = [set() for _ in range(cores)]
        self.heard: list[defaultdict[int, set[int]]] = [defaultdict(set) for _ in range(cores)]
        self.records: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(cores)]
        self.affine: list[set[int]] = [set() for _ in range(cores)]
        self.filled = [0] * cores
        self.centre = cores // 2

    @property
    def present(self) -> bool:
        """Whether each core has a directory beside its TLB."""
        return self.plan.kind == DIRECTORY

    @property
    def always_right(self) -> bool:
        """Whether what is known is the truth."""
        return self.plan.kind == CENTRAL or (self.present and self.plan.update == INSTANT)

    def known(self, core: int, tag: int) -> set[int]:
        """Return the other cores that hold a tag, as a core's directory says."""
        if not self.present:
            return set()
        return (self.truth.of(tag) if self.plan.update == INSTANT else self.heard[core][tag]) - {core}

    def degree(self, core: int, tag: int) -> int:
        """Return how many cores hold a tag of a core's own TLB, as its directory says."""
        return 1 + len(self.known(core, tag))

    def shared_with(self, core: int) -> list[int]:
        """Return how many of a core's entries it shares with each other core."""
        counts = [0] * self.cores
        for tag in self.held[core]:
            for peer in self.known(core, tag):
                counts[peer] += 1
        return counts

    def read(self, core: int, tag: int) -> set[int] | None:
        """Look a missed tag up: the peers that its record names, None without a record.

        A record is of an entry of a peer within the scope; it names everybody who is known to hold the tag.
        """
        if not self._has_record(core, tag):
            return None
        if self._limited:
            if tag not in self.records[core]:
                return None
            self.records[core].move_to_end(tag)
        return self.known(core, tag)

    def _has_record(self, core: int, tag: int) -> bool:
        """Return whether the scope reaches a tag; the oracle has a record of every page."""
        if self.plan.scope == OWN_PLUS_AFFINE:
            return bool(self.known(core, tag) & self.affine[core])
        return self.plan.scope == ORACLE

    def refused(self, core: int, tag: int, peer: int) -> None:
        """Clear the bit of a peer that does not hold a tag; a directory that is always right clears none."""
        if self.plan.update != INSTANT:
            self.heard[core][tag].discard(peer)

    def learn(self, core: int, tag: int, peer: int) -> None:
        """Let a core's directory know that a peer holds a tag."""
        if peer == core:
            return
        self.heard[core][tag].add(peer)
        if tag not in self.held[core] and self._covers(core, peer):
            self._record(core, tag)

    def made(self, core: int, tag: int, row: int) -> None:
        """An entry is usable: note it and send news."""
        self.truth.of(tag).add(core)
        self.held[core].add(tag)
        self.records[core].pop(tag, None)
        if self.present and self.plan.update == INSTANT:
            for other in self._others(core):
                self.learn(other, tag, core)
        self._tell(core, tag, row, lambda other: self.learn(other, tag, core))
        self._look_at_closeness(core)

    def gone(self, core: int, tag: int, row: int, evicted: bool = True) -> None:
        """An entry has left: note it and send news; to make room, its record may stay."""
        self._leave(core, tag)
        if evicted and self.known(core, tag) and self._has_record(core, tag):
            self._record(core, tag)
        self._tell(core, tag, row, lambda other: self.heard[other][tag].discard(core))

    def shot_down(self, core: int, tag: int) -> None:
        """A shoot-down of an unmapped tag has come: its entry leaves without news, and the tag is forgotten."""
        self._leave(core, tag)
        self.heard[core].pop(tag, None)

    def drop_records(self, tag: int) -> None:
        """Drop the records of a tag from every directory of limited room."""
        for records in self.records:
            records.pop(tag, None)

    def _leave(self, core: int, tag: int) -> None:
        self.truth.of(tag).discard(core)
        self.held[core].discard(tag)

    @property
    def _limited(self) -> bool:
        return self.present and self.plan.quota >= 0

    def _others(self, core: int) -> Iterable[int]:
        return (other for other in range(self.cores) if other != core)

    def _covers(self, core: int, peer: int) -> bool:
        if self.plan.scope == OWN_PLUS_AFFINE:
            return peer in self.affine[core]
        return self.plan.scope == ORACLE

    def _record(self, core: int, tag: int) -> None:
        if not self._limited or self.plan.quota == 0:
            return
        self.records[core][tag] = None
        self.records[core].move_to_end(tag)
        if len(self.records[core]) > self.plan.quota:
            self.records[core].popitem(last=False)

    def _look_at_closeness(self, core: int) -> None:
        self.filled[core] += 1
        if self.plan.scope == OWN_PLUS_AFFINE and self.filled[core] % self.plan.affine_fills == 0:
            counts = self.shared_with(core)
            self.affine[core] = {peer for peer in self._others(core) if counts[peer] >= self.plan.affine_threshold}

    def _receivers(self, core: int, tag: int) -> list[int]:
        """Return the cores that news of a core's entry is sent to: those whose directories cover it."""
        holders = self.truth.of(tag)
        return [other for other in self._others(core) if other in holders or self._covers(other, core)]

    def _tell(self, core: int, tag: int, row: int, effect: Callable[[int], Any]) -> None:
        if self.plan.kind == CENTRAL and core != self.centre:
            self._send(core, self.centre, tag, row, lambda: None)
        if not self.present or self.plan.update == ON_RESPONSE:
            return
        receivers = self._receivers(core, tag)
        for other in self._others(core):
            if other in receivers:
                self._tell_by_message(core, other, tag, row, effect)
            elif self.plan.update == MESSAGE:
                self._know_later(core, other, tag, row, effect)

    def _tell_by_message(self, core: int, other: int, tag: int, row: int, effect: Callable[[int], Any]) -> None:
        if self.plan.update == INSTANT:
            self._send(core, other, tag, row, lambda: None)
            return
        if self.free_news:
            self._know_later(core, other, tag, row, effect)
        known = self.clock.now + self.plan.delay_cycles

        def arrived() -> None:
            wait = max(self.clock.now, known)
            self.clock.at(wait, NEWS, (core, tag, row), lambda: effect(other))

        self._send(core, other, tag, row, (lambda: None) if self.free_news else arrived)

    def _know_later(self, core: int, other: int, tag: int, row: int, effect: Callable[[int], Any]) -> None:
        later = self.clock.now + self.plan.delay_cycles
        self.clock.at(later, NEWS, (core, tag, row), lambda: effect(other))

    def _send(self, core: int, other: int, tag: int, row: int, arrive: Callable[[], None]) -> None:
        if self.free_news:
            self.network.count("update")
        else:
            self.network.send("update", NEWS, (core, tag, row), core, other, self.clock.now, arrive)
