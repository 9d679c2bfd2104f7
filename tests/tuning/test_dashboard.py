"""One command shows a study in the browser, from its journal or its database, and ends when it is told to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import pytest
import yaml

from tests.tuning.small import small
from tests.waiting import wait_until
from workbench.cli import main
from workbench.tuning import read_study, tune
from workbench.tuning.dashboard import CLOSED, Kept, dashboard_command

TOKEN = "opens me"


def free_port():
    with socket.socket() as requested:
        requested.bind(("127.0.0.1", 0))
        return requested.getsockname()[1]


def answer(browser, port, path):
    """What the dashboard says to a browser, as soon as it says anything."""

    def message():
        with (
            contextlib.suppress(OSError),
            browser.open(f"http://127.0.0.1:{port}{path}", timeout=60) as message,
        ):
            return message.read()

    return wait_until(message, what=f"an answer to {path}")


def interrupted(displayed):
    """What it has said when it ends at the first Ctrl-C."""
    displayed.send_signal(signal.SIGINT)
    try:
        return displayed.communicate(timeout=120)[0]
    finally:
        displayed.kill()


@pytest.mark.parametrize("kind", ["journal", pytest.param("sqlite", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_it_answers_on_its_port_until_it_is_interrupted(tmp_path, kind):
    study = small(storage={"journal": None, "sqlite": f"sqlite:///{tmp_path / 'study.db'}"}[kind])
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    tune(tmp_path / "mine.yaml", tmp_path / "out", 3)
    port = free_port()
    words = ["tune", "mine.yaml", "--out", "out", "--dashboard", "--port", str(port), "--token", TOKEN]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    displayed = subprocess.Popen(
        [sys.executable, "-m", "workbench.cli", *words],
        cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    try:
        assert b"<html" in answer(browser, port, "/dashboard?token=opens%20me")
        (result,) = json.loads(answer(browser, port, "/api/studies"))["study_summaries"]
        trials = json.loads(answer(browser, port, f"/api/studies/{result['study_id']}"))["trials"]
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api/studies", timeout=60)
    finally:
        message = interrupted(displayed)
    assert (result["study_name"], result["directions"]) == ("mine", ["minimize", "minimize"])
    assert [trial["state"] for trial in trials] == ["Complete"] * 3
    assert displayed.returncode == 0
    assert message == f"http://127.0.0.1:{port}/dashboard?token=opens%20me (Ctrl-C ends it)\n"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 1)


def replied(kept, query="", cookie="", path="/api/studies", method="GET"):
    """The status, the headers and the body that an application of the study's answers with."""
    environ = {"QUERY_STRING": query, "HTTP_COOKIE": cookie, "PATH_INFO": path, "REQUEST_METHOD": method}
    setup_testing_defaults(environ)
    begun = []
    body = b"".join(kept(environ, lambda *given: begun.append(given)))
    return begun[0][0], dict(begun[0][1]), body.decode()


def test_a_study_answers_nobody_without_its_token_or_the_cookie_that_is_given_for_it():
    def application(environ, start):
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"trials"]

    kept = Kept(application, "sécret", 8080)
    status, headers, body = replied(kept, "token=s%C3%A9cret")
    cookie, *rules = headers["Set-Cookie"].split("; ")
    assert (status, body, headers["Referrer-Policy"]) == ("200 OK", "trials", "no-referrer")
    assert rules == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert cookie.startswith("workbench-study-8080=") and "sécret" not in cookie
    for others in ("", "_xsrf=2|a; theme={x:1}; "):
        status, headers, body = replied(kept, cookie=f"{others}{cookie}")
        assert (status, body) == ("200 OK", "trials")
        assert "Set-Cookie" not in headers
    wrong = [{}, {"query": "token="}, {"query": "token=secret"}, {"cookie": "workbench-study-8080="},
             {"cookie": cookie[:-1]}, {"cookie": cookie.replace("8080", "8081")}, {"path": "/static/bundle.js"},
             {"method": "DELETE"}, {"query": "token=\ud800"}]  # fmt: skip
    for given in wrong:
        status, headers, body = replied(kept, **given)
        assert (status, body, "Set-Cookie" in headers) == ("403 Forbidden", CLOSED, False), given
    assert replied(Kept(application, "sécret", 8080), cookie=cookie)[0] == "403 Forbidden"


@pytest.mark.parametrize(
    ("storage", "command"),
    [
        (None, "optuna-dashboard out/study.journal"),
        ("sqlite:///a.db", "optuna-dashboard sqlite:///a.db"),
        ("postgresql://ada:secret@db/x", "optuna-dashboard postgresql+psycopg://ada@db/x"),
    ],
)
def test_the_command_that_a_study_ends_with(storage, command):
    assert dashboard_command(read_study(small(storage=storage)), Path("out")) == command


@pytest.mark.parametrize("storage", [None, "sqlite:///a.db"])
def test_a_study_that_was_not_begun_is_one_sentence(tmp_path, monkeypatch, capsys, storage):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(yaml.safe_dump(small(storage=storage)))
    assert main(["tune", "mine.yaml", "--out", "out", "--dashboard"]) == 2
    file = "a.db" if storage else "out/study.journal"
    assert capsys.readouterr().err == f"workbench: {file} holds no study yet; tune it first.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_port_that_is_taken_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(yaml.safe_dump(small()))
    tune("mine.yaml", "out", 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["tune", "mine.yaml", "--out", "out", "--dashboard", "--port", str(port)]) != 0
    assert f"workbench: port {port} cannot be used: Address already in use" in capsys.readouterr().err
