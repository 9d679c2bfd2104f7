"""Parts of installed packages: names without imports, a sentence for what is wrong, code that counts as the user's."""

from __future__ import annotations

import sys

import pytest

from tests.parts.installed import GUEST, guest_entries, site_of, write_package
from workbench import guests
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.identity import current, observed, owner
from workbench.mechanisms.catalogue import brought, manifest_of
from workbench.parts import Guests, Registry, attribute

PAGE = "def quiet():\n    return 'a page'\n"


@pytest.fixture
def site(tmp_path):
    """A folder of installed packages."""
    with site_of(tmp_path) as folder:
        yield folder


def pages(**later) -> Registry:
    """Return a registry of pages that packages may bring."""
    return Registry("page of a test", "page", later=later, guests=Guests("dashboard", callable, named_by=""))


def packaged(site, package="lab", module="lab", text=PAGE, **entries):
    write_package(site, package, entries or {"dashboard.quiet": f"{module}:quiet"}, {module: text})
    guests.forget()


def test_a_name_is_known_before_its_package_is_imported(site):
    packaged(site)
    known = pages()
    assert known.names() == ["quiet"] and known.has("quiet") and not known.has("loud")
    assert "lab" not in sys.modules
    assert known.find("quiet")() == "a page"
    assert [(part.name, part.built_in) for part in known.parts()] == [("quiet", False)]
    assert known.problems() == []


def test_a_package_that_does_not_import_is_named_and_hides_no_other_part(site):
    packaged(site)
    packaged(site, "torn", "torn", "import no_such_module", **{"dashboard.torn_page": "torn:page"})
    known = pages(own=lambda: str)
    sentence = (
        r"^torn 1\.0: the entry point dashboard\.torn_page = 'torn:page' does not load "
        r"\(ModuleNotFoundError: No module named 'no_such_module'\); repair or remove the package\.$"
    )
    with pytest.raises(InputError, match=sentence):
        known.find("torn_page")
    assert [*known.all()] == ["own", "quiet"]
    (problem,) = known.problems()
    assert problem.startswith("torn 1.0: the entry point dashboard.torn_page")


def test_a_module_that_ends_the_program_or_lacks_the_attribute_is_named(site):
    packaged(site, text="raise SystemExit(3)")
    packaged(site, "other", "other", "", **{"dashboard.loud": "other:loud"})
    assert "(SystemExit: 3)" in pages().problems()[0]
    assert "(AttributeError: module 'other' has no attribute 'loud')" in pages().problems()[1]


def test_the_name_of_the_workbench_stays_the_workbenchs(site):
    packaged(site)
    known = pages(quiet=attribute("workbench.guests:problems"))
    assert known.find("quiet") is guests.problems
    sentence = "is left out: quiet is already a page of the workbench; choose another name."
    assert known.problems() == [f"lab 1.0: the entry point dashboard.quiet = 'lab:quiet' {sentence}"]


def test_two_packages_with_one_name_are_both_named(site):
    packaged(site)
    packaged(site, "rival", "rival")
    sentence = r"^quiet is a page of several packages, lab 1\.0 \(lab:quiet\), rival 1\.0 \(rival:quiet\); remove all"
    with pytest.raises(InputError, match=sentence):
        pages().find("quiet")
    assert pages().all() == {}
    assert not {"lab", "rival"} & {*sys.modules}


def test_a_part_of_the_users_does_not_take_the_name_of_a_package(site):
    packaged(site)
    known = pages()
    with pytest.raises(InputError, match=r"^quiet is already a page of the package lab 1\.0; choose another name\.$"):
        known.join("quiet", lambda: "mine")
    known.join("loud", lambda: "mine")
    assert [*known.all()] == ["loud", "quiet"]


MEASURE = """
import workbench as wb

@wb.measure(unit="", better="lower", description="")
def slack(record):
    return 0

slack = slack._replace(declared=slack.declared._replace(name="misused_frees"))
"""
CLAIM = "import workbench as wb\nslack = wb.Claim('H1.1', '', '', lambda evidence: [])"
SPREAD = "from guest_parts.figures import SPREAD as slack"


