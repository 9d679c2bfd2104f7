"""Marks examples that compile a node, which nothing else of `make test` does, as long."""

from __future__ import annotations

import pytest

OF_A_NODE = {
    "workbench.api.blame",
    "workbench.engines.node.frames.new_frames",
    "workbench.engines.node.link_state.new_links",
    "workbench.engines.node.pages.new_pages",
    "workbench.engines.node.pool_part.PoolPart",
}
"""Examples as doctest names them; `tests/engines/node/test_node.py` runs them."""


def pytest_collection_modifyitems(items):
    """Mark them, and leave them out of what is not long."""
    for item in items:
        if item.name in OF_A_NODE:
            item.add_marker(pytest.mark.long)
