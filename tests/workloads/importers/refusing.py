"""The one sentence with which a file is refused."""

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import read_trace


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
