"""An installed package counts by its version; one from a folder or an address also by what was installed."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from workbench.identity import owner

FOLDER = {"url": "file:///home/ada/lab", "dir_info": {}}
ARCHIVE = {"url": "https://lab.example/lab.whl", "archive_info": {"hashes": {"sha256": "00"}}}
COMMIT = {"url": "https://lab.example/lab.git", "vcs_info": {"vcs": "git", "commit_id": "00"}}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package of version 1.0 as text, from somewhere, and returns its name in ids."""
    real = owner.installed_folders()
    monkeypatch.setattr(owner, "installed_folders", lambda: (tmp_path, *real))
    monkeypatch.syspath_prepend(tmp_path)

    def again(text, origin, **files):
        for name, content in {"__init__": text, **files}.items():
            (tmp_path / "labkit").mkdir(exist_ok=True)
            (tmp_path / "labkit" / f"{name}.py").write_text(content)
        if origin != "nowhere":
            notes = tmp_path / "labkit-1.0.dist-info"
            notes.mkdir(exist_ok=True)
            (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: labkit\nVersion: 1.0\n")
            if origin is not None:
                (notes / "direct_url.json").write_text(json.dumps(origin))
        sys.modules.pop("labkit", None)
        importlib.invalidate_caches()
        owner._version.cache_clear()  # as in another process
        assert importlib.import_module("labkit").AIM
        assert owner.is_installed("labkit")
        return owner.package_of("labkit.part")

    yield again
    sys.modules.pop("labkit", None)
    owner._version.cache_clear()


@pytest.mark.parametrize("origin", [FOLDER, "nowhere"], ids=["a folder", "nowhere"])
def test_an_edit_of_a_package_from_a_folder_is_seen_without_another_version(install, origin):
    before = install("AIM = 3", origin)
    assert install("AIM = 3", origin) == before
    after = install("AIM = 4", origin)
    assert before.startswith("labkit ") and after != before
    assert install("AIM = 4", origin, part="HELPER = 1") not in (before, after)


@pytest.mark.parametrize(("origin", "key"), [(ARCHIVE, "archive_info"), (COMMIT, "vcs_info")])
def test_a_package_from_an_address_counts_by_its_archive_or_commit(install, origin, key):
    before = install("AIM = 3", origin)
    assert install("AIM = 3", {**origin, "url": "https://elsewhere.example"}) == before
    assert install("AIM = 3", {**origin, key: {"hashes": "01"}}) != before


def test_a_package_from_an_index_counts_by_its_version_alone(install):
    assert install("AIM = 3", None) == install("AIM = 4", None) == "labkit 1.0"


def test_a_folder_of_packages_outside_of_pythons_own_is_installed(tmp_path, monkeypatch):
    """As modules of a cluster, a `.pth` file or PYTHONPATH bring it; it counted as code of the user's."""
    folder = tmp_path / "stack" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "stackkit.py").write_text("AIM = 1\n")
    (tmp_path / "mykit.py").write_text("AIM = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(folder)
    owner.installed_folders.cache_clear()
    owner._lies_installed.cache_clear()
    importlib.invalidate_caches()
    for name in ("stackkit", "mykit", "numba.core"):
        importlib.import_module(name)
    try:
        assert [owner.owner_of(name) for name in ("stackkit", "mykit", "numba.core")] == [
            "installed",
            "user",
            "installed",
        ]
    finally:
        owner.installed_folders.cache_clear()
        owner._lies_installed.cache_clear()
        for name in ("stackkit", "mykit"):
            del sys.modules[name]


def test_the_folder_of_numba_is_installed_whatever_it_is_called(tmp_path, monkeypatch):
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").write_text("")
    for name in [name for name in sys.modules if name.partition(".")[0] == "numba"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    owner.installed_folders.cache_clear()
    try:
        assert tmp_path in owner.installed_folders()
    finally:
        owner.installed_folders.cache_clear()
