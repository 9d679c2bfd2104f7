"""The service and its clients as real processes: shared regions, kills of either, and who may connect."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pool_service.conftest import SMALL, soon
from workbench.errors import WorkbenchError
from workbench.pool_service import PoolClient, Refused
from workbench.pool_service.arenas import attach_arena
from workbench.pool_service.folder import ServiceFolder, running_service, start_service

ROOT = Path(__file__).parents[2]


class App:
    """An application in a process of its own."""

    def __init__(self, folder, card="gpu0"):
        words = [sys.executable, "-m", "tests.pool_service.app", str(folder), card]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, cwd=ROOT, **pipes)
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def does(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        message = self.process.stderr.read()
        assert self.process.wait(120) == 0
        assert message == "", "nothing is leaked, nothing is tracked that is not its own"

    def kill(self):
        self.process.kill()
        self.process.wait(120)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


@pytest.mark.slow
def test_two_processes_share_a_region_and_a_killed_one_gives_back_what_it_held(folder):
    with running_service(folder, SMALL) as service, PoolClient(folder, "gpu1") as watch:
        one, other = App(folder), App(folder, "gpu1")
        region, card = one.does("alloc 4096").split()
        assert card == "gpu0"
        one.does(f"write {region} hello")
        assert other.does(f"open {region}") == f"{region} gpu0"
        assert other.does(f"read {region}") == "hello"
        own, _ = one.does("alloc 1000").split()
        assert watch.state("gpu0") == (5096, 0)
        one.kill()
        assert soon(lambda: watch.state("gpu0") == (4096, 1000)), "what the other holds too stays"
        assert other.does(f"read {region}") == "hello"
        assert other.does(f"open {own}").startswith("Refused there is no region")
        other.end()
        assert soon(lambda: watch.state("gpu0") == (0, 5096))
        with pytest.raises(WorkbenchError, match=r"^[^ ]*: a service runs in this folder already"):
            start_service(folder, SMALL)
        arena = ServiceFolder(folder).description().arenas[1]
    assert service.wait(120) == 0
    assert attach_arena(arena) is None
    assert sorted(path.name for path in folder.iterdir()) == ["lock"]


@pytest.mark.slow
def test_a_killed_service_loses_no_byte_of_those_who_live_and_takes_back_what_the_dead_held(folder):
    service = start_service(folder, SMALL)
    living, dying = App(folder), App(folder)
    region, _ = living.does("alloc 4096").split()
    living.does(f"write {region} kept")
    dying.does("alloc 2000")
    service.send_signal(signal.SIGKILL)
    service.wait(120)
    service.stdout.close()
    assert living.does(f"read {region}") == "kept", "the memory is the client's, service or not"
    dying.kill()
    with running_service(folder, SMALL), PoolClient(folder, "gpu1") as watch:
        assert soon(lambda: watch.state("gpu0")[0] == 4096), "the dead one's region came back, the living one's stayed"
        other, _ = living.does("alloc 100").split()
        assert other != region
        assert living.does(f"read {region}") == "kept"
        assert bytes(watch.open(int(region)).memory[:4]) == b"kept"
        assert living.does(f"free {region}") == "kept"
        assert watch.state("gpu0")[0] == 4096 + 100, "the watcher holds it still"
        watch.free(int(region))
        assert watch.state("gpu0")[0] == 100
        living.end()


def test_only_the_owners_user_may_connect(folder):
    """The folder and the socket keep others out, and so does the service where they do not."""
    from tests.pool_service.conftest import in_thread

    with in_thread(folder):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "socket").stat().st_mode & 0o777 == 0o600
    with in_thread(folder, owner=os.geteuid() + 1), pytest.raises(Refused, match="does not serve this user"):
        PoolClient(folder)


def test_no_tracker_hears_of_an_arena():
    code = """
from multiprocessing import resource_tracker
from workbench.pool_service.arenas import attach_arena, detach_arena, make_arena, unlink_arena
arena = make_arena("pool_test_of_tracker", 4096)
again = attach_arena("pool_test_of_tracker")
unlink_arena(arena)
detach_arena(arena)
detach_arena(again)
print(attach_arena("pool_test_of_tracker"), resource_tracker._resource_tracker._fd)
kept = make_arena("pool_test_of_tracker", 4096)
unlink_arena(kept)
view = kept.buf[:10]
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("None None\n", "")
