"""What a killed export leaves is taken away by the next one; what lives, or is not ours, stays."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.export.small import runs
from workbench.export._whole_folder import OWNED, owned
from workbench.export.manifest import digests

WHILE_WRITING = """
import sys, time
from pathlib import Path
import workbench.export.bundle as room
from tests.export.small import runs

def hang(*args):
    print("here", flush=True)
    time.sleep(600)  # stands for a kill just here

room.write_manifest = hang
runs(seeds=1).export(sys.argv[1])
"""


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


def killed_between_renames(results, to):
    """Export in a copy of this process and kill it when the old bundle is set aside, the new one not yet there."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        rename = os.rename

        def hang(old, new):
            if str(new).endswith(".old"):
                rename(old, new)
            else:
                os.write(writes, b"here")
                time.sleep(600)  # stands for a kill just here

        os.rename = hang
        try:
            results.export(to)
        finally:
            os._exit(1)
    os.close(writes)
    with open(reads, "rb") as hangs:
        assert hangs.read(4) == b"here"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


@pytest.mark.slow
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
    killed_between_renames(results, bundle)
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
