"""A folder with somebody's own files is refused, links to others' folders are not followed, freed views are gone."""

import os

import numpy as np
import pytest

from tests.pool_service.conftest import in_thread
from workbench.errors import InputError
from workbench.pool_service import PoolClient, running_service
from workbench.pool_service.__main__ import main
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.protocol import Refused


@pytest.mark.parametrize("name", ["journal", "socket", "service.new", "journal.new", "thesis.tex", "service.json"])
@pytest.mark.parametrize("words", [["--clear"], ["--card-bytes", "4096"]])
def test_a_folder_with_files_of_somebodys_own_is_refused_and_keeps_them(tmp_path, capsys, name, words):
    own = tmp_path / name
    own.write_text("three years of work")
    os.chmod(tmp_path, 0o700)
    assert main([str(tmp_path), *words]) == 2
    output = capsys.readouterr().err
    assert f"holds {name}, which is none of a service's files" in output and output.count("\n") == 1
    assert own.read_text() == "three years of work"
    assert [path.name for path in tmp_path.iterdir()] == [name], "no lock was left behind"


def test_beside_a_services_own_files_a_file_of_somebodys_own_is_refused(tmp_path):
    folder = tmp_path / "service"
    with in_thread(folder):
        pass
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds notes\.txt"):
        ServiceFolder(folder).make()


@pytest.mark.slow
def test_a_folder_that_a_service_used_may_be_used_again_and_cleared(tmp_path):
    folder = tmp_path / "service"
    for _ in range(2):
        with running_service(folder, {"card_bytes": 4096}), PoolClient(folder) as client:
            assert client.alloc(10).card == "gpu0"
    process = running_service(folder, {"card_bytes": 4096})
    with process as service:
        service.kill()
        service.wait()
        assert (folder / "journal").exists()
    assert main([str(folder), "--clear"]) == 0
    assert not (folder / "journal").exists()


def test_a_link_is_not_followed_to_a_folder_of_somebody_else(tmp_path, monkeypatch):
    place = tmp_path / "link"
    place.symlink_to("/usr", target_is_directory=True)
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    with pytest.raises(InputError, match="must belong to you"):
        ServiceFolder(place).make()
    with pytest.raises(Refused, match="belongs to another user"):
        PoolClient(place, patience_s=0)


def test_a_view_is_gone_when_its_region_is_free(folder):
    with in_thread(folder), PoolClient(folder) as client:
        region = client.alloc(64)
        again = client.open(region.id)
        region.memory[:4] = b"mine"
        client.free(region)
        for view in (region.memory, again.memory):
            with pytest.raises(ValueError, match="released memoryview"):
                view[0] = 1
        other = client.alloc(64)
        assert bytes(other.memory[:4]) in (b"mine", bytes(4))


def test_a_region_is_not_freed_while_an_array_is_made_of_it(folder):
    with in_thread(folder), PoolClient(folder) as client:
        region = client.alloc(64)
        array = np.frombuffer(region.memory, np.uint8)
        with pytest.raises(InputError, match=r"an array or a view of region .* is still in use"):
            client.free(region)
        assert client.state("gpu0")[0] == 64 and array.size == 64
        array[0] = 7
        assert client.open(region.id).memory[0] == 7, "nothing was given back"
        del array
        client.free(region)
        assert client.state("gpu0")[0] == 0
