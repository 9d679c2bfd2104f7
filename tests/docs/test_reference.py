"""Every public name has a page; its sweeps can be planned; its mentions of specifications are links to items."""

from __future__ import annotations

import re
from itertools import chain

import pytest
import yaml

import workbench as wb
from tests.house.test_every_lever import registered
from tests.house.test_specification_references import TEXTS, Reference, references, resolves
from workbench.cli.main import COMMANDS
from workbench.docs import SWEEPS
from workbench.docs.build import KINDS, reference_pages
from workbench.docs.markdown import Page, linked
from workbench.docs.reference.engines import can_be_planned, small_sweep
from workbench.docs.reference.results import GALLERY, gallery_sweeps
from workbench.experiments.mechanism import mechanism, mechanisms
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.machine.presets import preset_names
from workbench.parts.registry import _registries
from workbench.policies.policy import policies, questions
from workbench.policies.probes.question import Probe
from workbench.studies.claims import known_claims
from workbench.workloads.importers import importers
from workbench.workloads.synthetic.generators import Generator, regimes
from workbench.workloads.workload import KINDS as WORKLOAD_KINDS


@pytest.fixture(scope="module", autouse=True)
def _parts_of_the_package_alone():
    """Hide what other modules of the suite enter as they are collected: much of it breaks its contract."""
    with pytest.MonkeyPatch.context() as patch:
        for registry in [*chain.from_iterable(_registries.values())]:  # asking for parts imports more
            for part in registry.parts():
                if not part.built_in:
                    patch.delitem(registry, part.name)
        yield


@pytest.fixture(scope="module")
def leaves(_parts_of_the_package_alone) -> dict[str, Page]:
    pages, _ = reference_pages()
    assert len({page.path for page in pages}) == len(pages)
    return {page.path: page for page in pages}


def public_names() -> dict[str, list[str]]:
    """Every public name by the folder of its page, from the registries, not from what makes the pages."""
    spoken = [name for kind in WORKLOAD_KINDS for name in regimes(kind)]
    levers = {name for cls in registered() for name in cls.levers if not name.startswith("_")}
    return {
        "questions": questions(),
        "policies": [f"{question}/{name}" for question in questions() for name in policies(question)],
        "levers": sorted(levers),
        "measures": [f"{engine}/{name}" for engine in mechanisms() for name in mechanism(engine).measures],
        "figures": [*FIGURES.names(), *STUDY_FIGURES.names(), *CALCULATIONS.names()],
        "workloads": [*Generator.members.names(), *spoken],
        "presets": preset_names(),
        "importers": [*importers()],
        "commands": [name.replace(" ", "-") for name in COMMANDS],
        "engines": mechanisms(),
        "python": [*wb.__all__],
    }


def test_every_public_name_has_a_page(leaves):
    wanted = {f"reference/{kind}/{name}" for kind, names in public_names().items() for name in names}
    assert sorted(wanted - leaves.keys()) == []
    assert {f"verdict/{id.lower().replace('.', '-')}" for id in known_claims()} <= leaves.keys()


def test_each_kind_says_itself_which_pages_it_makes(leaves):
    assert {path for kind in KINDS for path in kind.names()} == set(leaves)
    assert len(leaves) > 1000


def test_every_page_has_one_title_and_no_empty_summary(leaves):
    for page in leaves.values():
        titles = [
            line for line in re.sub(r"```.*?```", "", page.text, flags=re.DOTALL).splitlines() if line[:2] == "# "
        ]
        assert len(titles) == 1, page.path
        assert page.summary.strip() or page.path.startswith("reference/levers/"), page.path


BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_sweeps_of_engines_and_measures_can_be_planned(leaves):
    """One plan an engine; a measure's page shows the same sweep with that measure."""
    assert {name for name in mechanisms() if small_sweep(name)} >= {"dispatch", "malloc", "pool", "translation"}
    for name in filter(small_sweep, mechanisms()):
        for path in (
            f"reference/engines/{name}",
            *(f"reference/measures/{name}/{m}" for m in mechanism(name).measures),
        ):
            (text,) = BLOCK.findall(leaves[path].text)
            sweep = yaml.safe_load(text)
            assert sweep["engine"] == name
            if path.startswith("reference/engines/"):
                assert len(make_plan(read_sweep(sweep))) == sweep["seeds"]
            else:
                assert path.endswith(f"/{sweep['measures'][0]}")


def test_a_sweep_of_a_policy_that_breaks_its_contract_cannot_be_planned():
    class TwoParameters(Probe):
        name = "two_parameters_on_a_page"

        def answer(free, blocks):
            """Take what an answer does not take."""
            return 0

    assert not can_be_planned(small_sweep("dispatch", policy={"probe": TwoParameters.name}))
    assert can_be_planned(small_sweep("dispatch", policy={"probe": "exact_run"}))


def test_policies_are_shown_as_a_sweep_writes_them(leaves):
    assert "policy: {placement: nearest_boundary}" in leaves["reference/policies/placement/nearest_boundary"].text
    assert ">>> NearestBoundary()" in leaves["reference/policies/placement/nearest_boundary"].text


def test_every_figure_has_a_picture_and_the_sweep_that_made_it(leaves):
    sweeps = gallery_sweeps()
    for name in {*FIGURES.names(), *STUDY_FIGURES.names(), *CALCULATIONS.names()}:
        assert (GALLERY / f"{name}.png").is_file(), f"python -m docs.make_gallery {name}"
        page = leaves[f"reference/figures/{name}"].text
        assert f"pictures/gallery/{name}.png" in page
        assert name in CALCULATIONS or f"`sweeps/{sweeps[name]}`" in page
    assert all((SWEEPS / sweep).is_file() for sweep in sweeps.values() if sweep)


LINK = re.compile(r"\]\([^)\s]*specification/(\d)-[a-z]+\.html(?:#([a-z0-9-]+))?\)")


def test_every_mention_of_a_specification_is_a_link_to_an_item(leaves):
    links = [(int(spec), anchor) for page in leaves.values() for spec, anchor in LINK.findall(page.text)]
    assert [link for link in set(links) if not resolves(Reference(*link), TEXTS)] == []
    assert len(links) > 700
    assert {spec for spec, _ in links} >= {1, 2, 3, 4, 5}


def test_no_mention_is_left_without_a_link(leaves):
    bare = re.compile(r"(?<!\[)\bspec \d\b")
    without_code = re.compile(r"```.*?```|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)", re.DOTALL)
    left = [page.path for page in leaves.values() if bare.search(without_code.sub("", page.text))]
    assert left == []


def site(page: str) -> str:
    name, mark, anchor = page.partition("#")
    return f"{name}.html{mark}{anchor}"


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("Round robin (spec 3, R82).", None, {(3, ""), (3, "r82")}),
        ("spec 3, R7-R9; E1-E2; V25.", None, {(3, ""), (3, "r7"), (3, "e1"), (3, "v25")}),
        ("(spec 3, section 6) and H3.14, (Em. 9).", None, {(3, ""), (3, "section-6"), (3, "h3-14"), (3, "em-9")}),
        ("spec 3, R12; spec 1, R4, T1.", None, {(3, ""), (3, "r12"), (1, ""), (1, "r4"), (1, "t1")}),
        ("see (spec 3, E20). V100 and R9 are cards.", None, {(3, ""), (3, "e20")}),
        ("a lock (R15), any policy of spec 1", 2, {(2, "r15"), (1, "")}),
        ("`spec 3, R82` and [spec 3](x) stay as they are", None, set()),
    ],
)
def test_what_a_text_names_is_linked(text, room, expected):
    made = {(int(spec), anchor) for spec, anchor in LINK.findall(linked(text, site, room))}
    assert made == expected
    firsts = {(one.spec, one.anchor) for one in references(text, room)} if expected else set()
    assert made <= firsts | {(3, "section-6")}
