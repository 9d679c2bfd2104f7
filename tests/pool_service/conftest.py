"""Services for the tests: as processes of their own, or as a thread beside the client."""

import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until
from workbench.pool_service import PoolClient
from workbench.pool_service.service import Service, ServiceSettings

SMALL = {"card_bytes": 1 << 20}


@contextmanager
def in_thread(folder, said=None, **more):
    """A service in a thread of this process: quick to start."""
    service = Service(folder, ServiceSettings.read({**SMALL, **(said or {})}), **more)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        thread.join()


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """A client waits for a service that comes back as long as a busy machine takes, unless a test says otherwise."""
    monkeypatch.setattr(PoolClient.__init__, "__defaults__", ("", 300.0))


@pytest.fixture
def folder():
    """A folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="wb") as name:
        yield Path(name, "pool")


def soon(what):
    """Wait until something is true."""
    return wait_until(what)
