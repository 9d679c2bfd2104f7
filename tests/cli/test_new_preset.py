"""`workbench new preset`: a file to fill in, which the listing names while it is not, and shows once it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.depth import thinned
from workbench.cli.main import main
from workbench.machine.presets import read_preset

presets = sys.modules[read_preset.__module__]  # the package has a function of its name
EACH = ("board", "machine", "node_machine", "translation_machine")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Presets' own folder, copied, so that the package's stays as it is."""
    for path in presets.FOLDER.glob("*/*.yaml"):
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(presets, "FOLDER", tmp_path)
    presets._preset.cache_clear()
    yield tmp_path
    presets._preset.cache_clear()


@pytest.mark.parametrize("kind", thinned(EACH, 3))
def test_what_is_written_names_all_figures_that_are_to_be_filled_in(kind: str, folder: Path) -> None:
    assert main(["new", "preset", kind, "my_card"]) == 0
    figures = list(presets.KIND_OF_MACHINE[kind].figures())
    (sentence,) = presets.unreadable_presets()
    assert sentence == f"my_card.yaml: figures have no value yet: {', '.join(figures)}."


def test_once_filled_in_it_is_listed_and_makes_a_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "preset", "machine", "my_card"]) == 0
    path = folder / "machine" / "my_card.yaml"
    text = path.read_text(encoding="utf-8")
    given = presets.preset("h100").figures
    for name in given:
        text = re.sub(rf"(\n  {name}:\n    value:)\n", rf"\g<1> {given[name].value}\n", text)
    path.write_text(text.replace('source: ""', 'source: "a test"'), encoding="utf-8")
    assert presets.unreadable_presets() == []
    assert presets.preset("my_card").machine() == presets.preset("h100").machine()
    assert len(presets.preset("my_card").doubtful()) == len(given)
    capsys.readouterr()
    assert main(["list", "presets"]) == 0
    assert "my_card" in capsys.readouterr().out


def test_one_figure_that_is_left_is_named(folder: Path) -> None:
    text = (folder / "machine" / "h100.yaml").read_text(encoding="utf-8")
    empty = re.sub(r"(clock_mhz:\n\s+value:)[^\n]*", r"\1", text)
    assert empty != text
    (folder / "machine" / "mine.yaml").write_text(empty, encoding="utf-8")
    assert presets.unreadable_presets() == ["mine.yaml: the figure clock_mhz has no value yet."]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["machin", "mine"], "unknown kind of machine 'machin'; there are board, machine, node_machine, "),
        (["machine", "My-Card"], "a preset's name must be words in small letters joined by _, such as my_card. Got"),
        (["machine", "h100"], "h100 is already a machine preset (workbench list presets h100); choose another name."),
        (["board", "h100"], "h100 is already a machine preset"),
    ],
)
def test_a_wrong_kind_or_name_writes_nothing(
    words: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.glob("*/*"))
    assert main(["new", "preset", *words]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")
    assert sorted(folder.glob("*/*")) == before
