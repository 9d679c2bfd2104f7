"""What `workbench` alone shows, and completion: both name only what the parsers know."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from workbench.cli.main import (
    COMMANDS,
    STARTS,
    _Parser,
    command_of,
    completion_script,
    find,
    main,
    options_of_commands,
    quickstart,
)

HERE, ELSEWHERE = Path(__file__).parents[2], Path("/nowhere")


@pytest.mark.parametrize("command", [command_of(start, folder) for start in STARTS for folder in (HERE, ELSEWHERE)])
def test_a_road_starts_with_a_command_that_parses(command):
    _, name, *words = shlex.split(command)
    parser = _Parser()
    find(name).add_arguments(parser)
    parser.parse_args(words)


def test_workbench_alone_shows_four_roads_in_80_columns(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(command_of(start) in text for start in STARTS)
    assert max(map(len, text.splitlines())) <= 80


def test_workbench_alone_names_no_file_that_is_not_there(tmp_path):
    assert "$ workbench run sweeps/placement/drain.yaml" in quickstart(HERE)
    assert "yours" not in quickstart(HERE)
    elsewhere = quickstart(tmp_path)
    assert "/" not in elsewhere
    assert "$ workbench dashboard shared_memory" in elsewhere
    assert elsewhere.endswith(
        "SWEEP.yaml and STUDY.yaml are files of yours; workbench schema says what\nmay stand in a sweep."
    )
    assert max(map(len, elsewhere.splitlines())) <= 80


def completed(*words: str) -> set[str]:
    asked = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _workbench; echo ${{COMPREPLY[@]}}"
    text = f"{completion_script('bash', options_of_commands())}\n{asked}"
    return set(subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split())


def test_bash_completes_commands_and_their_options():
    assert completed("workbench", "re") == {name for name in COMMANDS if name.startswith("re")}
    assert completed("workbench", "run", "--se") == {"--set", "--seeds"}


def test_fish_knows_every_command():
    text = completion_script("fish", options_of_commands())
    assert all(f"-a {name}" in text.splitlines()[k] for k, name in enumerate(COMMANDS))
