"""Every preset is complete, keeps simulators apart from cards, and agrees with what public traces record."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from tests.public_traces import needs_public_traces, path
from workbench.cli import main
from workbench.errors import InputError
from workbench.machine import (
    Machine,
    preset_for_device,
    presets,
    presets_holding,
    presets_table,
    unreadable_presets,
)
from workbench.machine.presets import DOUBTFUL, FOLDER, MARKS, preset, preset_names, read_preset
from workbench.workloads.importers import read_trace

preset_module = sys.modules[read_preset.__module__]  # the package has a function of its name
SEGMENTS = {
    "v100": 384, "a100": 1312, "h100": 1824, "vega10": 128, "mi250x": 128, "mi300x": 128, "mi350x": 128, "mi355x": 128,
    "h200": 1824, "b200": 1824, "gb200": 1824, "rx9070xt": 128,
    "mi300x_dpx": 128, "mi300x_qpx": 128, "mi300x_cpx": 128, "mi355x_dpx": 128, "mi355x_qpx": 128, "mi355x_cpx": 128,
    "mgpusim_r9_nano": 256, "mgpusim_mi300a": 256, "gem5": 128, "patent": 128, "patent_dispatch": 128,
}  # fmt: skip


def test_segments_are_the_shared_memory_over_the_granule():
    assert {row["name"]: row["segments"] for row in presets(Machine)} == SEGMENTS
    for name in SEGMENTS:
        figures = preset(name).figures
        assert SEGMENTS[name] * figures["granule_bytes"].value == figures["shared_memory_bytes"].value


BLOCKS = {  # of a SIMD: vgpr, sgpr, waves; of a unit: shared, workgroups, barriers
    "v100": (64, 0, 16, 384, 32, 0),
    "a100": (64, 0, 16, 1312, 32, 0),
    "h100": (64, 0, 16, 1824, 32, 0),
    "h200": (64, 0, 16, 1824, 32, 0),
    "b200": (64, 0, 16, 1824, 32, 0),
    "gb200": (64, 0, 16, 1824, 32, 0),
    "rx9070xt": (64, 0, 16, 128, 32, 16),
    **{f"mi300x_{mode}": (64, 50, 8, 128, 32, 16) for mode in ("dpx", "qpx", "cpx")},
    **{f"mi355x_{mode}": (64, 50, 8, 128, 32, 16) for mode in ("dpx", "qpx", "cpx")},
    "vega10": (64, 50, 10, 128, 40, 16),
    "mi250x": (64, 50, 8, 128, 32, 16),
    "mi300x": (64, 50, 8, 128, 32, 16),
    "mi350x": (64, 50, 8, 128, 32, 16),
    "mi355x": (64, 50, 8, 128, 32, 16),
    "mgpusim_r9_nano": (64, 50, 10, 256, 40, 0),
    "mgpusim_mi300a": (128, 50, 8, 256, 32, 0),
    "gem5": (512, 512, 10, 128, 16, 0),
    "patent": (64, 50, 10, 128, 16, 0),
    "patent_dispatch": (128, 64, 10, 128, 40, 0),
}
LABELS = ("vgpr", "sgpr", "waves", "shared", "workgroups", "barriers")


@pytest.mark.parametrize("name", preset_names(Machine))
def test_what_a_dispatcher_reserves_of_every_preset(name):
    machine = preset(name).machine()
    blocks = {resource.label: resource.blocks for resource in machine.resources()}
    assert tuple(blocks.get(label, 0) for label in LABELS) == BLOCKS[name]
    largest = -(-machine.vgprs_a_thread // machine.vgpr_granule)
    assert blocks["vgpr"] >= largest, "a wave of the hungriest threads must fit a SIMD"


def test_the_documents_dispatcher_is_the_one_that_speed_is_measured_on():
    machine = preset("patent_dispatch").machine()
    assert (machine.compute_units, machine.simds_a_unit) == (16, 4)
    assert machine.workgroups_a_unit == machine.waves_a_unit, "as many workgroups as waves never bind"


@pytest.mark.parametrize("name", preset_names())
def test_every_figure_has_a_source_and_a_mark(name):
    for figure in preset(name).figures.values():
        assert figure.mark in MARKS
        assert len(figure.source) > 10
    assert all(preset(name).figures[figure].mark in DOUBTFUL for figure in preset(name).doubtful())


def test_figures_nobody_checked_are_marked():
    assert "clock_mhz" in preset("mi300x").doubtful()
    assert "clock_mhz" not in preset("mi350x").doubtful()
    assert preset("gem5").doubtful()[0] == "granule_bytes"
    assert {row["name"]: row["doubtful_figures"] for row in presets(Machine)}["mi300x"] == 2


def test_simulators_are_kept_apart_from_cards():
    kinds = {row["name"]: row["kind"] for row in presets(Machine)}
    assert kinds.pop("patent") == kinds.pop("patent_dispatch") == "document"
    simulators = {"mgpusim_r9_nano", "mgpusim_mi300a", "gem5"}
    assert {name for name, kind in kinds.items() if kind == "simulator"} == simulators
    assert not simulators & set(presets_holding(1))


def test_a_device_name_finds_its_preset_and_no_other():
    assert preset_for_device("NVIDIA H100 80GB HBM3") == "h100"
    assert preset_for_device("AMD Instinct MI250X") == "mi250x"
    assert preset_for_device("Radeon Instinct MI25") == "vega10"
    assert preset_for_device("AMD Instinct MI300X VF") == "mi300x"
    assert preset_for_device("AMD Instinct MI210") is None
    assert preset_for_device("Radeon Pro V1000") is None


def test_what_holds_a_workgroup_counts_the_system_reserve():
    assert presets_holding(164 * 1024) == ["b200", "gb200", "h100", "h200"]
    assert "a100" in presets_holding(163 * 1024)
    assert presets_holding(1 << 20) == []


def test_the_tables_of_the_command():
    assert sorted(row["name"] for row in presets_table()) == preset_names()
    rows = {row["name"]: row for row in presets_table("mi355x")}
    assert rows["granule_bytes"]["value"] == 1280
    assert rows["granule_bytes"]["mark"] == "read"
    with pytest.raises(InputError, match="Did you mean h100"):
        presets_table("h10")


def _changed(tmp_path: Path, **changes):
    message = yaml.safe_load((FOLDER / "machine/v100.yaml").read_text())
    for key, value in changes.items():
        if value is None:
            del message["figures"][key]
        else:
            message["figures"][key] = value
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(message))
    return path


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clock_mhz": None}, "mine.yaml: the figure clock_mhz is missing."),
        ({"clock": {"value": 1}}, "mine.yaml: unknown figure 'clock'"),
        ({"clock_mhz": 1530}, "mine.yaml: figures.clock_mhz must be a mapping"),
        ({"clock_mhz": {"value": 1530, "mark": "read"}}, "mine.yaml: the figures.clock_mhz: key source is missing."),
        ({"clock_mhz": {"value": 1530, "mark": "sure", "source": "x"}}, "mine.yaml: unknown mark of figures.clock_mhz"),
        ({"clock_mhz": {"value": -1, "mark": "read", "source": "x"}}, "mine.yaml: figures.clock_mhz.value must be"),
        (
            {"shared_memory_bytes": {"value": "x", "mark": "read", "source": "x"}},
            "mine.yaml: figures.shared_memory_bytes",
        ),
    ],
)
def test_a_preset_that_is_not_complete_is_refused(tmp_path, changes, says):
    with pytest.raises(InputError) as refusal:
        read_preset(_changed(tmp_path, **changes), Machine)
    assert str(refusal.value).startswith(says)


def test_a_key_that_comes_twice_is_refused(tmp_path):
    (tmp_path / "mine.yaml").write_text("title: a\ntitle: b\n")
    with pytest.raises(InputError, match="comes twice"):
        read_preset(tmp_path / "mine.yaml", Machine)


CARDS = [
    ("kineto/tracelens_h100_bert_small.json.gz", "h100"),
    ("kineto/hta_v100_memory_events.json.gz", "v100"),
    ("kineto/hta_a100_alexnet.json.gz", "a100"),
    ("kineto/tracelens_mi300x_timesformer.json.gz", "mi300x"),
    ("rocm/rocprofv3_mi355x_part1.json.gz", "mi350x"),
]


@pytest.mark.slow
@needs_public_traces
@pytest.mark.parametrize(("file", "name"), CARDS)
def test_what_a_card_said_of_itself_in_a_trace_is_what_its_preset_says(file, name):
    card, machine = read_trace(path(file)).cards[0], preset(name).machine()
    assert preset_for_device(card.name) == name
    assert (card.compute_units, card.wave_size) == (machine.compute_units, machine.wave_size)
    assert card.shared_memory_bytes == machine.shared_memory_bytes
    assert card.waves_a_unit == machine.waves_a_unit
    if machine.wave_size == 32:
        assert card.registers_a_unit == machine.vgprs_a_unit


@pytest.fixture
def with_bad_files(monkeypatch, tmp_path):
    """The presets of the package beside three files that are none."""
    shutil.copytree(FOLDER, tmp_path / "presets")
    cards = tmp_path / "presets" / "machine"
    whole = yaml.safe_load((cards / "h100.yaml").read_text())
    half = {**whole, "figures": {"compute_units": whole["figures"]["compute_units"]}}
    (cards / "half.yaml").write_text(yaml.safe_dump(half))
    (cards / "aaa_torn.yaml").write_text("title: [")
    (cards / "named.yaml").write_text(yaml.safe_dump({**whole, "devices": 5}))
    monkeypatch.setattr(preset_module, "FOLDER", tmp_path / "presets")
    preset_module._preset.cache_clear()
    yield len(set(whole["figures"]) - set(Machine.may_omit)) - 1
    preset_module._preset.cache_clear()


@pytest.mark.slow
def test_a_file_that_is_no_preset_hides_no_other_and_says_all_that_it_lacks(with_bad_files, capsys):
    assert {row["name"]: row["segments"] for row in presets(Machine)} == SEGMENTS
    assert preset_for_device("Tesla V100-SXM2-32GB") == "v100"
    assert presets_holding(100_000)[-1] == "h200"
    torn, half, named = unreadable_presets(Machine)
    assert "aaa_torn.yaml: line 1: is not YAML" in torn
    assert half.startswith("half.yaml: figures are missing: ")
    assert half.count(",") == with_bad_files - 1
    assert named.startswith("named.yaml: devices must be a list")
    assert main(["list", "presets"]) == 0
    assert "half.yaml: figures are missing" in capsys.readouterr().out.replace("\n", " ")
    assert main(["list", "presets", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unreadable"] == [torn, half, named]
    with pytest.raises(InputError, match=r"half\.yaml: figures are missing"):
        preset("half")
