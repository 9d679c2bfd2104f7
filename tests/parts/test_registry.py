"""One way to join for every kind of part: the user's replaces the user's, nobody replaces the package's own."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import workbench as wb
from workbench.claims import known_claims
from workbench.dashboards import DASHBOARDS
from workbench.errors import InputError
from workbench.figures.registry import ANY, FIGURES, Recipe
from workbench.machine import Machine
from workbench.mechanisms.mechanism import Mechanism, enter, mechanism
from workbench.parts.registry import Part, Registry
from workbench.policies.placement import Placement
from workbench.statistics import fact
from workbench.workloads.workload import Generator


class Own(NamedTuple):
    name: str
    description: str
    built_in: bool = False


def registry(later: Any = None) -> Registry[Own]:
    """A registry that `remove` does not know."""
    known: Registry[Own] = Registry("thing of a test", "thing", later=later)
    return known


def test_what_is_entered_again_replaces_what_was_there():
    known = registry()
    known.joined(Own("slack", "the first"))
    known.joined(Own("slack", "the second"))
    assert known.parts() == [Part("thing of a test", "slack", "the second", False)]


@pytest.mark.parametrize("made", [False, True])
def test_nobody_replaces_a_part_of_the_package(made):
    known = registry({"ours": lambda: Own("ours", "the package's", True)})
    if made:
        known.find("ours")
    with pytest.raises(InputError, match=r"^ours is already a thing of the workbench; choose another name\.$"):
        known.joined(Own("ours", "the user's"))
    assert known.find("ours").description == "the package's"
    with pytest.raises(InputError, match=r"^ours is a thing of the workbench, which cannot be removed\.$"):
        wb.remove("thing of a test", "ours")


def test_what_is_made_later_is_listed_and_made_once():
    made: list[str] = []
    known = registry({"ours": lambda: made.append("ours") or Own("ours", "", True)})
    assert known.names() == ["ours"] and made == [] and "ours" not in known
    assert known.find("ours") is known.find("ours")
    assert [*known.all()] == ["ours"] and made == ["ours"]
    with pytest.raises(InputError, match=r"^a\.yaml: unknown thing 'hours'; there are ours\. Did you mean ours\?$"):
        known.find("hours", "a.yaml")


def test_the_users_that_do_not_count_are_put_aside():
    known = registry({"ours": lambda: Own("ours", "", True)})
    known.find("ours")
    known.joined(Own("mine", ""))
    known.keep_only({"theirs": Own("theirs", "")})
    assert sorted(known) == ["ours", "theirs"]


def spread_data(runs: Any) -> Any:
    return None


def policy() -> None:
    class JoinedFit(Placement):
        """Never fits."""

        def answer(see):
            return -1


def generator() -> None:
    class JoinedLoad(Generator):
        """Gives nothing."""

        def workgroups(self, machine, streams):
            raise NotImplementedError


class Toss:
    name, revision, machine, workload_kind, options = "joined_toss", 1, Machine, "workgroups", Machine
    slots: dict[str, str] = {}


def importer() -> None:
    class Mine(wb.Importer):
        """Reads nothing."""

        format, says = "joined_format", "nothing"

        def read(self, source):
            raise NotImplementedError


KINDS = {
    "policy": (policy, "joined_fit"),
    "generator": (generator, "joined_load"),
    "engine": (lambda: enter(Mechanism(Toss(), {}, dict, dict)), "joined_toss"),
    "importer": (importer, "joined_format"),
    "measure": (
        lambda: wb.add_measure("shared_memory", wb.measure(unit="", better="neither")(spread_data)),
        "spread_data",
    ),
    "figure": (lambda: Recipe("joined_spread", ANY, "Nothing.", spread_data, print), "joined_spread"),
    "claim": (lambda: wb.add_claim(wb.Claim("M1", "it is so", "nowhere", lambda e: [fact("a", "b", True)])), "M1"),
    "dashboard": (lambda: wb.add_dashboard("joined_page", lambda: None), "joined_page"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_joins_is_replaced_and_is_removed_alike(kind):
    join, name = KINDS[kind]
    with pytest.raises(InputError, match=rf"^unknown {kind} of yours '{name}'"):
        wb.remove(kind, name)
    join()
    join()
    wb.remove(kind, name)
    with pytest.raises(InputError, match=rf"^unknown {kind} of yours '{name}'"):
        wb.remove(kind, name)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("policy", "first_fit"),
        ("generator", "zipf_mixture"),
        ("engine", "malloc"),
        ("importer", "kineto"),
        ("figure", "pareto"),
        ("claim", "H1.1"),
        ("dashboard", "pool"),
    ],
)
def test_what_the_package_has_cannot_be_removed(kind, name):
    from workbench.policies.catalogue import load_all
    from workbench.workloads.importers import importers

    load_all(), importers(), mechanism("malloc"), KINDS["claim"][0]()
    wb.remove("claim", "M1")
    with pytest.raises(InputError, match=r"of the workbench, which cannot be removed"):
        wb.remove(kind, name)


@pytest.mark.parametrize(
    "take",
    [
        lambda: Recipe("pareto", ANY, "Nothing.", spread_data, print),
        lambda: wb.add_claim(wb.Claim("H1.1", "it is so", "nowhere", lambda e: [])),
        lambda: wb.add_dashboard("pool", print),
        lambda: enter(Mechanism(type("Mine", (Toss,), {"name": "pool"})(), {}, dict, dict)),
        lambda: type("Kineto", (wb.Importer,), {"format": "kineto", "read": print, "__module__": "mine"}),
        lambda: type("ZipfMixture", (Generator,), {"__module__": "mine"}),
        lambda: type("FirstFit", (Placement,), {"__module__": "mine", "answer": lambda see: -1}),
    ],
)
def test_a_clash_of_names_is_one_sentence(take):
    from workbench.workloads.importers import importers

    importers()
    with pytest.raises(InputError, match=r"^\S+ is already an? [a-z ]+ of the workbench; choose another [a-z ]+\.$"):
        take()


def test_the_packages_parts_are_where_they_were():
    assert {"pool", "dispatch"} < {*DASHBOARDS.names()} and "pareto" in FIGURES.names()
    assert known_claims()["H1.1"].built_in
