"""A setting that is no number is refused in one sentence, whatever Python takes for a digit."""

import pytest

from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import InputError


@pytest.mark.parametrize("value", ["²", "9" * 5000, "0x20", "twenty"])
def test_what_is_no_number_is_no_split_size(value):
    with pytest.raises(InputError, match=r"^max_split_size_mb has a value that PyTorch does not take\. Got '"):
        AllocatorSettings.parse(f"max_split_size_mb:{value}")


def test_a_split_size_that_pytorch_refuses_is_refused():
    with pytest.raises(InputError, match=r"^max_split_size_mb must be at least 20\. Got 19\. Nearest: 20\.$"):
        AllocatorSettings.parse("max_split_size_mb:19")
