"""A plugin of pytest for the examples of docstrings: examples that compile the node have the marker `slow`."""

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.DoctestItem]) -> None:
    """Mark the examples of the engine `node`, and those that run it."""
    for item in items:
        of_the_node = "workbench/engines/node/" in item.nodeid
        if of_the_node or any('"engine": "node"' in example.source for example in item.dtest.examples):
            item.add_marker(pytest.mark.slow)
