"""Every public name has an entry, by its anchor; mentions of specifications are links to items."""

from __future__ import annotations

import re
from itertools import chain

import pytest

import workbench as wb
from tests.house.test_every_lever import registered
from tests.house.test_specification_references import TEXTS, Reference, references, resolves
from workbench.claims import known_claims
from workbench.cli.commands import COMMANDS
from workbench.docs import SWEEPS
from workbench.docs._build import KINDS, reference_pages
from workbench.docs.reference.claims import claim_path
from workbench.docs.reference.engines import shipped_sweep
from workbench.docs.reference.figures import GALLERY, GALLERY_QUESTIONS, figure_path, gallery_cards, gallery_sweeps
from workbench.docs.reference.questions import QUESTIONS
from workbench.docs.reference.workloads import generator_path, regime_anchor
from workbench.docs.spec_links import linked
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.machine.presets import preset, preset_names
from workbench.mechanisms.mechanism import mechanism, mechanisms
from workbench.parts.registry import _registries
from workbench.policies.policy import policies, questions
from workbench.workloads.generators import regimes
from workbench.workloads.importers import importers
from workbench.workloads.workload import KINDS as WORKLOAD_KINDS
from workbench.workloads.workload import Generator

pytestmark = pytest.mark.slow


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
def pages(_parts_of_the_package_alone) -> dict[str, str]:
    made = reference_pages()
    assert len({page.path for page in made}) == len(made)
    return {page.path: page.text for page in made}


def public_entries() -> list[str]:
    """Every public name as `page#anchor`, from the registries, not from what makes the pages."""
    levers = {name for cls in registered() for name in cls.levers if not name.startswith("_")}
    figures = {*FIGURES.names(), *STUDY_FIGURES.names(), *CALCULATIONS.names()}
    engines = [f"engines/{engine}#{name}" for engine in mechanisms() for name in mechanism(engine).measures]
    parts = {
        "options": lambda engine: engine.options,
        "machine": lambda engine: engine.machine,
    }
    for name in mechanisms():
        of = mechanism(name).engine
        engines += [f"engines/{name}#{key}.{lever}" for key, cls in parts.items() for lever in cls(of).levers]
    spoken = [f"workloads/{kind}#{regime_anchor(name)}" for kind in WORKLOAD_KINDS for name in regimes(kind)]
    reference = [
        *engines,
        *(
            f"policies/{question}#{name}"
            for question in questions()
            for name, cls in policies(question).items()
            if cls.built_in
        ),
        *(f"levers#{name}" for name in sorted(levers)),
        *(figure_path(name).removeprefix("reference/") for name in figures),
        *spoken,
        *(generator_path(cls).removeprefix("reference/") for cls in Generator.members.all().values() if cls.built_in),
        *(f"presets/{preset(name).of.name}#{name}" for name in preset_names()),
        *(f"importers#{name}" for name in importers()),
        *(f"commands#{name.replace(' ', '-')}" for name in COMMANDS),
        *(f"python#{name}" for name in wb.__all__),
    ]
    return [*(f"reference/{entry}" for entry in reference), *map(claim_path, known_claims())]


ANCHOR = re.compile(r'<a id="([^"]+)"></a>|^## ([a-z0-9_-]+)$', re.MULTILINE)


def anchors(text: str) -> list[str]:
    """The anchors of a page: written as such, or the plain names of its headings."""
    return [written or heading for written, heading in ANCHOR.findall(text)]


def test_every_public_name_has_an_entry_with_an_anchor(pages):
    there = {f"{path}#{at}" for path, text in pages.items() for at in anchors(text)}
    wanted = public_entries()
    assert sorted(set(wanted) - there) == []
    assert len(wanted) > 1300


def test_an_anchor_is_of_one_entry(pages):
    for path, text in pages.items():
        assert sorted(anchors(text)) == sorted(set(anchors(text))), path


def test_a_kind_counts_its_entries_and_names_them_by_their_anchors():
    for kind in KINDS:
        for page in kind.pages():
            assert set(page.names) <= set(anchors(page.text)), page.path


def test_every_page_has_one_title(pages):
    for path, text in pages.items():
        titles = [line for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines() if line[:2] == "# "]
        assert len(titles) == 1, path


def test_an_engine_shows_a_sweep_that_is_shipped(pages):
    for name in mechanisms():
        sweep = shipped_sweep(name)
        assert f"engine: {name}\n" in sweep and sweep in pages[f"reference/engines/{name}"]


def test_policies_are_shown_as_a_sweep_writes_them(pages):
    page = pages["reference/policies/placement"]
    assert re.search(r"^policy: \{placement: \w+\} +# engine: shared_memory$", page, re.MULTILINE)
    assert ".. autoclass:: workbench.policies.placement.ends::NearestBoundary" in page


def test_every_figure_has_a_picture_and_the_sweep_that_made_it(pages):
    sweeps = gallery_sweeps()
    for name in {*FIGURES.names(), *STUDY_FIGURES.names(), *CALCULATIONS.names()}:
        assert (GALLERY / f"{name}.png").is_file(), f"python -m docs.make_gallery {name}"
        page = pages[figure_path(name).partition("#")[0]]
        assert f"pictures/gallery/{name}.png" in page
        assert name in CALCULATIONS or f"`sweeps/{sweeps[name]}`" in page
    assert all((SWEEPS / sweep).is_file() for sweep in sweeps.values())


def test_the_gallery_has_each_picture_once_below_a_question():
    cards, pictures = gallery_cards(), sorted(picture.stem for picture in GALLERY.glob("*.png"))
    assert sorted(re.findall(r'src="site:gallery/(\w+)\.png"', cards)) == pictures
    assert {name for names in GALLERY_QUESTIONS.values() for name in names} <= set(pictures)
    assert cards.count("## ") == len(GALLERY_QUESTIONS) + 1


def test_each_question_says_what_it_asks_and_names_answers_that_there_are():
    assert set(QUESTIONS) == set(questions())
    for name, question in QUESTIONS.items():
        assert question.asks.endswith("?") and set(question.own) <= set(policies(name)), name


LINK = re.compile(r"\]\(site:specification/(\d)-[a-z]+\.html(?:#([a-z0-9-]+))?\)")


def test_every_mention_of_a_specification_is_a_link_to_an_item(pages):
    links = [(int(spec), anchor) for text in pages.values() for spec, anchor in LINK.findall(text)]
    assert [link for link in set(links) if not resolves(Reference(*link), TEXTS)] == []
    assert len(links) > 600
    assert {spec for spec, _ in links} >= {1, 2, 3, 4, 5}


def test_no_mention_is_left_without_a_link(pages):
    bare = re.compile(r"(?<!\[)\bspec \d\b")
    without_code = re.compile(r"```.*?```|`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)", re.DOTALL)
    left = [path for path, text in pages.items() if bare.search(without_code.sub("", text))]
    assert left == []


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
    made = {(int(spec), anchor) for spec, anchor in LINK.findall(linked(text, room))}
    assert made == expected
    firsts = {(one.spec, one.anchor) for one in references(text, room)} if expected else set()
    assert made <= firsts | {(3, "section-6")}
