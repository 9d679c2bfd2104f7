"""README's pictures show what the command draws and prints now."""

from __future__ import annotations

import argparse
import re
import shlex
import warnings
from pathlib import Path

import pytest
from PIL import Image

import workbench as wb
from docs.make_pictures import CALCULATED, FOLDER, PICTURES, digest_of, marks_of, words_of
from workbench.api import open_results
from workbench.cli.commands import resolved
from workbench.cli.main import main
from workbench.figures import calculated, figure

ROOT = Path(__file__).parents[2]
DRAIN = "sweeps/placement/drain.yaml"


def kept_marks(name: str) -> dict[str, str]:
    with Image.open(ROOT / FOLDER / f"{name}.png") as picture:
        return {key: picture.text[key] for key in ("Description", "Source")}


def check(names: list[str], results: wb.Results) -> None:
    for name in names:
        recipe = figure(name, results.plan.sweep.mechanism.engine.name)
        data = results.figure_data(name)
        assert kept_marks(name) == marks_of(recipe.draw(data), data), f"{name}: run `make pictures`"


@pytest.fixture(scope="module")
def drain(tmp_path_factory):
    """Return what `workbench run` of README's sweep prints, and its results."""
    folder = tmp_path_factory.mktemp("drain")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(ROOT)
        patch.setenv("COLUMNS", "200")
        printed: list[str] = []
        patch.setattr("builtins.print", lambda *words, **_: printed.append(" ".join(map(str, words))))
        assert main(["run", DRAIN, "--out", str(folder), "--no-figures"]) == 0
    return "\n".join(printed), open_results(folder)


def test_readmes_pictures_of_the_first_sweep_are_those_that_the_command_draws(drain):
    check(PICTURES[DRAIN], drain[1])


def test_the_picture_says_the_speed_up_that_the_command_prints(drain):
    words = kept_marks("drain_difference")["Description"]
    (match,) = re.findall(r"([\d.]+)× (\[[\d., ]+\])", words)
    assert f"{match[0]}x {match[1]}" in drain[0]


def test_readme_has_the_table_that_the_command_prints(drain):
    readme = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"<!-- printed: drain_cycles -->\n```text\n(.*?)```", readme, re.DOTALL)
    assert drain[1].comparisons("drain_cycles").text(80).startswith(block)


def commands(text: str) -> list[str]:
    """Return the commands of `workbench` in the blocks of a text that are typed into a shell."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line.partition(" #")[0].removeprefix("$ ").strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("workbench ")]


@pytest.mark.parametrize("line", commands((ROOT / "README.md").read_text()))
def test_each_command_of_the_readme_is_one_and_its_files_are_there(line):
    command, words = resolved(shlex.split(line)[1:])
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_arguments(parser)
    parser.parse_args(words)
    shipped = [word for word in words if word.startswith(("sweeps/", "notebooks/", "data/"))]
    assert all((ROOT / word).is_file() for word in shipped)


def test_the_first_screen_of_the_readme_has_a_picture_of_a_dashboard_and_three_commands():
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])
    assert first.count("![") == 1 and "docs/pictures/dashboard.png" in first
    assert len(re.findall(r"^\$ ", first, re.MULTILINE)) == 3


def test_the_first_page_says_the_numbers_of_its_picture():
    mean, times = re.findall(r"mean ([\d,]+) .*; ([\d.]+)×", kept_marks("drain_difference")["Description"])[0]
    page = (ROOT / "docs" / "pages" / "index.md").read_text()
    assert f"by {mean} cycles on average ({times}x faster)" in page


def test_pictures_that_need_no_runs_are_those_of_now():
    for name in CALCULATED:
        data = calculated(name).data()
        assert kept_marks(name) == marks_of(calculated(name).draw(data), data), f"{name}: run `make pictures`"


@pytest.mark.slow
@pytest.mark.parametrize("sweep", [sweep for sweep in PICTURES if sweep != DRAIN])
def test_readmes_other_pictures_are_those_of_now(sweep):
    check(PICTURES[sweep], wb.run(ROOT / sweep))


def test_every_picture_of_the_folder_is_made_by_the_code():
    made = {*CALCULATED, *(name for names in PICTURES.values() for name in names)}
    assert {path.stem for path in (ROOT / FOLDER).glob("*.png")} == made | {"dashboard"}


def test_another_number_or_word_makes_another_picture(drain):
    name = "drain_difference"
    data = drain[1].figure_data(name)
    other = data._replace(panels=tuple(panel._replace(counts=panel.counts + 1) for panel in data.panels))
    assert digest_of(other) != digest_of(data)
    draw = figure(name, "shared_memory").draw
    assert words_of(draw(data._replace(label="another label"))) != words_of(draw(data))
