"""What a paper takes from a bundle beside tables and pictures: methods, bibliography, captions, alt texts, formats."""

import json
import re
import shutil

import pytest

from tests.export.small import runs
from tests.slow import thinned
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.export.citations import bibliography, cited, references_text
from workbench.export.manifest import digests
from workbench.export.venues import STYLES
from workbench.export.verify import verify
from workbench.export.works import works_in
from workbench.policies.policy import policies, questions

pytestmark = pytest.mark.slow

POLICIES = [(q, name, of) for q in questions() for name, of in policies(q).items() if of.built_in]


@pytest.fixture(scope="module", autouse=True)
def quick():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.figures.plot_style.tex_system", lambda: None)
        yield


@pytest.fixture(scope="module")
def results():
    return runs(figures=["drain_difference", "pareto"])


@pytest.fixture(scope="module")
def bundle(results, tmp_path_factory):
    return results.export(tmp_path_factory.mktemp("parts") / "paper")


def test_repeated_it_has_the_same_bytes(results, bundle, tmp_path):
    again = results.export(tmp_path / "paper")
    assert digests(again) == digests(bundle)
    assert (again / "manifest.json").read_bytes() == (bundle / "manifest.json").read_bytes()


def test_the_methods_say_machine_workload_policies_seeds_and_statistics(bundle):
    text = (bundle / "methods.tex").read_text()
    for part in (
        r"We ask: Does 100 \% of it hold, \& for whom?",
        "engine shared memory (revision 2)",
        "The machine has segments = 64;",
        "The 2 workloads are random workgroups (count=40",
        r"For placement we compare 2 policies: first fit~\cite{CN114153753A,mgpusim}, nearest boundary (tie=high)~",
        "queue fifo head only~",
        "The baseline has placement first fit.",
        "4 points is run with the same 6 seeds (0 to 5)",
        r"95\,\% intervals",
        "The size of a comparison in drain time is the geometric mean of the paired ratios, by Student's t",
        "the exact two-sided sign test over the seeds at which the two differ",
        "Holm's method corrects both tests of all 5 comparisons",
        "Over workloads, which are fixed, the speed-up is the geometric mean of theirs",
        "drain time in cycles (from cycle 0 until",
    ):
        assert part in text, part
    keys = set(re.findall(r"@\w+\{([^,]+),", (bundle / "references.bib").read_text()))
    cites = {key for found in re.findall(r"\\cite\{([^}]+)\}", text) for key in found.split(",")}
    assert cites <= keys and keys == {"CN114153753A", "gpu-policy-workbench", "mgpusim"}


def test_the_methods_name_the_sizes_that_were_used(tmp_path):
    bundle = runs(measures=["wait_mean_cycles"]).export(tmp_path / "paper")
    text, table = ((bundle / name).read_text() for name in ("methods.tex", "tables/wait_mean_cycles.tex"))
    assert "the mean of the paired differences, by Student's t" in text and "geometric" not in text + table
    assert "Differences are means of paired differences" in table and "over both tests of 2 comparisons" in table


def test_one_seed_has_no_statistics_to_speak_of(tmp_path):
    text = (runs(seeds=1, measures=["drain_cycles"]).export(tmp_path / "paper") / "methods.tex").read_text()
    assert "no intervals and no tests" in text and "Holm" not in text


@pytest.mark.parametrize(
    ("question", "name", "of"), POLICIES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_policy_s_sources_are_entries(question, name, of):
    text = references_text(of)
    works = works_in(text)
    own = re.search(r"spec [67]", text) and not re.search(r"spec [1-5]", text)  # this project's own: no patent
    assert works or own or not text, f"{question} {name}: {text}"
    for work in works:
        assert re.fullmatch(r"[\w.-]+", work.key) and work.fields["title"]
        assert "spec " not in work.fields.get("author", "") and not work.fields["title"].startswith("spec")


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        (
            'spec 3, section 7; M. Shreedhar, G. Varghese, "Efficient Fair Queueing", IEEE/ACM Transactions on '
            "Networking 4(3), 1996.",
            "article",
            {"author": "M. Shreedhar and G. Varghese", "volume": "4", "number": "3", "year": "1996"},
        ),
        (
            'spec 4, section 7. Baruah et al., "Valkyrie: TLBs", PACT 2020: in its style.',
            "inproceedings",
            {"author": "Baruah and others", "booktitle": "PACT", "year": "2020"},
        ),
        ("arXiv 2309.06180, section 4.3", "misc", {"eprint": "2309.06180", "year": "2023"}),
        ("pytorch/pytorch#189504: out of memory", "misc", {"url": "https://github.com/pytorch/pytorch/issues/189504"}),
        ("spec 3, R7", "misc", {"howpublished": "Patent application CN116450339A", "year": "2023"}),
    ],
)
def test_a_source_becomes_an_entry_of_its_kind(text, kind, fields):
    work = works_in(text)[-1]
    assert work.kind == kind and fields.items() <= work.fields.items()


