"""Every cheap command that prints for a person keeps to 80 columns; wider, and as CSV, where it is told to."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench.cli import _bench as bench
from workbench.cli._output import cell, table_lines
from workbench.cli.commands import COMMANDS
from workbench.cli.main import main

SWEEP = "sweeps/placement/drain.yaml"
CHEAP = (
    "list policies",
    "list policies placement",
    "list levers nearest_boundary",
    "list levers tie",
    "list measures",
    "list measures drain_cycles",
    "list figures",
    "list figures scenario_discovery",
    "list workloads",
    pytest.param("list presets", marks=pytest.mark.slow),
    "list presets h100",
    "list presets dgx_h100",
    "figure",
    "doctor",
    "trace import --list",
    f"plan {SWEEP}",
    "plan sweeps/where/placement_box.yaml",
    "circuit synth exact_run",
)
MACHINE_FORMATS = {"list schema", "circuit write", "completion"}
"""They print a file of another program."""


@pytest.fixture(autouse=True)
def _eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def is_to_copy(line):
    """Whether a line is a command to be copied whole."""
    return line.strip().startswith("$ ")


@pytest.mark.parametrize("command", CHEAP)
def test_every_line_fits_80_columns(command, capsys):
    assert main(command.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80 and not is_to_copy(line)] == []


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in MACHINE_FORMATS])
def test_every_help_fits_80_columns(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    wide = [line for line in capsys.readouterr().out.splitlines() if len(line) > 80]
    assert wide == []


def test_a_table_is_whole_in_csv_and_on_one_line_a_row_when_wide(tmp_path, capsys):
    assert main(["list", "presets", "--csv", str(tmp_path / "all.csv"), "--wide"]) == 0
    wide = capsys.readouterr().out.splitlines()
    table = pd.read_csv(tmp_path / "all.csv")
    assert len(wide) == len(table) + 1
    assert max(map(len, wide)) > 200


def test_what_bench_measured_fits_80_columns_and_is_whole_in_csv(tmp_path, capsys, monkeypatch):
    row = {"name": "place_free", "ratio": 0.904, "unit": "operations", "reference": "words of it " * 12}

    class Suite:
        BENCHMARKS = ("place_free",)
        LEGEND = ("ratio: above 1 the workbench is faster",)

        def run(self, names):
            return [row for _ in names]

    monkeypatch.setattr(bench, "_benchmarks", Suite)
    assert main(["bench", "--csv", str(tmp_path / "ratios.csv")]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    assert pd.read_csv(tmp_path / "ratios.csv").to_dict("records") == [row]
    assert main(["bench", "--wide"]) == 0
    *table, legend = capsys.readouterr().out.splitlines()
    assert (len(table), legend) == (2, Suite.LEGEND[0])


@pytest.mark.parametrize("width", [48, 60, 80, 200])
def test_a_table_keeps_every_word_at_any_width(width):
    words = "takes the lowest of all places that are long enough"
    table = pd.DataFrame({"policy": ["first_fit", "best"], "says": [words, "x"], "mean": [1234.0, 0.12345]})
    for wide in (table, table.assign(**{f"more_{k}": words for k in range(3)})):
        lines = list(table_lines(wide, width))
        assert max(map(len, lines)) <= width
        assert {*words.split(), "1,234", "0.123"} <= {part.strip(";") for line in lines for part in line.split()}


def test_digits_are_those_of_a_person():
    assert cell("capacity_bytes", 233472) == "233,472"
    assert cell("p_size", 0.000012) == "<0.001"
    assert cell("quasi_p", 0.0271) == "0.027"
    assert cell("mean", 5452.83) == "5,453"
