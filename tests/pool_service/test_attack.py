"""What another user, a link or a planted file brings about in a service's folder and its arenas: nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs
from tests.pool_service.conftest import SMALL, in_thread
from tests.pool_service.test_service import _killed
from workbench.errors import InputError
from workbench.pool_service import PoolClient, Refused
from workbench.pool_service.__main__ import main
from workbench.pool_service.arenas import attach_arena, detach_arena, make_arena, unlink_arena
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.service import Service, ServiceSettings

NAME = "pool_0123456789ab_0"
NOBODY = 65534


@pytest.fixture
def arena():
    made = make_arena(NAME, 1 << 22)
    yield Path("/dev/shm", NAME)
    if Path("/dev/shm", NAME).exists():
        unlink_arena(made)
    detach_arena(made)


def _names(folder):
    return json.loads((folder / "service.json").read_text())["arenas"]


def _own_folder(folder, **files):
    """A folder that a service has used, with files that are not a service's."""
    folder.mkdir(mode=0o700)
    os.close(ServiceFolder(folder).lock())
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    return folder


def test_who_cannot_map_an_arena_leaves_it_to_the_others(arena):
    """Python's shared memory unlinks what it cannot map, also where it only attaches."""
    attach = (
        "import sys; from workbench.pool_service.arenas import attach_arena\n"
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))\n"
        f"try: attach_arena({NAME!r})\nexcept Exception as problem: print(problem)\n"
    )
    said = subprocess.run([sys.executable, "-c", attach], capture_output=True, text=True, check=True).stdout
    assert "cannot be mapped" in said
    assert arena.exists()


@needs("root")
@pytest.mark.parametrize(("owner", "mode"), [(NOBODY, 0o600), (NOBODY, 0o666), (0, 0o666)])
def test_shared_memory_that_another_user_has_or_may_write_is_no_arena(arena, owner, mode):
    os.chown(arena, owner, owner)
    arena.chmod(mode)
    assert attach_arena(NAME) is None
    assert arena.exists()


@needs("root")
def test_a_service_goes_on_in_new_arenas_where_another_user_took_the_names(folder):
    """After the system started anew the names are free, and whoever read the description knows them."""
    _killed(folder, SMALL)
    planted = [Path("/dev/shm", name) for name in _names(folder) if name]
    for path in planted:
        path.chmod(0o666)
        os.chown(path, NOBODY, NOBODY)
    try:
        with in_thread(folder), PoolClient(folder) as client:
            client.alloc(100).memory[:6] = b"secret"
            assert not set(_names(folder)) & {path.name for path in planted}
        assert all(path.exists() and b"secret" not in path.read_bytes() for path in planted)
    finally:
        for path in planted:
            path.unlink()


def test_an_arena_of_another_size_is_not_gone_on_with(folder):
    _killed(folder, SMALL)
    names = [name for name in _names(folder) if name]
    os.truncate(Path("/dev/shm", names[0]), 4096)
    with in_thread(folder), PoolClient(folder) as client:
        assert client.alloc(1 << 20).memory[-1] == 0
        assert not set(names) & set(_names(folder)), "they were made anew"
    assert not any(Path("/dev/shm", name).exists() for name in names)


@pytest.mark.parametrize(
    "content",
    [
        {"cards": ["gpu0"], "sizes": [1], "arenas": ["somebodys_own"]},
        {"cards": ["gpu0"], "sizes": [1], "arenas": ["../tmp/x"]},
        {"cards": ["gpu0"], "sizes": [1], "arenas": [7]},
        {"cards": ["gpu0"], "sizes": ["1"], "arenas": [NAME]},
        {"cards": ["gpu0"], "sizes": [1, 1], "arenas": [NAME]},
        {"cards": [], "sizes": [], "arenas": []},
        {"cards": 1, "sizes": 1, "arenas": 1},
        {"cards": ["gpu0"], "sizes": [1], "arenas": [NAME], "more": 1},
        [],
    ],
)
def test_a_description_names_arenas_and_nothing_else(folder, content):
    _own_folder(folder, service_json=json.dumps(content))
    with pytest.raises(InputError, match="is damaged; clear the folder with --clear"):
        ServiceFolder(folder).description()
    with pytest.raises(InputError, match="is damaged"):
        Service(folder, ServiceSettings.read(SMALL))


def test_shared_memory_of_somebodys_own_is_not_cleared(folder):
    own = Path("/dev/shm", f"own_{os.getpid()}")
    own.write_text("mine")
    _own_folder(folder, service_json=json.dumps({"cards": ["gpu0"], "sizes": [1], "arenas": [own.name]}))
    try:
        assert main([str(folder), "--clear"]) == 0
        assert own.read_text() == "mine"
    finally:
        own.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["journal", "journal.new", "service.json", "service.new", "socket", "lock"])
@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_a_link_in_place_of_a_services_file_is_refused(tmp_path, folder, name, link):
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("the lock of a workbench pool service\n")
    _own_folder(folder)
    (folder / name).unlink(missing_ok=True)
    (os.symlink if link == "symbolic" else os.link)(thesis, folder / name)
    with pytest.raises(InputError, match="none of a service's files"):
        Service(folder, ServiceSettings.read(SMALL))
    assert main([str(folder), "--clear"]) == 2
    assert thesis.read_text() == "the lock of a workbench pool service\n" and (folder / name).exists()


@pytest.mark.parametrize("name", ["journal", "socket", "service.json"])
def test_a_pipe_or_a_folder_in_place_of_a_services_file_is_refused(folder, name):
    _own_folder(folder)
    for make in (os.mkfifo, os.mkdir):
        make(folder / name)
        with pytest.raises(InputError, match="none of a service's files"):
            Service(folder, ServiceSettings.read(SMALL))
        (folder / name).unlink() if make is os.mkfifo else (folder / name).rmdir()


def test_an_empty_lock_makes_no_folder_a_services(folder):
    _own_folder(folder, lock="", journal="three years of work")
    assert main([str(folder), "--clear"]) == 2
    assert (folder / "journal").read_text() == "three years of work"
    (folder / "journal").unlink()
    assert main([str(folder), "--clear"]) == 0


def test_nobody_else_may_read_what_a_service_makes_whatever_files_are_made_like(folder):
    folder.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        with in_thread(folder), PoolClient(folder) as client:
            client.alloc(10)
            made = {entry.name: entry.stat().st_mode & 0o777 for entry in os.scandir(folder)}
            made |= {name: Path("/dev/shm", name).stat().st_mode & 0o777 for name in _names(folder) if name}
    finally:
        os.umask(before)
    assert {"lock", "socket", "journal", "service.json"} < set(made) and set(made.values()) == {0o600}


def test_a_lock_that_was_taken_away_holds_no_folder(folder, monkeypatch):
    """A service that gives its new folder up takes the lock with it, while another waits to have it."""
    _own_folder(folder)
    take = os.open

    def taken_away(path, *more):
        held = take(path, *more)
        Path(path).unlink()
        return held

    with monkeypatch.context() as patch:
        patch.setattr("workbench.pool_service.folder.os.open", taken_away)
        with pytest.raises(InputError, match="another service has just given this folder up; try again"):
            ServiceFolder(folder).lock()
    os.close(ServiceFolder(folder).lock())


@needs("root")
def test_a_folder_that_may_not_be_looked_at_is_told_in_a_sentence(folder):
    folder.mkdir(mode=0o700)
    (folder / "file").write_text("")
    with pytest.raises(Refused, match=r"is not to be had as a folder \(Not a directory\)"):
        PoolClient(folder / "file" / "below", patience_s=0)
