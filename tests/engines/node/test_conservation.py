"""Every policy of a node keeps its conservation laws, in fixed small worlds (spec 6, R18)."""

from __future__ import annotations

import pytest

from tests.engines.conservation.node import SUITE

pytestmark = pytest.mark.node


@pytest.mark.slow
@pytest.mark.parametrize("slot", SUITE.engine.slots)
def test_laws_do_not_depend_on_the_policy(slot: str) -> None:
    SUITE.assert_lawful(slot)
