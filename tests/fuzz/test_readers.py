"""Files that are damaged by chance end in a result or in one sentence; those that once did not are kept."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.fuzz.campaign import crashes, faults
from tests.fuzz.readers import CRASHES, READERS, corpus, fault

COUNT = {"traces": 120, "topologies": 60, "yaml": 60}
"""Mutations of `make test`; 40 where nothing is said. They are the same each time."""
SECONDS = 20
"""Of each reader in `make test-long`, whose mutations are others each time."""


@pytest.mark.parametrize("reader", READERS)
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


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
def test_mutations_of_some_seconds_end_in_a_sentence(reader, tmp_path):
    """Led by coverage where atheris is, which has no wheel for every Python and is not in the lock; else by chance."""
    if importlib.util.find_spec("atheris") is None:
        assert list(faults(reader, tmp_path, seed=int.from_bytes(os.urandom(4), "big"), seconds=SECONDS)) == []
        return
    command = [sys.executable, "-m", "tests.fuzz.coverage", reader, str(tmp_path), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CRASHES.parents[2])
    assert done.returncode == 0, done.stderr[-2000:]
