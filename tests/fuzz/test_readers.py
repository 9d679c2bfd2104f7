"""Files that are damaged by chance end in a result or in one sentence; those that once did not are kept."""

import importlib.util
import os
import subprocess
import sys
from itertools import islice

import pytest

from tests.fuzz.campaign import crashes, faults, mutations
from tests.fuzz.readers import CRASHES, READERS, corpus, fault
from tests.slow import LONG
from workbench.errors import InputError

COUNT = {"traces": 60, "profiles": 60}
"""Number of mutations of the fast test, the same in each run; other readers have 40."""
SECONDS = 20 if LONG else 3
"""Duration of the slow test of each reader."""
SEED = int(os.environ.get("FUZZ_SEED", "19"))
"""Seed of the slow test; set FUZZ_SEED to draw other mutations."""


@pytest.mark.parametrize(
    "reader", [pytest.param(name, marks=[pytest.mark.slow] * (name == "traces")) for name in READERS]
)
def test_the_corpus_itself_is_read(reader):
    files = corpus(reader)
    assert files
    for file in files:
        READERS[reader](file)


@pytest.mark.parametrize("reader", READERS)
def test_mutations_end_in_a_sentence(reader, tmp_path):
    assert list(faults(reader, tmp_path, seed=18, count=COUNT.get(reader, 40))) == []


@pytest.mark.parametrize("file", crashes(), ids=lambda file: file.name)
def test_what_was_found_once_ends_in_a_sentence(file):
    assert fault(file.name.partition("-")[0], file) == ""


def _raises(path):
    raise ValueError("a bug")


def _says_two_lines(path):
    raise InputError("one\ntwo")


def _passes_on_what_an_importer_raised(path):
    raise InputError("t: the importer x raised ValueError (bad); see what stands there.")


@pytest.mark.parametrize("reader", [_raises, _says_two_lines, _passes_on_what_an_importer_raised])
def test_a_reader_that_ends_otherwise_is_found_and_its_file_is_kept(reader, tmp_path, monkeypatch):
    monkeypatch.setitem(READERS, "yaml", reader)
    result = list(faults("yaml", tmp_path, seed=1, count=2))
    assert len(result) == 2
    kept = [tmp_path / line.partition(": ")[0] for line in result]
    assert all(file.read_bytes() == content for file, content in zip(kept, mutations("yaml", 1), strict=False))


def test_mutations_are_the_same_for_a_seed():
    first, again, other = (list(islice(mutations("pool", seed), 20)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_mutations_of_some_seconds_end_in_a_sentence(reader, tmp_path):
    """Led by coverage where atheris is, which has no wheel for every Python and is not in the lock; else by chance."""
    if importlib.util.find_spec("atheris") is None:
        assert list(faults(reader, tmp_path, seed=SEED, seconds=SECONDS)) == []
        return
    command = [sys.executable, "-m", "tests.fuzz.coverage", reader, str(tmp_path), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CRASHES.parents[2])
    assert done.returncode == 0, done.stderr[-2000:]
