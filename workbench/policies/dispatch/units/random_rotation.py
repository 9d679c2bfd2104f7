"""Random rotation: the even split, beginning at any unit."""

from __future__ import annotations

from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.split_table import share_out
from workbench.policies.dispatch.units.view import UnitsView
from workbench.streams import Streams
from workbench.structures.rng import below


class RandomRotation(Units):
    """Share the waves out as evenly as they go, beginning at a random unit, each equally likely; there are no ties.

    The module's pointer is the state of a generator of its own, seeded from the run's seed, so the answer is a function
    of what it is asked, and a group that goes elsewhere draws nothing here. Even in the mean, but the units drift apart
    as a random walk does.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> counts, after = RandomRotation().split(waves=5, units=4)
    >>> sorted(counts), RandomRotation().split(waves=5, units=4) == (counts, after)
    ([1, 1, 1, 2], True)
    """

    draws = True

    @staticmethod
    def answer(see: UnitsView) -> int:
        see.counts[0] = see.pointer  # the generator lives in the counts until they are filled
        rotation = below(see.counts, 0, see.units)
        after = see.counts[0]
        share_out(see.waves, see.units, rotation, see.counts)
        return int(after)

    def by_pointer(self) -> bool:
        """Return True: the loads of the units are not looked at."""
        return True

    def first_pointer(self, module: int, seed: int) -> int:
        """Return the generator's state, drawn from a stream of the seed that bears the module's number, never 0."""
        return max(Streams(seed).integer(f"random_rotation/{module}"), 1)
