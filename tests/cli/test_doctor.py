"""`workbench doctor`: what is here is said, what is not has a command that brings it, and nothing is guessed."""

import json

import numpy
import pytest

import workbench as wb
from workbench.cli import doctor_checks, main
from workbench.experiments import warm


def test_versions_room_and_what_is_missing(capsys):
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert f"workbench {wb.__version__}" in text and f"numpy {numpy.__version__}" in text
    for check in doctor_checks.checks():
        assert f"{check.name:<18} " in text
        assert (f"  {check.name}, for {check.used_for}:" in text) == (not check.there)


def test_json_holds_every_check(capsys):
    assert main(["doctor", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["checks"]
    assert [row["name"] for row in rows] == [check.name for check in doctor_checks.checks()]


def test_nothing_on_the_path_is_named_with_what_brings_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("WORKBENCH_TRACES", str(tmp_path / "nowhere"))
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for name, cure in (("TeX", "texlive-latex-base"), ("browser", "chromium"), ("Icarus Verilog", "iverilog")):
        assert f"--  {name:<18} not here" in text and f"apt-get install {cure}" in text
    assert "let WORKBENCH_TRACES name" in text


@pytest.mark.parametrize("package", ["optuna", "numpy"])
def test_a_package_that_is_not_installed_is_named(monkeypatch, package):
    known = doctor_checks._version
    monkeypatch.setattr(doctor_checks, "_version", lambda name: "" if name == package else known(name))
    check = next(check for check in doctor_checks.checks() if check.name == "packages")
    assert not check.there and check.cure == f"pip install {package}" and f"{package} missing" in check.state


def test_compiled_engines_are_those_that_were_warmed(monkeypatch, tmp_path):
    monkeypatch.setattr(warm, "_folder", lambda: tmp_path)
    assert warm.compiled_engines() == []
    (tmp_path / "pool.warm").touch()
    assert warm.compiled_engines() == ["pool"]
