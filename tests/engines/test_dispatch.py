"""The engine `dispatch` against its slow twin: the same record, field by field, for every policy and lever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.dispatch_cases import Case, Row, assert_same
from tests.engines.dispatch_laws import assert_lawful, keeps_units_even
from tests.engines.dispatch_strategies import cases
