"""An engine that throws a coin, without the kit."""

from typing import NamedTuple

from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.metrics.measure import Measure, declared
from workbench.streams import Streams


class CoinOptions(Spec):
    """The levers of the coin."""

    chance: float = lever(0.5, least=0, most=1, description="the chance of heads")


class CoinRecord(NamedTuple):
    """What a run returns."""

    heads: int


class GuestCoin:
    """Throw a coin a hundred times."""

    name, revision, machine, workload_kind, options = "guest_coin", 1, Machine, "workgroups", CoinOptions
    slots = {}

    def question_of(self, slot):
        """Return the question of a slot."""
        return slot

    def validate(self, setup, seed):
        """Accept every setup."""

    def simulate(self, setup, seed, events=False):
        """Return the record of a run."""
        return CoinRecord(int((Streams(seed)["coin"].random(100) < setup.options.chance).sum()))


MEASURES = declared(Measure("heads_rate", "", "higher", "share of heads"))


def measure(record):
    """Return the values of the measures."""
    return {"heads_rate": record.heads / 100}
