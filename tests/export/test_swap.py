"""What a killed export leaves is taken away by the next one; what lives, or is not ours, stays."""

import os
import signal
import subprocess
import sys

import pytest

from tests.depth import long
from tests.export.small import runs
from workbench.export.bundle import OWNED, digests, owned

HANGS = """
import sys, time
from pathlib import Path
import workbench.export.{module} as room
from tests.export.small import runs
from tests.depth import long

def hang(*args):
    print("here", flush=True)
    time.sleep(600)  # stands for a kill just here

{patch}
runs(seeds=1).export(sys.argv[1])
"""
WHILE_WRITING = HANGS.format(module="bundle", patch="room.write_manifest = hang")
BETWEEN_RENAMES = HANGS.format(
    module="bundle",
    patch="real = room.os.rename\nroom.os.rename = lambda a, b: real(a, b) if str(b).endswith('.old') else hang()",
)


@pytest.fixture(scope="module")
def results():
    return runs(seeds=1)


def started(script, to):
    process = subprocess.Popen([sys.executable, "-c", script, str(to)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    return process


def killed(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@long
def test_a_killed_export_is_tidied_up_and_a_live_one_left_alone(results, tmp_path):
    process = started(WHILE_WRITING, tmp_path / "paper")
    left = f".paper.{process.pid}"
    results.export(tmp_path / "paper")
    assert hidden(tmp_path) == [left]
    killed(process)
    results.export(tmp_path / "other")
    assert hidden(tmp_path) == [left]
    bundle = results.export(tmp_path / "paper")
    assert hidden(tmp_path) == [] and not (bundle / OWNED).exists()


def test_a_bundle_that_was_set_aside_comes_back_with_what_a_researcher_wrote(results, tmp_path):
    bundle = results.export(tmp_path / "paper")
    (bundle / "main.tex").write_text("my paper")
    killed(started(BETWEEN_RENAMES, bundle))
    assert not bundle.exists() and len(hidden(tmp_path)) == 2
    results.export(bundle)
    assert (bundle / "main.tex").read_text() == "my paper"
    assert hidden(tmp_path) == [] and OWNED not in digests(bundle) and not (bundle / OWNED).exists()


def test_what_is_not_ours_stays(results, tmp_path):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    names = (f".paper.{int(gone.stdout)}", f".paper.{int(gone.stdout)}.old", ".paper.draft", ".papers.1")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.tex").write_text("x")
    (tmp_path / f".paper.{os.getppid()}").mkdir()
    with owned(tmp_path / f".paper.{os.getppid()}"):
        results.export(tmp_path / "paper")
    assert hidden(tmp_path) == sorted([*names, f".paper.{os.getppid()}"])
