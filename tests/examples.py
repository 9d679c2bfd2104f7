"""Leaves examples that compile a node, which nothing else of `make test` does, to `make test-long`."""

from __future__ import annotations

from tests.depth import LONG

OF_A_NODE = {
    "workbench.api.blame",
    "workbench.engines.node.frames.new_frames",
    "workbench.engines.node.link_state.new_links",
    "workbench.engines.node.pages.new_pages",
    "workbench.engines.node.pool_part.PoolPart",
}
"""Examples as doctest names them."""


def pytest_collection_modifyitems(config, items):
    """Keep what this command runs; of the rest it is said how many there are."""
    kept = [item for item in items if (item.name in OF_A_NODE) == LONG]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
