"""The options of pandas that can change a number are part of the origin of a row, and are read without a word."""

from __future__ import annotations

import warnings

import pandas as pd

from workbench.runs.origin import origin_of_own_code


def test_reading_the_options_of_pandas_warns_nobody() -> None:
    """Each release has some that the next one drops."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        usual = origin_of_own_code()
    with pd.option_context("compute.use_numexpr", not pd.get_option("compute.use_numexpr")):
        assert origin_of_own_code() != usual