def test_presets_and_traces_are_cited(tmp_path):
    results = runs(machine="h100", figures=[], seeds=1, measures=["drain_cycles"])
    entries = {one.work.key: one for one in cited(results)}
    assert entries["machine-h100"].of == ["machine h100"] and "H100" in entries["machine-h100"].work.fields["title"]
    text = (results.export(tmp_path / "paper") / "methods.tex").read_text()
    assert r"is the preset h100~\cite{machine-h100}" in text
    assert bibliography(cited(results)).count("@misc") == len(entries)


def test_a_caption_says_what_the_picture_does_not_and_an_alt_text_what_it_shows(bundle):
    inside = (bundle / "figures" / "pareto.tex").read_text()
    assert "no other beats in both. Mean of 6 seeds with its 95 \\% interval.}" in inside
    alt = (bundle / "figures" / "pareto.txt").read_text()
    assert (
        "2 panels (regime=small uniform, count=40; regime=bimodal, count=40): horizontally drain time (cycles)" in alt
    )
    assert re.search(r"Drain cycles from [\d,.]+ to [\d,.]+\.", alt)
    assert "\\input{figures/pareto}" in (bundle / "main.tex").read_text()


def test_the_title_is_the_sweep_s_question(bundle):
    assert r"\title{Does 100 \% of it hold, \& for whom?}" in (bundle / "main.tex").read_text()


@pytest.mark.parametrize(
    ("name", "columns"), thinned([pytest.param(name, columns) for name in STYLES for columns in (1, 2)], 9)
)
def test_figures_are_as_wide_as_the_venue_s_columns(results, name, columns):
    from workbench.export.drawings import drawings

    one = drawings(results, STYLES[name].figures(columns))[0][1]
    assert one.sheet.get_figwidth() == STYLES[name].inches(columns)
    assert one.sheet.note and one.sheet.get_supxlabel() == ""


def test_every_venue_s_columns_are_as_wide_as_they_print():
    for of_venue in STYLES.values():
        assert 3.2 < of_venue.inches(1) < 3.6 and 6.9 < of_venue.inches(2) < 7.2


def test_chosen_measures_and_figures_alone_are_written_and_verified(results, tmp_path):
    chosen = {"measures": ["wear_gini"], "figures": ["saving_by_policy"]}
    folder = results.export(tmp_path / "paper", style="usenix", columns=2, **chosen)
    assert [path.name for path in (folder / "tables").iterdir()] == ["wear_gini.tex"]
    assert {path.stem for path in (folder / "figures").iterdir()} == {"saving_by_policy"}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["selected"] == chosen and manifest["measures"] == ["wear_gini"]
    report = verify(folder, sample=2)
    assert report.same, report.lines
    assert "figure*" in (folder / "main.tex").read_text()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"measures": ["wear"]}, "unknown measure 'wear'"),
        ({"figures": ["paretto"]}, "Did you mean pareto?"),
        ({"measures": []}, "measures must name at least one measure"),
        ({"columns": 3}, "columns must be 1 or 2"),
    ],
)
def test_what_cannot_be_chosen_is_one_sentence(results, tmp_path, chosen, message):
    with pytest.raises(InputError, match=re.escape(message)):
        results.export(tmp_path / "paper", **chosen)
    assert not (tmp_path / "paper").exists()


@pytest.fixture(scope="module")
def of_one_figure(results, tmp_path_factory):
    return results.export(tmp_path_factory.mktemp("one") / "paper", figures=["pareto"])


@pytest.mark.parametrize(
    "name", thinned(["methods.tex", "references.bib", "figures/pareto.tex", "figures/pareto.txt"], 9)
)
def test_what_was_edited_is_found_though_its_digest_was_too(of_one_figure, tmp_path, name):
    folder = shutil.copytree(of_one_figure, tmp_path / "paper")
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("6", "60").replace("2022", "2023").replace("panels", "panes"))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = digests(folder)
    (folder / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False))
    report = verify(folder, sample=1, figures=False)
    assert not report.same and {one.file for one in report.changes} == {name}


def test_without_a_tex_the_missing_drawings_are_named(bundle, results, tmp_path, capsys):
    needs = json.loads((bundle / "manifest.json").read_text())["needs"]
    assert [one.partition(":")[0] for one in needs] == ["figures/drain_difference.pgf, figures/pareto.pgf"]
    assert "no TeX is installed" in needs[0] and "texlive-xetex" in needs[0]


def test_the_command_takes_the_choices(tmp_path, capsys, monkeypatch):
    import workbench as wb

    wb.run({"engine": "shared_memory", "workload": "bimodal", "seeds": 2, "measures": ["drain_cycles"]}, tmp_path / "r")
    to = tmp_path / "paper"
    words = ["--style", "acm", "--columns", "2", "--measures", "wear_gini", "--figures", "wear_by_segment"]
    assert main(["export", str(tmp_path / "r"), "--to", str(to), *words]) == 0
    assert (to / "tables" / "wear_gini.tex").is_file() and (to / "figures" / "wear_by_segment.tex").is_file()
