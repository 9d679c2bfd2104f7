"""A law of one's own: joins by being defined, is named by its text, and is checked, as built-in ones need not be."""

import numpy as np
import pytest

from tests.junk import refusal
from workbench.errors import InputError
from workbench.identity import digest_of
from workbench.levers import lever
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import Law
from workbench.workloads.synthetic.random_groups import RandomWorkgroups


class Even(Law):
    """An even number."""

    pairs: int = lever(16, least=1, most=100, description="the largest is twice this")
    shift: int = lever(0, least=-9, most=9, description="added to every number, wrongly")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return 2 + 2 * (ranks * self.pairs).astype(np.int64) + self.shift

    def span(self) -> tuple[int, int]:
        return 2, 2 * self.pairs


class Half(Law):
    """Not whole."""

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return ranks

    def span(self) -> tuple[int, int]:
        return 1, 1


@pytest.fixture(autouse=True)
def _only_here():
    Law.members.update(even=Even, half=Half)
    yield
    for name in ("even", "half"):
        del Law.members[name]


def test_it_can_be_named_like_any_other():
    workload = RandomWorkgroups(count=100, size={"even": {"pairs": 4}})
    assert set(workload.workgroups(Machine(), Streams(1)).length.tolist()) == {2, 4, 6, 8}


def test_it_is_named_by_its_code():
    assert Even().identity()["code"] == digest_of(Even)
    assert RandomWorkgroups(size=Even()).identity()["random_workgroups"]["size"]["code"] == digest_of(Even)


def test_what_it_draws_is_checked():
    ranks = np.array([0.0, 0.99])
    assert Even().draw(ranks).tolist() == [2, 32]
    assert refusal(Even(shift=-2).draw, ranks) == "even must draw from its span (2 to 32), at least 1. Got 0 to 30."
    assert refusal(Even(shift=2).draw, ranks) == "even must draw from its span (2 to 32), at least 1. Got 4 to 34."
    assert refusal(Half().draw, ranks) == "half.quantile must return int64[2]. Got float64[2]."


def test_a_size_that_may_not_fit_is_refused_without_a_lever_to_name():
    message = refusal(RandomWorkgroups(size=Even(pairs=9)).workgroups, Machine(segments=16), Streams(1))
    expected = "random_workgroups.size must draw at most 16 segments, all that the machine has. Got up to 18."
    assert message == expected


def test_a_later_definition_replaces_ones_own_but_none_of_the_package():
    later = type("Even", (Law,), {"__module__": "notebook"})
    assert Law.members["even"] is later
    with pytest.raises(InputError, match=r"^uniform is already a law of the workbench; choose another class name\.$"):
        type("Uniform", (Law,), {"__module__": "notebook"})
