"""The one sentence with which a file is refused."""

import random

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import read_trace


def read_or_refused(path):
    """What is said of a file that may be damaged: the facts that it has, or the sentence with which it is refused."""
    try:
        return str(sorted(read_trace(path).facts()))
    except InputError as refused:
        return str(refused)


def damaged(contents, seed, from_byte=0, most=12):
    """Contents with some bytes replaced, as a seed says."""
    draw, changed = random.Random(seed), bytearray(contents)
    for _ in range(draw.randrange(1, most)):
        changed[draw.randrange(from_byte, len(changed))] = draw.randrange(256)
    return bytes(changed)


def refusal(path, contents=None):
    """The sentence with which a file, of these contents if given, is refused; without its name."""
    if contents is not None:
        path.write_bytes(contents)
    with pytest.raises(InputError) as refused:
        read_trace(path)
    sentence = str(refused.value)
    assert sentence.startswith(f"{path}: ")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")
