"""The public traces by name: found where they lie, refused when they are other files, fetched only when checked."""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.public_traces import CHECKOUT, FACTS, NAMED, needs_public_traces, path
from workbench.errors import InputError, WorkbenchError
from workbench.files import digest_of_file
from workbench.workloads import catalogue as room
from workbench.workloads.catalogue import available, catalogue, fetch, locate, trace_file
from workbench.workloads.importers import read_trace

WHOLE, PACKED, CUT = "hta_a100_alexnet", "omniperf_mi300x_vcopy_pmc_perf", "rocprofv3_mi355x_part1"


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without traces, whose cache is empty."""
    monkeypatch.delenv("WORKBENCH_TRACES", raising=False)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path


OUR_WORDS = {"torch_snapshot": "torch_memory_snapshot"}
"""Formats that the folders' facts call otherwise than the importers."""


def test_every_entry_is_complete():
    assert len(catalogue()) >= 55
    assert len({entry.file for entry in catalogue().values()}) == len(catalogue())
    assert len({entry.sha256 for entry in catalogue().values()}) == len(catalogue())
    for name, entry in catalogue().items():
        assert entry.name == name
        assert entry.change in ("none", "gzip", "cut")
        assert bool(entry.upstream_sha256) == (entry.change == "gzip")
        assert bool(entry.changed) == (entry.change == "cut")
        assert len(bytes.fromhex(entry.sha256)) == 32
        assert len(entry.commit) in (7, 12)
        usable = ("MIT", "BSD", "Apache", *(["none stated"] if entry.change == "cut" else []))
        assert entry.licence.split("-")[0] in usable


