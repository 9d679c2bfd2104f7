"""The paper is made from runs: whole, true, the same again, and it says what it lacks."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

import papers.six_open_gpus as paper
from papers.six_open_gpus import gathered, set_pdf, write_paper
from tests.needs import TRACES, needs
from tests.printed import too_long_in
from workbench.export.manifest import digests
from workbench.export.verify import verify

pytestmark = pytest.mark.slow

SWEEP = {
    **yaml.safe_load((Path(__file__).parents[2] / "sweeps" / "placement" / "six_open_gpus.yaml").read_text()),
    "workload": {"regime": "bimodal", "count": 100},
}


@pytest.fixture(scope="module", autouse=True)
def quick():
    """Without TeX's measuring of letters, which takes seconds a figure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.figures.plot_style.tex_system", lambda: None)
        yield


@pytest.fixture(scope="module")
def without_traces():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "available", lambda _: False)
        patch.setattr(paper, "public_traces", list)
        return gathered(SWEEP, seeds=12, workers=1)


@pytest.fixture(scope="module")
def folder(without_traces, tmp_path_factory):
    return write_paper(without_traces, tmp_path_factory.mktemp("made") / "paper")


def test_without_the_traces_it_is_whole_and_says_what_stands_for_them(without_traces, folder):
    assert not without_traces.real and without_traces.residency is None
    text = (folder / "main.tex").read_text()
    assert "a synthetic workload stands for it" in text and "In place of a serving trace" in text
    assert not [
        words for words in (r"\section{Lost residency", "there are no numbers", "would notice") if words in text
    ]
    limits = " ".join(text.partition(r"\section{Limits}")[2].partition(r"\section")[0].split())
    assert "The residency that shared memory loses on recorded kernels is left out" in limits
    assert "trace-rocprofv3" not in (folder / "references.bib").read_text()
    assert verify(folder / "placement", sample=2, figures=False).same


def test_what_the_paper_lacks_without_traces_is_one_line(without_traces, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paper, "gathered", lambda *_: without_traces)
    monkeypatch.setattr(paper, "set_pdf", lambda _: paper.Typeset(None, "no PDF here"))
    assert paper.make_paper(12, tmp_path) == 0
    lack, rest = capsys.readouterr().out.splitlines()
    assert (
        "stands for the serving trace and the section on lost residency is left out" in lack and rest == "no PDF here"
    )
    assert paper._lack(without_traces._replace(real=True, residency=object())) == ""


def test_no_number_has_more_digits_than_it_earns(folder):
    assert too_long_in(folder) == {}


def test_made_again_it_has_the_same_bytes(without_traces, folder, tmp_path):
    again = write_paper(without_traces, tmp_path / "again")
    same = [name for name, digest in digests(folder).items() if digests(again).get(name) == digest]
    assert {*digests(folder)} - {*same} == set()


def test_every_macro_of_the_text_is_a_number_of_its_bundle(folder):
    text = (folder / "main.tex").read_text().partition("\\input{placement/numbers}")[2]
    used = {word for word in text.replace(")", " ").replace("(", " ").split() if word.startswith("\\wbDrainCycles")}
    known = "".join((folder / name / "numbers.tex").read_text() for name in ("placement", "serving"))
    assert used and all(f"{{{name}}}" in known for name in used)


def test_every_table_of_the_paper_is_set_in_the_one_size(folder):
    text = (folder / "main.tex").read_text()
    tables = re.findall(r"\\wbtable\{\\input\{(.+?)\}\}", text)
    assert len(tables) == 5 and re.findall(r"\\wbmeasure\{\\input\{(.+?)\}\}%", text) == tables
    assert "\\begin{table}" not in text and text.count("\\resizebox") == 1


@needs("pdflatex", "pdftotext")
def test_the_pdf_is_set_with_its_bibliography(folder, tmp_path):
    folder = shutil.copytree(folder, tmp_path / "paper")
    result = set_pdf(folder)
    assert result.pdf is not None and result.pdf.stat().st_size > 20_000, result.sentence
    log = (folder / "main.log").read_text(errors="replace")
    assert "undefined" not in log and "Overfull \\hbox" not in log
    assert "\\bibitem" in (folder / "main.bbl").read_text()


def test_without_tex_there_is_all_but_the_pdf_and_it_says_so(folder, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    result = set_pdf(folder)
    assert result.pdf is None
    assert result.sentence.startswith("no PDF: pdflatex and bibtex not found (Debian: texlive-")


@needs("pdflatex")
def test_a_text_that_tex_refuses_says_the_first_reason(tmp_path):
    (tmp_path / "main.tex").write_text("\\documentclass{article}\\begin{document}\\nosuchword\\end{document}")
    result = set_pdf(tmp_path)
    assert result.pdf is None and "! Undefined control sequence." in result.sentence


def test_a_wrong_sweep_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paper, "SWEEP", str(tmp_path / "none.yaml"))
    assert paper.main(["--seeds", "2", "--to", str(tmp_path / "to")]) == 2
    assert "none.yaml" in capsys.readouterr().err


@needs(TRACES)
def test_with_the_traces_it_has_the_numbers_of_recorded_kernels(tmp_path):
    evidence = gathered(SWEEP, seeds=3, workers=1, units=2)
    folder = write_paper(evidence, tmp_path / "paper")
    text = (folder / "main.tex").read_text()
    assert "\\section{Lost residency" in text and "is left out, as no public trace" not in text
    assert "A real serving trace" in text and "tell grid, threads and the whole shared memory" in text
    assert str(tmp_path) not in text and "/traces/" not in text
    assert "rocprofv3_mi355x_part1" in (folder / "references.bib").read_text()
    assert (folder / "residency" / "by_granule.pdf").is_file() and (folder / "residency" / "rules.csv").is_file()
