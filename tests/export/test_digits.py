"""Every number that a reader sees has six digits at most, and the rounding of sums is shown as no width."""

import pytest

import workbench as wb
from tests.printed import texts_of, too_long, too_long_in
from workbench.cli.main import main
from workbench.export.verify import verify
from workbench.figures import figure
from workbench.mechanisms.measures import measures_of

FIGURES = ["drain_difference", "saving_by_policy", "pareto", "measure_by_lever", "remaining_over_time"]
MEASURE = """
import workbench as wb


@wb.measure(unit="cycles", better="lower", description="370.8 at the low end and next to nothing at the high end")
def steady(record):
    rounding = (int(record.length.sum()) % 5 + 1) * 2.0**-44
    return 370.8 + rounding if record.base[0] == 0 else rounding
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with runs of a measure whose means differ by the rounding of sums alone, and their bundle."""
    folder = tmp_path_factory.mktemp("digits")
    (folder / "mine.py").write_text(MEASURE)
    sweep = {
        "engine": "shared_memory",
        "machine": {"segments": {"vary": [64, 96]}},
        "workload": {"regime": "bimodal", "count": 12},
        "policy": {"placement": {"vary": ["first_fit", "last_fit"]}},
        "baseline": {"placement": "first_fit"},
        "seeds": 8,
        "measures": ["drain_cycles", f"{folder / 'mine.py'}:steady", "mean_external_fragmentation"],
        "figures": FIGURES,
    }
    results = wb.run(sweep, folder / "results", workers=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.figures.plot_style.tex_system", lambda: None)
        results.export(folder / "paper")
    yield folder
    measures_of("shared_memory").clear()


def test_every_text_of_a_bundle(folder):
    assert too_long_in(folder / "paper") == {}
    table = (folder / "paper" / "tables" / "steady.tex").read_text()
    assert (
        "$370.8\\;[370.8, 370.8]$" in table and "mathbf" not in table and "\\times" not in table.partition("370.8")[0]
    )
    assert verify(folder / "paper", sample=1).same


@pytest.mark.parametrize("name", FIGURES)
def test_every_text_of_a_figure(folder, name):
    recipe = figure(name, "shared_memory")
    assert too_long(texts_of(recipe.draw(recipe.data(wb.open_results(folder / "results"))))) == []


@pytest.mark.parametrize(
    "command",
    ["results DIR", "results DIR --wide"],
)
def test_every_line_of_a_terminal(folder, capsys, command):
    assert main(command.replace("DIR", str(folder / "results")).split()) == 0
    output = capsys.readouterr().out
    assert "370.8" in output and too_long(output) == []


def test_every_sentence_and_the_card_of_a_notebook(folder):
    results = wb.open_results(folder / "results")
    text = "\n".join([*results.sentences(), results._repr_html_()])
    assert "370.8 [370.8, 370.8] cycles fewer" in text and too_long(text) == []
