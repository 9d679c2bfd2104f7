"""Serving a dashboard: the command, the notebook, the template, what is refused."""

from __future__ import annotations

import json
import socket
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest

from workbench.dashboards import voila_server
from workbench.dashboards.page_access import token_of
from workbench.dashboards.served_notebook import notebook_of
from workbench.errors import InputError

ROOT = Path(__file__).parent.parent.parent
TEMPLATE = ROOT / "workbench/dashboards/share/jupyter/voila/templates/offline"


def test_voila_listens_on_this_host_alone_with_the_offline_template():
    command = voila_server.voila_command(Path("x.ipynb"), 8866, open_browser=False)
    assert command[:4] == [sys.executable, "-m", "workbench.dashboards.admission", "x.ipynb"]
    assert {"--Voila.ip=127.0.0.1", "--port=8866", "--template=offline", "--no-browser"} <= set(command)
    assert {"--PageKernels.most_pages=8", "--Voila.port_retries=0"} <= set(command)
    assert "--no-browser" not in voila_server.voila_command(Path("x.ipynb"), 8866, open_browser=True)


def test_the_notebook_is_valid_and_shows_the_dashboard(tmp_path):
    notebook = nbformat.reads(json.dumps(notebook_of("shared_memory", tmp_path)), 4)
    nbformat.validate(notebook)
    (cell,) = notebook.cells
    assert cell.source.endswith("wb.dashboard('shared_memory')")
    assert str(tmp_path) in cell.source


def test_voila_finds_our_template_in_a_source_tree_and_beside_others(monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", "/elsewhere")
    first, *others = voila_server.environment("t")["JUPYTER_PATH"].split(":")
    assert Path(first, "voila/templates/offline/index.html.j2").is_file()
    assert others == ["/elsewhere"]


def test_the_wheel_carries_the_template_to_where_voila_looks():
    message = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shared = message["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    (source,) = (source for source, place in shared.items() if place == "share/jupyter/voila")
    assert ROOT / source / "templates/offline" == TEMPLATE


@pytest.mark.slow
def test_voila_itself_finds_the_template(monkeypatch):
    from voila.paths import collect_template_paths

    monkeypatch.setenv("JUPYTER_PATH", voila_server.environment("t")["JUPYTER_PATH"])
    assert str(TEMPLATE) in collect_template_paths(["voila", "nbconvert"], "offline")


def test_a_taken_port_is_a_sentence():
    with socket.socket() as taken:
        taken.bind((voila_server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} of .* cannot be used; choose another with --port\."):
            voila_server.free_port(port)


@pytest.mark.parametrize("port", [-1, 70_000])
def test_what_is_no_port_is_a_sentence(port):
    with pytest.raises(InputError, match="cannot be used"):
        voila_server.free_port(port)


def test_port_0_is_any_free_one():
    assert voila_server.free_port(0) > 1024


def test_an_unknown_dashboard_is_refused_before_anything_starts(monkeypatch):
    monkeypatch.setattr(voila_server, "run_supervised", lambda *given: pytest.fail("Voila was started"))
    with pytest.raises(InputError, match="unknown dashboard 'nothing'"):
        voila_server.serve("nothing", port=0, open_browser=False)


def test_the_notebook_is_gone_when_voila_has_ended(monkeypatch):
    seen = []
    monkeypatch.setattr(voila_server, "run_supervised", lambda command, env: seen.append(Path(command[3])) or 7)
    assert voila_server.serve("shared_memory", port=0, open_browser=False) == 7
    assert not seen[0].exists()


def test_the_token_reaches_the_server_by_its_environment_alone(monkeypatch):
    calls = []
    monkeypatch.setattr(voila_server, "run_supervised", lambda command, env: calls.append((command, env)) or 0)
    voila_server.serve("shared_memory", port=0, open_browser=False, token="secret")
    ((command, env),) = calls
    assert env["JUPYTER_TOKEN"] == "secret"
    assert "secret" not in " ".join(command)


def test_a_token_is_given_or_of_jupyters_variables_or_new(monkeypatch, tmp_path):
    monkeypatch.delenv("JUPYTER_TOKEN", raising=False)
    file = tmp_path / "token"
    file.write_text("of the file\n")
    monkeypatch.setenv("JUPYTER_TOKEN_FILE", str(file))
    assert token_of(None) == "of the file"
    monkeypatch.setenv("JUPYTER_TOKEN", "of the variable")
    assert token_of(None) == "of the variable"
    assert token_of("given") == "given"


def test_an_empty_token_switches_nothing_off(monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_TOKEN", "")
    monkeypatch.delenv("JUPYTER_TOKEN_FILE", raising=False)
    first, second = token_of(None), token_of(None)
    assert len(first) >= 32
    assert first != second
    (tmp_path / "empty").write_text("\n")
    monkeypatch.setenv("JUPYTER_TOKEN_FILE", str(tmp_path / "empty"))
    assert len(token_of(None)) >= 32
    for given in ("", "  "):
        with pytest.raises(InputError, match="--token is empty, and no dashboard is served without one"):
            token_of(given)
    monkeypatch.setenv("JUPYTER_TOKEN_FILE", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"JUPYTER_TOKEN_FILE names .*missing, which cannot be read"):
        token_of(None)


def test_no_pages_at_once_is_a_sentence(monkeypatch):
    monkeypatch.setattr(voila_server, "run_supervised", lambda *given: pytest.fail("Voila was started"))
    with pytest.raises(InputError, match=r"--pages: .* must be 1 or more\. Got 0\."):
        voila_server.serve("shared_memory", port=0, open_browser=False, pages=0)
