"""The example of a bundle is set by TeX as it is, and its pages show the tables and the numbers."""

import json
import re
import subprocess

import pytest

from tests.export.small import runs
from tests.needs import needs
from workbench.export.tex import render

pytestmark = [needs("pdftotext"), pytest.mark.slow]
ENGINES = pytest.mark.parametrize("engine", [pytest.param(name, marks=needs(name)) for name in ("pdflatex", "xelatex")])

ODD = "a&b_50%_{größe}~#1^2 $x$ -- 配.csv"


def typeset(folder, engine, twice=True, main="main.tex"):
    """Set a paper and return its text and what TeX said."""
    latex = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", main]
    bibtex = ["bibtex", main.removesuffix(".tex")]
    for command in [latex, bibtex, latex, latex] if twice else [latex]:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
        assert done.returncode == 0, done.stdout[-2000:]
    pdf = str(folder / main.replace(".tex", ".pdf"))
    displayed = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return " ".join(displayed.replace("\u2009", " ").split()), done.stdout


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tex")
    (folder / ODD).write_text("arrival,length,duration\n" + "".join(f"0,{1 + k % 7},{3 + k % 5}\n" for k in range(60)))
    workloads = [{"file": str(folder / ODD)}, {"regime": "bimodal", "count": 40}]
    results = runs(workload={"vary": workloads}, figures=["drain_difference"], seeds=1)  # a file gives one run
    return results.export(folder / "paper")


@pytest.mark.parametrize(
    ("style", "engine"),
    [
        pytest.param("ieee", "pdflatex", marks=needs("pdflatex")),
        pytest.param("acm", "xelatex", marks=[needs("xelatex"), pytest.mark.slow]),
        pytest.param("ieee", "xelatex", marks=[needs("xelatex"), pytest.mark.slow]),
        pytest.param("acm", "pdflatex", marks=[needs("pdflatex"), pytest.mark.slow]),
    ],
)
def test_the_example_is_a_paper(bundle, tmp_path, engine, style):
    results = runs(figures=["drain_difference"])
    folder = results.export(tmp_path / "paper", style=style)
    text, message = typeset(folder, engine)
    assert "Overfull \\hbox" not in message
    assert "undefined" not in message
    macros = json.loads((folder / "manifest.json").read_text())["macros"]
    for name in ("\\wbDrainCyclesMean", "\\wbMeanExternalFragmentationMean"):
        displayed = [m["shown"] for n, m in macros.items() if n.startswith(name) and " \\pm" not in m["shown"]]
        assert displayed
        for number in displayed:
            assert number.replace("\\,", " ") in text or number.replace("\\,", "") in text
    assert "nearest boundary (tie=high)" in text
    assert re.search(r"Table 1:? ?Drain time \(cycles\)|TABLE I", text)
    assert "Does 100 % of it hold, & for whom?" in text
    assert "Figure 1" in text or "Fig. 1" in text


@ENGINES
def test_odd_names_are_shown_letter_by_letter(bundle, engine):
    text, message = typeset(bundle, engine, twice=False)
    for part in ("a&b", "50%", "{größe}~#1^2", "$x$", "--", "[U+914D].csv"):
        assert part in text, (part, text[:1500])
    assert "Missing character" not in message


@needs("pdflatex", "xelatex")  # the one writes the drawings, the other sets the page
def test_every_macro_and_every_pgf_can_be_used(tmp_path):
    bundle = runs(figures=["drain_difference", "saving_by_policy", "pareto"]).export(tmp_path / "paper")
    macros = json.loads((bundle / "manifest.json").read_text())["macros"]
    used = "\n\n".join(f"\\texttt{{{name[1:]}}}: {name}" for name in macros)
    figures = "\n\n".join(f"\\input{{figures/{path.name}}}" for path in sorted((bundle / "figures").glob("*.pgf")))
    assert figures.count("pgf") == 3
    (bundle / "every.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{pgf}\\input{numbers}\\begin{document}\n"
        f"\\tiny {used}\n\n{figures}\n\\end{{document}}\n"
    )
    text, _ = typeset(bundle, "pdflatex", twice=False, main="every.tex")
    counts = [macro for macro in macros.values() if macro["says"].startswith("runs behind")]
    assert f"wbRuns: {counts[0]['shown']}" in text
    assert all(name[1:] in text.replace(" ", "") for name in macros)


@needs("pdflatex")
def test_a_table_wider_than_the_column_is_made_smaller(tmp_path):
    wide = {"fifo_lookahead": {"k": 17}}
    policy = {"placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": "alternate", "distance": "start_bit"}}]}}
    results = runs(policy={**policy, "queue": {"vary": ["fifo_head_only", wide]}})
    _, message = typeset(results.export(tmp_path / "paper"), "pdflatex", twice=False)
    assert "Overfull \\hbox" not in message


@needs("pdflatex")
@pytest.mark.parametrize("widest", [100, 400, 900], ids="{} pt".format)
def test_a_narrow_table_and_a_wide_one_have_letters_of_one_size(widest, tmp_path):
    widths = {"narrow": 50, "broad": 200, "widest": widest}
    for name, width in widths.items():
        table = rf"\begin{{tabular}}{{@{{}}l@{{}}}}\makebox[{width}pt][l]{{{name}xx}}\end{{tabular}}%"
        (tmp_path / f"{name}.tex").write_text(table)
    lines = [
        r"\documentclass[10pt,twocolumn]{article}\usepackage{graphicx}\setlength{\textwidth}{450pt}",
        render("one_size.tex"),
        r"\begin{document}",
        *(rf"\wbmeasure{{\input{{{name}}}}}" for name in widths),
        *(rf"\wbtable{{\input{{{name}}}}}{{A caption.}}{{tab:{name}}}" for name in widths),
        r"\end{document}",
    ]
    (tmp_path / "main.tex").write_text("\n".join(lines))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "Overfull" not in done.stdout, done.stdout[-2000:]
    boxes = subprocess.run(["pdftotext", "-bbox", "main.pdf", "-"], cwd=tmp_path, capture_output=True, text=True)
    matches = re.findall(r'yMin="([\d.]+)" xMax="[\d.]+" yMax="([\d.]+)">(\w+)xx<', boxes.stdout)
    heights = {name: round(float(high) - float(low), 2) for low, high, name in matches}
    assert {*heights} == {*widths} and len({*heights.values()}) == 1