@needs_public_traces
def test_every_listed_file_is_the_file_of_the_folder(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    listed = {name: entry for name, entry in catalogue().items() if entry.file in FACTS}
    assert len(listed) == len(FACTS)
    for name, entry in listed.items():
        place = locate(name)
        assert place == path(entry.file)
        assert place.stat().st_size == entry.bytes
        reply = FACTS[entry.file]["format"]
        assert entry.format == OUR_WORDS.get(reply, reply)
        if entry.change == "gzip":
            assert hashlib.sha256(gzip.decompress(place.read_bytes())).hexdigest() == entry.upstream_sha256


def test_a_trace_that_is_not_here_says_how_to_get_it(nowhere):
    assert not available(WHOLE)
    with pytest.raises(InputError) as refused:
        locate(WHOLE)
    sentence = f"the trace {WHOLE} is not on this machine; get it with: workbench trace import --fetch {WHOLE}."
    assert str(refused.value) == sentence
    with pytest.raises(InputError, match=r"unknown public trace 'hta_a100_alexnt'; .* Did you mean hta_a100_alexnet"):
        locate("hta_a100_alexnt")


def test_the_sentence_about_a_trace_that_is_not_here_is_one_short_line(nowhere):
    for name in catalogue():
        with pytest.raises(InputError) as refused:
            locate(name)
        assert len(str(refused.value)) <= 160 and "\n" not in str(refused.value)


def test_an_edited_trace_is_not_fetched_but_its_origin_is_told(nowhere):
    with pytest.raises(InputError) as refused:
        fetch(CUT)
    message = str(refused.value)
    assert message.startswith(f"the trace {CUT} cannot be fetched; let WORKBENCH_TRACES name a folder that holds rocm/")
    assert "it was made from tests/rocprof/908_results.json.gz of AMD-AGI/TraceLens: kernel_dispatch records" in message


@needs_public_traces
def test_every_folder_that_is_named_is_looked_into(nowhere, monkeypatch):
    first, second = nowhere / "first", nowhere / "second"
    for folder, name in ((first, PACKED), (second, WHOLE)):
        place = folder / catalogue()[name].file
        place.parent.mkdir(parents=True)
        shutil.copy(path(catalogue()[name].file), place)
    monkeypatch.setenv("WORKBENCH_TRACES", f"{first}{os.pathsep}{second}{os.pathsep}")
    assert locate(PACKED).is_relative_to(first)
    assert locate(WHOLE).is_relative_to(second)
    assert not available(CUT)


def test_another_file_under_the_name_is_refused(nowhere, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", str(nowhere))
    place = nowhere / catalogue()[WHOLE].file
    place.parent.mkdir()
    place.write_bytes(b"something else")
    assert not available(WHOLE)
    with pytest.raises(InputError, match="is not the file that the catalogue lists as hta_a100_alexnet"):
        locate(WHOLE)


def test_a_path_is_taken_as_it_is(nowhere):
    (nowhere / "mine.json").write_text("{}")
    assert trace_file(str(nowhere / "mine.json")) == nowhere / "mine.json"
    with pytest.raises(InputError, match=r"absent.json: there is no such file, and no public trace of this name\.$"):
        trace_file(str(nowhere / "absent.json"))


def test_the_address_is_that_of_the_commit():
    assert catalogue()[PACKED].url == (
        "https://raw.githubusercontent.com/ROCm/rocprofiler-compute/7e8469236137/"
        "tests/workloads/vcopy/MI300X_A1/pmc_perf.csv"
    )


@pytest.fixture
def repository(nowhere, monkeypatch):
    """Repositories that serve what is put into a mapping of addresses to bytes; anything else is no connection."""
    import pooch
    import requests

    served = {}

    def download(url, output_file, opener, check_only=False):
        if url not in served:
            raise requests.ConnectionError("no route")
        Path(output_file).write_bytes(served[url])

    monkeypatch.setattr(pooch.core, "choose_downloader", lambda url, progressbar=False: download)
    return served


@needs_public_traces
def test_what_is_fetched_is_checked_and_found_again(repository):
    for name in (WHOLE, PACKED):
        entry = catalogue()[name]
        contents = path(entry.file).read_bytes()
        repository[entry.url] = gzip.decompress(contents) if entry.change == "gzip" else contents
        place = fetch(name)
        assert locate(name) == place
        assert place.name == Path(entry.file).name.removesuffix(".gz" if entry.change == "gzip" else "")
        assert read_trace(place).format == entry.format
    repository.clear()
    assert fetch(WHOLE) == locate(WHOLE)  # no connection is needed a second time


def test_what_is_fetched_and_differs_is_not_kept(repository):
    repository[catalogue()[WHOLE].url] = b"something else"
    with pytest.raises(WorkbenchError, match="gave another file than the catalogue lists; without it, let WORKBENCH_"):
        fetch(WHOLE)
    assert not available(WHOLE)


def test_without_a_network_there_is_one_sentence(repository):
    with pytest.raises(WorkbenchError) as refused:
        fetch(WHOLE)
    message = str(refused.value)
    assert message.startswith("https://raw.githubusercontent.com/facebookresearch/HolisticTraceAnalysis/f4d0062c382f/")
    assert message.endswith(
        "cannot be fetched: there is no connection; without it, let WORKBENCH_TRACES name a folder that holds "
        "kineto/hta_a100_alexnet.json.gz."
    )
    assert not list(room.cache_home().rglob("*.gz"))


def test_without_the_optional_part_the_installation_is_named(nowhere, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(WorkbenchError, match=r"pip install -e '\.\[traces\]'"):
        fetch(WHOLE)


@pytest.mark.slow
def test_the_wheel_carries_the_catalogue_and_the_presets(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(".*", "results", "__pycache__")
    shutil.copytree(CHECKOUT, source, ignore=ignored)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        held.extractall(tmp_path / "installed")
    script = (
        "from workbench.workloads.catalogue import _file, catalogue; from workbench.machine import preset\n"
        "print(_file(), len(catalogue()), preset('mi355x').machine().segments)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "installed")},
        check=True,
        capture_output=True,
        text=True,
    )
    packaged = tmp_path / "installed" / "workbench" / "workloads" / "catalogue.yaml"
    assert done.stdout.split() == [str(packaged), str(len(catalogue())), "128"]


def test_a_folder_a_pipe_or_an_unreadable_file_is_refused_in_a_sentence(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="is a folder; name one file in it"):
        trace_file(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe or a device, and files are read twice"):
        trace_file(str(tmp_path / "pipe"))
    (tmp_path / "secret").write_text("{}")

    def forbidden(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)  # the administrator may read what chmod forbids
    with pytest.raises(InputError, match=r"secret: cannot be read \(Permission denied\)"):
        digest_of_file(tmp_path / "secret")
