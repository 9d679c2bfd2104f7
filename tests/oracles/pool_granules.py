"""What a driver has of a card where each allocation lies in one run of granules: bools (spec 5, section 8)."""

from itertools import groupby

from tests.oracles import placement


class Granules:
    """As many as fit the card; the twin of a placement policy chooses among runs."""

    def __init__(self, policy, capacity, granule):
        self.granule, self.live = granule, {}
        self.free = [True] * (capacity // granule)
        kind = {"first_fit": placement.FirstFit, "last_fit": placement.LastFit, "next_fit": placement.NextFit}
        kind |= {"best_fit": placement.BestFit, "worst_fit": placement.WorstFit}
        self.policy = kind[policy.name](len(self.free))

    @property
    def bytes(self):
        return sum(self.free) * self.granule

    @property
    def longest(self):
        """Bytes of the longest free run."""
        return max((len([*run]) for is_free, run in groupby(self.free) if is_free), default=0) * self.granule

    def take(self, name, size):
        """One run for an allocation, which must be there."""
        length = -(-size // self.granule)
        start = self.policy.choose(self.free, length)
        self.free[start : start + length] = [False] * length
        self.policy.granted(start, length)
        self.live[name] = start, length

    def give(self, name):
        start, length = self.live.pop(name)
        self.free[start : start + length] = [True] * length
        self.policy.released(start, length)
