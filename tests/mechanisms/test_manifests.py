"""The manifests name all that the package has of each kind, and import nothing of it."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import workbench.circuits
import workbench.claims
import workbench.figures
from workbench.figures.registry import Calculation, OfStudy, Recipe
from workbench.mechanisms.catalogue import OWN, figure_engines, measure_names, policy_names
from workbench.mechanisms.measures import of_setup
from workbench.mechanisms.mechanism import mechanism
from workbench.parts import attribute
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies, questions

PAGES = Path(__file__).parent.parent.parent / "docs" / "pages"
ENGINES = [name for name, manifest in OWN.items() if manifest.engine]


def values(package):
    """Return every value of every module of a package, with its name and the name of its module."""
    modules = [
        importlib.import_module(one.name) for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    return [(module.__name__, *pair) for module in modules for pair in vars(module).items()]


def listed(package, constant, named_by):
    """Return the names in the lists of a package by place: a constant of that name, in the module that defines it."""
    return {
        f"{module}:{constant}": tuple(getattr(one, named_by) for one in value)
        for module, name, value in values(package)
        if name == constant and isinstance(value, (list, tuple))
    }


def named(field):
    """Return the names in a field of all manifests, together."""
    return {name: value for manifest in OWN.values() for name, value in getattr(manifest, field).items()}


@pytest.mark.parametrize(
    ("field", "kind"), [("figures", Recipe), ("calculations", Calculation), ("study_figures", OfStudy)]
)
def test_every_figure_is_named_with_its_place(field, kind):
    there = {
        f"{module}:{name}": value.name
        for module, name, value in values(workbench.figures)
        if isinstance(value, kind) and name.endswith("_FIGURE")
    }
    assert named(field) == {name: place for place, name in there.items()}


def test_a_figure_stands_in_the_manifest_of_its_engine():
    assert figure_engines() == {name: attribute(place)().engine for name, place in named("figures").items()}


def test_every_policy_is_named_below_its_question_by_one_mechanism():
    load_all()
    there = {question: {name for name, one in policies(question).items() if one.built_in} for question in questions()}
    assert {question: set(names) for question, names in policy_names().items()} == {
        question: names for question, names in there.items() if names
    }
    brought = [question for manifest in OWN.values() for question in manifest.policies]
    assert sorted(brought) == sorted(set(brought))


@pytest.mark.parametrize("name", ENGINES)
def test_a_manifest_says_what_its_engine_is(name):
    manifest, registered = OWN[name], mechanism(name)
    engine = registered.engine
    assert engine.name == name
    assert dict(manifest.slots) == {slot: engine.question_of(slot) for slot in engine.slots}
    assert manifest.measures == tuple(registered.measures)
    assert measure_names(name) == (*registered.measures, *of_setup(name))
    assert attribute(manifest.record)()._fields
    assert attribute(manifest.events)() is registered.events
    assert set(manifest.slots.values()) <= set(policy_names())


def test_every_list_of_circuits_and_of_claims_is_named_with_what_it_holds():
    circuits = listed(workbench.circuits, "MAKERS", "name")
    claims = listed(workbench.claims, "CLAIMS", "id")
    for field, there in (("circuits", circuits), ("claims", claims)):
        assert {place: sorted(names) for place, names in named(field).items()} == {
            place: sorted(there[place]) for place in named(field)
        }
        assert {name for names in named(field).values() for name in names} == {
            name for names in there.values() for name in names
        }


def test_every_dashboard_and_page_of_a_mechanism_is_named():
    dashboards = {name for name, manifest in OWN.items() if manifest.dashboard}
    files = {path.name for path in (PAGES.parent.parent / "workbench" / "dashboards").glob("_*.py")}
    assert {f"_{name}.py" for name in dashboards} == {f"_{name}.py" for name in ENGINES} & files
    assert all(callable(attribute(OWN[name].dashboard)()) for name in dashboards)
    pages = {path.relative_to(PAGES).as_posix() for path in (PAGES / "mechanisms").glob("*.md")} - {
        "mechanisms/index.md"
    }
    assert {manifest.page for manifest in OWN.values() if manifest.page} == pages


def test_names_are_known_without_importing_what_they_name():
    code = "import sys, workbench.mechanisms.catalogue as c; c.figure_engines(), c.policy_names(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("workbench.")}
    assert "mechanisms" in rooms
    assert rooms.isdisjoint({"figures", "tuning", "claims", "explain", "circuits", "dashboards", "engines", "metrics"})
    assert {"workbench.policies.policy", "numpy", "numba", "matplotlib"}.isdisjoint(loaded)
