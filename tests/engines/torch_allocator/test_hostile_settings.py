"""A setting that is no number is refused in one sentence, whatever Python takes for a digit."""

import numpy as np
import pytest

from workbench.engines.torch_allocator.engine import AllocatorOptions
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
            "roundup_power2_divisions:0",
            "roundup_power2_divisions has a value that PyTorch does not take. Got '0'.",
        ),
        (
            "roundup_power2_divisions:[256:4,512:3]",
            "roundup_power2_divisions has a value that PyTorch does not take. Got '[256:4,512:3]'.",
        ),
        (
            "garbage_collection_threshold:0",
            "garbage_collection_threshold has a value that PyTorch does not take. Got '0'.",
        ),
        (
            "garbage_collection_threshold:1",
            "garbage_collection_threshold has a value that PyTorch does not take. Got '1'.",
        ),
        (
            "garbage_collection_threshold:nan",
            "garbage_collection_threshold has a value that PyTorch does not take. Got 'nan'.",
        ),
        ("expandable_segments:true", "expandable_segments has a value that PyTorch does not take. Got 'true'."),
        (
            "per_process_memory_fraction:1.5",
            "allocator_settings.per_process_fraction must be a number from 0 to 1. Got 1.5. Nearest: 1.",
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
    assert AllocatorSettings.parse("roundup_power2_divisions:[4:4]").roundup_power2_divisions[:4] == (4, 4, 4, 0)
    assert AllocatorSettings.parse("roundup_power2_divisions:[>:4]").roundup_power2_divisions[:2] == (0, 4)


@pytest.mark.parametrize(
    ("levers", "message"),
    [
        ({"max_split_size_mb": 5}, "max_split_size_mb must be at least 20. Got 5. Nearest: 20."),
        (
            {"max_split_size_mb": 24, "large_segment_size_mb": 32},
            "max_split_size_mb must be at least 32, as large_segment_size_mb is. Got 24. Nearest: 32.",
        ),
        (
            {"max_non_split_rounding_mb": 24, "large_segment_size_mb": 32},
            "max_non_split_rounding_mb must be at least 32, as large_segment_size_mb is. Got 24. Nearest: 32.",
        ),
        ({"max_non_split_rounding_mb": 12}, "max_non_split_rounding_mb must be at least 20. Got 12. Nearest: 20."),
        (
            {"large_segment_size_mb": 10},
            "large_segment_size_mb must be a whole number from 11 to 1048576. Got 10. Nearest: 11.",
        ),
    ],
)
@pytest.mark.parametrize("kind", [AllocatorSettings, AllocatorOptions])
def test_levers_that_pytorch_refuses_are_refused_where_they_are_read(kind, levers, message):
    """As numbers of a sweep, and as settings in Python."""
    with pytest.raises(InputError) as refused:
        kind.read(levers)
    assert str(refused.value) == f"{kind.name}.{message}"


@pytest.mark.parametrize("segment", [11, 12, 20, 64])
def test_a_rounding_that_is_not_set_is_as_large_as_a_segment(segment):
    """parseArgs sets max_non_split_rounding_mb to large_segment_size_mb before it reads the former."""
    settings = AllocatorSettings.parse(f"large_segment_size_mb:{segment}")
    assert settings.rounding_mb == segment
    assert settings.rules(np.zeros(1, np.int64)).rounding == segment << 20
    assert settings.conf == (f"large_segment_size_mb:{segment}" if segment != 20 else "")


def test_a_rounding_is_printed_unless_pytorch_has_the_same():
    small, large = AllocatorSettings(large_segment_size_mb=11), AllocatorSettings(large_segment_size_mb=64)
    assert small.conf == "max_non_split_rounding_mb:20,large_segment_size_mb:11"
    assert large.conf == "large_segment_size_mb:64" and large.rounding_mb == 64


def test_a_snapshot_with_limits_that_no_pytorch_has_says_nothing_of_them():
    reply = {"PYTORCH_ALLOC_CONF": "large_segment_size_mb:32", "max_split_size": 24 << 20}
    assert AllocatorSettings.recorded(reply).max_split_size_mb == 0
    assert AllocatorSettings.recorded({**reply, "max_split_size": 32 << 20}).max_split_size_mb == 32


@pytest.mark.parametrize("name", ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF"])
def test_recorded_settings_are_read_under_each_name_and_set_under_the_same(name):
    settings = {name: "max_split_size_mb:64"}
    assert AllocatorSettings.recorded(settings).max_split_size_mb == 64
    assert variable_of(settings) == name
