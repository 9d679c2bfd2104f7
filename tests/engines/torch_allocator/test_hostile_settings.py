"""A setting that is no number is refused in one sentence, whatever Python takes for a digit."""

import pytest

from workbench.engines.torch_allocator.settings import AllocatorSettings, variable_of
from workbench.errors import InputError


@pytest.mark.parametrize("value", ["²", "9" * 5000, "0x20", "twenty"])
def test_what_is_no_number_is_no_split_size(value):
    with pytest.raises(InputError, match=r"^max_split_size_mb has a value that PyTorch does not take\. Got '"):
        AllocatorSettings.parse(f"max_split_size_mb:{value}")


def test_a_split_size_that_pytorch_refuses_is_refused():
    with pytest.raises(InputError, match=r"^max_split_size_mb must be at least 20\. Got 19\. Nearest: 20\.$"):
        AllocatorSettings.parse("max_split_size_mb:19")


@pytest.mark.parametrize(
    ("conf", "message"),
    [
        ("large_segment_size_mb:10", "large_segment_size_mb must be at least 11. Got 10. Nearest: 11."),
        (
            "max_split_size_mb:32,large_segment_size_mb:64",
            "max_split_size_mb must be at least 64, as large_segment_size_mb is. Got 32. Nearest: 64.",
        ),
        (
            "max_non_split_rounding_mb:64,large_segment_size_mb:128",
            "max_non_split_rounding_mb must be at least 128, as large_segment_size_mb is. Got 64. Nearest: 128.",
        ),
        (
            "roundup_power2_divisions:[3:4]",
            "roundup_power2_divisions has a value that PyTorch does not take. Got '[3:4]'.",
        ),
    ],
)
def test_what_pytorch_2_13_refuses_is_refused(conf, message):
    """As AllocatorConfig.cpp: segments of more than 10 MiB, limits no less than a segment, intervals powers of two."""
    with pytest.raises(InputError) as refused:
        AllocatorSettings.parse(conf)
    assert str(refused.value) == message


def test_what_pytorch_2_13_takes_is_taken():
    settings = AllocatorSettings.parse("large_segment_size_mb:11,max_split_size_mb:20,max_non_split_rounding_mb:20")
    assert (settings.large_segment_size_mb, settings.max_split_size_mb) == (11, 20)
    assert AllocatorSettings.parse("large_segment_size_mb:128").max_non_split_rounding_mb == 20
    assert AllocatorSettings.parse("roundup_power2_divisions:[4:4]").roundup_power2_divisions[:4] == (4, 4, 4, 0)


@pytest.mark.parametrize("name", ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"])
def test_recorded_settings_are_read_under_each_name_and_set_under_the_same(name):
    settings = {name: "max_split_size_mb:64"}
    assert AllocatorSettings.recorded(settings).max_split_size_mb == 64
    assert variable_of(settings) == name
