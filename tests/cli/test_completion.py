"""What `workbench` alone shows, and completion: both name only what the parsers know."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from workbench.cli._completion import completion_script
from workbench.cli.commands import GROUPS, first_words, kinds, resolved
from workbench.cli.main import STARTS, _Parser, command_of, main, quickstart

HERE, ELSEWHERE = Path(__file__).parents[2], Path("/nowhere")


@pytest.mark.parametrize("command", [command_of(start, folder) for start in STARTS for folder in (HERE, ELSEWHERE)])
def test_a_road_starts_with_a_command_that_parses(command):
    parser = _Parser()
    named, words = resolved(shlex.split(command)[1:])
    named.add_arguments(parser)
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
    assert "$ workbench open dashboard shared_memory" in elsewhere
    assert elsewhere.endswith(
        "SWEEP.yaml and STUDY.yaml are files of yours: workbench new project NAME writes\n"
        "some to begin with, workbench list schema says what may stand in a sweep."
    )
    assert max(map(len, elsewhere.splitlines())) <= 80


def completed(*words: str) -> set[str]:
    asked = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _workbench; echo ${{COMPREPLY[@]}}"
    text = f"{completion_script('bash')}\n{asked}"
    return set(subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split())


def test_bash_completes_commands_and_their_options():
    assert completed("workbench", "") == {*first_words()}
    assert completed("workbench", "run", "--se") == {"--set", "--seeds"}
    assert completed("workbench", "bench", "x", "--w") == {"--wide"}


def test_bash_completes_the_kinds_of_a_command_and_the_options_of_each():
    assert completed("workbench", "circuit", "") == {"write", "synth", "prove"}
    assert completed("workbench", "list", "p") == {"packages", "policies", "presets"}
    assert completed("workbench", "circuit", "prove", "--s") == {"--size", "--seconds"}
    assert completed("workbench", "list", "presets", "h100", "--w") == {"--wide"}


def test_fish_knows_every_command_its_kinds_and_its_options():
    lines = completion_script("fish").splitlines()
    assert all(f"-a {word}" in line for word, line in zip(first_words(), lines, strict=False))
    seen = "__fish_seen_subcommand_from"
    for group in GROUPS:
        assert any(f"{seen} {group}; and not" in line and f"-a '{' '.join(kinds(group))}'" in line for line in lines)
    assert f"complete -c workbench -n '{seen} circuit; and {seen} prove' -l seconds" in lines


def test_there_are_at_most_twenty_five_commands_and_help_fits_80_columns(capsys):
    assert len(first_words()) <= 25
    for words in (["--help"], *([group, "--help"] for group in GROUPS)):
        assert main(words) == 0
        lines = capsys.readouterr().out.splitlines()
        listed = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
        assert listed == (kinds(words[0]) if words[1:] else first_words())
        assert max(map(len, lines[:-1])) <= 80


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["list"],
            "workbench list takes one of policies, measures, figures, workloads, levers, presets, packages, schema.",
        ),
        (["circuit"], "workbench circuit takes one of write, synth, prove. See: workbench circuit --help"),
        (["list", "polices"], "unknown list command 'polices'; there are figures, levers"),
        (["lst"], "Did you mean list?"),
    ],
)
def test_a_command_that_is_half_or_wrong_is_one_sentence(words, sentence, capsys):
    assert main(words) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1
