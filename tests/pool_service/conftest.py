"""Services for the tests: as processes of their own, or as a thread beside the client."""

import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.waiting import wait_until
from workbench.pool_service.service import Service
from workbench.pool_service.settings import ServiceSettings

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


@pytest.fixture
def folder():
    """A folder whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="wb") as name:
        yield Path(name, "pool")


def soon(what):
    """Wait until something is true."""
    return wait_until(what)
