"""Rules for peers and copies of the event-driven twin, restated from the documents that define them."""

from __future__ import annotations

from typing import Any

from tests.oracles.translation_load_directory import Directories
from tests.oracles.translation_load_eviction import Words
from tests.oracles.translation_load_network import Network


class PeerRule:
    """Which holder is asked (spec 4, R7)."""

    def __init__(self, policy: Any, network: Network, start: int) -> None:
        self.name, self.network, self.words = type(policy).__name__, network, Words(start)
        self.load = [0] * network.machine.cores

    def choose(self, core: int, holders: set[int]) -> int:
        """Return one of the holders."""
        if self.name == "Random":
            return sorted(holders)[self.words.below(len(holders))]
        if self.name == "Nearest":
            return min(holders, key=lambda peer: (self.network.hops(core, peer), peer))
        if self.name == "LeastLoaded":
            return min(holders, key=lambda peer: (self.load[peer], peer))
        assert self.name == "FirstBit", self.name
        return min(holders)


class FillRule:
    """Who gets a copy of what comes from the shared TLB or a walk (spec 4, R14-R20)."""

    def __init__(self, policy: Any, directories: Directories, entries: int) -> None:
        self.policy, self.name = policy, type(policy).__name__
        self.directories, self.entries, self.cores = directories, entries, directories.cores
        self.confidence: dict[tuple[int, int], int] = {}
        self.misses = [0] * self.cores

    def copies(self, core: int) -> list[int] | None:
        """Return the cores that get a copy besides the asker; None where nobody is filled."""
        return getattr(self, "_" + self.name)(core)

    def told(self, core: int, peer: int, used: bool) -> None:
        """Hear what became of a copy that `core` caused in `peer`."""
        if self.name == "LeaderFollower":
            now = self._confidence(core, peer) + (1 if used else -1)
            self.confidence[core, peer] = max(min(now, self.policy.most), 0)

    def _confidence(self, core: int, peer: int) -> int:
        return self.confidence.get((core, peer), min(self.policy.least, self.policy.most))

    def _others(self, core: int) -> list[int]:
        return [peer for peer in range(self.cores) if peer != core]

    def _shared(self, core: int) -> int:
        return sum(bool(self.directories.known(core, tag)) for tag in self.directories.held[core])

    def _close(self, core: int) -> list[int]:
        counts = self.directories.shared_with(core)
        return [peer for peer in self._others(core) if counts[peer] >= self.policy.fill_threshold]

    def _DemandAlways(self, core: int) -> list[int]:
        return []

    def _GateAny(self, core: int) -> list[int] | None:
        return [] if self._shared(core) >= self.policy.fill_threshold else None

    def _GatePair(self, core: int) -> list[int] | None:
        return [] if self._close(core) else None

    def _GateWhenFull(self, core: int) -> list[int] | None:
        return [] if len(self.directories.held[core]) < self.entries else self._GateAny(core)

    def _PushPair(self, core: int) -> list[int]:
        return self._close(core)

    def _PushNeighbours(self, core: int) -> list[int]:
        return [(core + 1 + k) % self.cores for k in range(min(self.policy.reach, self.cores - 1))]

    def _LeaderFollower(self, core: int) -> list[int]:
        self.misses[core] += 1
        again = self.misses[core] % self.policy.probation == 0
        return [peer for peer in self._others(core) if again or self._confidence(core, peer) >= self.policy.least]


class RemoteFillRule:
    """Whether the asker keeps a copy of what a peer answers (spec 4, E9)."""

    def __init__(self, policy: Any, directories: Directories) -> None:
        self.policy, self.name, self.directories = policy, type(policy).__name__, directories

    def keeps(self, core: int, peer: int) -> bool:
        """Return whether the asker is filled."""
        if self.name == "Threshold":
            return self.directories.shared_with(core)[peer] >= int(self.policy.threshold)
        return self.name == "Always"