@pytest.mark.parametrize(
    ("entry", "text", "sentence"),
    [
        ("measure.pool.slack", "slack = 3", "must be a measure of pool. Got 3."),
        (
            "measure.pool.misused_frees",
            MEASURE,
            "is left out: misused_frees is already a measure of pool; choose another function name.",
        ),
        ("claim.H1.1", CLAIM, "is left out: H1.1 is already a claim of the workbench; choose another id."),
        ("figure.pool.other", SPREAD, "gives spread; the entry point and its part must have one name."),
        ("figure.pool.spread", SPREAD, "gives a figure of any; the entry point must name that."),
    ],
)
def test_a_place_that_holds_something_else_is_named(site, monkeypatch, entry, text, sentence):
    from workbench.claims import CLAIMS
    from workbench.figures.registry import FIGURES
    from workbench.mechanisms.measures import measures_of

    monkeypatch.syspath_prepend(GUEST)
    kept = dict(FIGURES)
    packaged(site, "lab", "lab", text, **{entry: "lab:slack"})
    registry = {"figure": FIGURES, "measure": measures_of("pool"), "claim": CLAIMS}[entry.partition(".")[0]]
    try:
        assert registry.problems() == [f"lab 1.0: the entry point {entry} = 'lab:slack' {sentence}"]
    finally:
        FIGURES.clear()
        FIGURES.update(kept)
        for name in [name for name in sys.modules if name.startswith("guest_parts")]:
            del sys.modules[name]


def test_an_entry_point_with_a_name_that_says_nothing_is_named(site):
    packaged(site, **dict.fromkeys(["polcy.placement.x", "policy.gap_fit", "claim.", "claim.M1.2"], "lab:x"))
    sentences = [sentence.partition("; there are")[0] for sentence in guests.problems()]
    assert sentences == [
        "lab 1.0: the entry point claim. must be called claim.NAME.",
        "lab 1.0: the entry point polcy.placement.x: unknown kind 'polcy'",
        "lab 1.0: the entry point policy.gap_fit must be called policy.QUESTION.NAME.",
    ]
    assert [one.name for one in guests.every_guest()] == ["M1.2"]


def test_the_code_of_a_package_with_parts_counts_as_it_executes(site, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # files of one size and one second have the same bytecode

    def digest(table):
        sys.modules.pop("lab", None)
        (site / "lab.py").write_text(f"{table}\ndef quiet():\n    return TABLE\n")
        guests.forget()
        owner._lies_installed.cache_clear()
        return current(pages().find("quiet")).digest

    packaged(site)
    before = digest("TABLE = 3")
    assert digest("TABLE = 4") != before
    assert digest("TABLE = 3  # a comment") == before
    assert owner.owner_of("lab") == "user" and owner.owner_of("json") == "installed"


def test_an_installed_package_without_parts_is_no_guest(site):
    packaged(site, text="", **{"claim.": "lab:x"})
    assert not guests.is_guest("lab")
    assert owner.is_installed("numpy.linalg")


def test_the_files_of_a_package_with_parts_are_observed(site):
    packaged(site)
    (site / "other.txt").write_text("")
    assert not observed.is_of_the_system(str(site / "lab.py"))
    assert observed.is_of_the_system(str(site / "other.txt"))


def test_the_manifest_of_a_package_names_its_parts(site, monkeypatch):
    monkeypatch.syspath_prepend(GUEST)
    packaged(site, "lab", "lab", "", **{"engine.guest_coin": "guest_parts.coin_manifest:MECHANISM"})
    (heads,) = brought("figures", "figure").values()
    assert (heads.within, heads.name, heads.place) == ("guest_coin", "heads", "guest_parts.figures:HEADS")
    assert brought("claims", "claim") == {} == brought("dashboard", "dashboard")
    assert manifest_of("guest_coin").measures == ("heads_rate",)
    assert manifest_of("no_such_engine") is None
    for name in [name for name in sys.modules if name.startswith("guest_parts")]:
        del sys.modules[name]


def test_a_sweep_of_own_parts_looks_for_no_packages(site):
    sweep = {"engine": "shared_memory", "machine": "mi355x", "workload": {"synthetic": "random_workgroups"}}
    sweep |= {"policy": {"placement": {"vary": ["first_fit", "best_fit"]}}, "measures": ["drain_cycles", "area_gates"]}
    make_plan(read_sweep(sweep))
    guests.forget()
    make_plan(read_sweep(sweep))
    assert guests._read.cache_info().currsize == 0


def test_the_package_of_the_tests_brings_a_part_of_each_kind():
    assert {entry.partition(".")[0] for entry in guest_entries()} == {*guests.KINDS}
