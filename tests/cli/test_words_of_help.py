"""The words that people try first: `help`, `version`, `-V`; and options that a command passes on to another program."""

from __future__ import annotations

from contextlib import suppress

import pytest

from workbench.cli import _browser
from workbench.cli.main import main
from workbench.version import __version__


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with suppress(SystemExit):
        assert main(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", [[], ["run"], ["list"], ["list", "presets"], ["open", "lab"]])
def test_help_of_a_command_is_what_its_option_prints(command, capsys):
    assert printed(["help", *command], capsys) == printed([*command, "--help"], capsys)


def test_help_of_an_unknown_command_guesses(capsys):
    assert main(["help", "rnu"]) == 2
    assert "unknown command 'rnu'" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["version", "--version", "-V"])
def test_each_word_for_the_version_prints_it(word, capsys):
    assert printed([word], capsys) == f"{__version__}\n"


@pytest.mark.parametrize(
    ("user", "words", "options"),
    [
        (1000, [], ["--port=8888"]),
        (0, [], ["--port=8888", "--allow-root"]),
        (0, ["--port", "9", "--no-browser"], ["--port=9", "--no-browser", "--allow-root"]),
        (1000, ["--port=9", "--ip=0.0.0.0", "--port", "7"], ["--port=9", "--ip=0.0.0.0", "--port", "7"]),
        (1000, ["-y", "--debug"], ["--port=8888", "-y", "--debug"]),
        (1000, ["--", "--port=7"], ["--port=8888", "--port=7"]),
    ],
)
def test_open_lab_passes_on_the_options_that_are_not_its_own(user, words, options, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(_browser, "run_supervised", lambda command: started.append(command) or 0)
    monkeypatch.setattr(_browser.os, "geteuid", lambda: user)
    assert main(["open", "lab", str(tmp_path), *words]) == 0
    assert [word for word in started[0][3:] if word not in _browser.QUIET] == [*options, str(tmp_path)]
    assert {*_browser.QUIET} <= {*started[0]}
