"""A service that is started again lets clients in before it has loaded its policies; every check comes first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pool_service.conftest import SMALL, in_thread
from tests.pool_service.test_service import _killed
from workbench.errors import InputError
from workbench.pool_service import PoolClient, Refused
from workbench.pool_service.client import Channel
from workbench.pool_service.folder import ServiceFolder, start_service
from workbench.pool_service.listener import Opening

ROOT = Path(__file__).parents[2]
HELD_UP = """
import sys

class HoldsUp:
    def find_spec(self, name, path=None, target=None):
        if name in ("numba", "scipy", "workbench.policies.policy"):
            sys.meta_path.remove(self)
            print("imports", name, flush=True)
            sys.stdin.readline()

sys.meta_path.insert(0, HoldsUp())
from workbench.pool_service.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""A service that imports nothing heavy before a line comes: as on a machine so busy that it takes for ever."""


class SlowService:
    """A service in a process of its own whose imports wait to be told."""

    def __init__(self, folder, *words):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        arguments = [sys.executable, "-c", HELD_UP, str(folder), *(words or ("--card-bytes", "1MiB"))]
        self.process = subprocess.Popen(arguments, cwd=ROOT, **pipes)
        self.said = self.process.stdout.readline().strip()

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.terminate()
        self.process.communicate()


@pytest.mark.slow
def test_clients_of_a_killed_service_need_no_patience_while_the_next_one_loads(folder):
    first = start_service(folder, SMALL)
    client = PoolClient(folder, patience_s=0)
    kept = client.alloc(1000)
    kept.memory[:4] = b"kept"
    first.kill()
    first.communicate()
    with pytest.raises(Refused, match="no service runs"):
        PoolClient(folder, patience_s=0)
    service = SlowService(folder)
    assert service.said.startswith("imports")
    client._channel._opened().close()  # connects at once: patience is nought
    assert service.go_on().startswith("serving")
    assert client.state("gpu0") == (1000, 0), "the journal was read before anything was answered"
    assert bytes(kept.memory[:4]) == b"kept"
    client.free(kept)
    client.close()
    service.end()


@pytest.mark.slow
def test_where_nobody_was_served_there_is_no_socket_before_there_is_something_to_read(folder):
    service = SlowService(folder)
    assert service.said.startswith("imports") and not (folder / "socket").exists()
    assert service.go_on().startswith("serving") and (folder / "socket").exists()
    service.end()


@pytest.mark.slow
def test_a_client_that_waited_for_a_service_of_other_cards_is_told(folder):
    _killed(folder, SMALL)
    service = SlowService(folder, "--card-bytes", "8192")
    assert service.said.startswith("imports")
    waiting = Channel(ServiceFolder(folder), patience_s=0)
    assert "holds the regions of a service with other cards" in service.go_on()
    assert service.process.wait(120) == 2
    with pytest.raises(Refused, match=r"does not serve this user, or ended\."):
        waiting.greet(0)
    waiting.close()
    with pytest.raises(Refused, match="no service runs"):
        PoolClient(folder, patience_s=0)
    service.end()


def test_a_folder_is_checked_before_anything_listens_in_it(folder):
    _killed(folder, SMALL)
    (folder / "thesis.tex").write_text("three years")
    left = (folder / "socket").stat().st_ino
    with pytest.raises(InputError, match=r"holds thesis\.tex"):
        Opening.of(folder)
    assert (folder / "thesis.tex").read_text() == "three years"
    assert (folder / "socket").stat().st_ino == left
    (folder / "thesis.tex").unlink()
    with in_thread(folder), pytest.raises(InputError, match="a service runs in this folder already"):
        Opening.of(folder)
