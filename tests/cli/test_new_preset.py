"""`workbench new preset`: a file to fill in, which the listing names while it is not, and shows once it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import jsonschema
import pytest
import yaml

import workbench as wb
from tests.slow import thinned
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.schema import sweep_schema
from workbench.experiments.setups import read_machine
from workbench.experiments.sweep import read_sweep, with_files
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", thinned(EACH, 3))
def test_what_is_written_names_all_figures_that_are_to_be_filled_in(kind: str, folder: Path) -> None:
    assert main(["new", "preset", kind, "my_card", "--into", str(folder / kind)]) == 0
    figures = list(presets.KIND_OF_MACHINE[kind].figures())
    (sentence,) = presets.unreadable_presets()
    assert sentence == f"my_card.yaml: figures have no value yet: {', '.join(figures)}."


def filled_in(path: Path) -> Mapping[str, presets.Figure]:
    """Give every figure of a preset's file the value that the H100 has, and return those figures."""
    text, given = path.read_text(encoding="utf-8"), presets.preset("h100").figures
    for name in given:
        value = list(given[name].value) if isinstance(given[name].value, tuple) else given[name].value
        text = re.sub(rf"(\n  {name}:\n    value:)\n", rf"\g<1> {value}\n", text)
    path.write_text(text.replace('source: ""', 'source: "a test"'), encoding="utf-8")
    return given


@pytest.mark.slow
def test_once_filled_in_it_is_listed_and_makes_a_machine(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "preset", "machine", "my_card", "--into", str(folder / "machine")]) == 0
    path = folder / "machine" / "my_card.yaml"
    given = filled_in(path)
    assert presets.unreadable_presets() == []
    assert presets.preset("my_card").machine() == presets.preset("h100").machine()
    assert len(presets.preset("my_card").doubtful()) == len(given)
    capsys.readouterr()
    assert main(["list", "presets"]) == 0
    assert "my_card" in capsys.readouterr().out


@pytest.mark.slow
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
    assert main(["new", "preset", *words, "--into", str(folder / "mine")]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")
    assert not (folder / "mine").exists()


SWEEP = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 1}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that holds a preset of one's own, as large as an H100, and another to work in."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert main(["new", "preset", "machine", "my_card"]) == 0
    return here


def test_a_file_beside_the_sweep_is_a_machine(beside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled_in(beside / "my_card.yaml")
    varied = ["h100", "my_card.yaml", {"preset": "my_card.yaml", "segments": 96}]
    (beside / "sweep.yaml").write_text(yaml.safe_dump({**SWEEP, "machine": {"vary": varied}}))
    monkeypatch.chdir("/")
    sweep = read_sweep(beside / "sweep.yaml")
    same, fewer = make_plan(sweep).points
    assert same.setup.machine == presets.preset("h100").machine()
    assert (fewer.setup.machine.segments, fewer.coordinates["machine"]) == (96, "preset=my_card.yaml, segments=96")
    kept = with_files(sweep.config, beside, lambda path: f"inputs/{path.name}")
    assert kept["machine"]["vary"][1:] == ["inputs/my_card.yaml", {"preset": "inputs/my_card.yaml", "segments": 96}]


@pytest.mark.slow
def test_a_part_of_a_node_and_the_schema_take_one_too(beside: Path) -> None:
    filled_in(beside / "my_card.yaml")
    said = {"board": "dgx_1v", "card": "my_card.yaml", "translation": "h100_tlb"}
    node = read_machine(presets.KIND_OF_MACHINE["node_machine"], said, beside)
    assert node.card == presets.preset("h100").machine()
    check = jsonschema.Draft202012Validator(sweep_schema())
    for machine in ("my_card.yaml", {"preset": "my_card.yaml", "segments": 96}):
        assert check.is_valid({**SWEEP, "machine": machine})
        assert not check.is_valid({**SWEEP, "machine": {"preset": "my_card", "segments": 96}})


def test_commands_take_one_too(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "presets", "my_card.yaml"]) == 2
    assert capsys.readouterr().err.startswith(
        "workbench: my_card.yaml: figures have no value yet: shared_memory_bytes, "
    )
    filled_in(beside / "my_card.yaml")
    assert main(["list", "presets", "my_card.yaml"]) == 0
    assert "vgpr_granule" in capsys.readouterr().out


def test_a_page_opens_with_a_sweep_of_one(beside: Path) -> None:
    filled_in(beside / "my_card.yaml")
    Path("sweep.yaml").write_text(yaml.safe_dump({**SWEEP, "machine": "my_card.yaml"}))
    page = wb.dashboard("sweep.yaml")
    assert page.sidebar.config()["machine"] == {"preset": "h100", "segments": 1824}
    page.close()


def test_a_file_that_is_not_there_or_is_another_kind_is_a_sentence(beside: Path) -> None:
    with pytest.raises(InputError, match=r"machine: the preset's file my_crd.yaml does not exist \(looked in "):
        make_plan(read_sweep({**SWEEP, "machine": "my_crd.yaml"}))
    filled_in(beside / "my_card.yaml")
    with pytest.raises(
        InputError, match=r"my_card.yaml: unknown figure 'shared_memory_bytes'; there are cards, link_types, links"
    ):
        make_plan(read_sweep({"engine": "pool", "workload": "two_jobs", "seeds": 1, "machine": "my_card.yaml"}))
