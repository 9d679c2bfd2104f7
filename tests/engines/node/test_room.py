"""Room for what lives at a time grows with a run: what happens is the same."""

from __future__ import annotations

import pytest

from tests.oracles.node.description import MIB, Node
from tests.oracles.node.small import card, kernel
from tests.oracles.node_beside import Engine, alike, setup_of
from workbench.engines.node import prepare

pytestmark = pytest.mark.node


def chunks() -> Node:
    """Eight groups at a time, two to a chunk of 2 MiB."""
    machine = card(room=8, heap={"heap_bytes": 0, "granule_bytes": 1024})
    steps = [kernel(16, {"compute": 100, "mallocs": (MIB,)}, {"compute": 10_000})]
    couplings = {"malloc": "wait"}
    values = {"machine": {"cards": [machine]}, "applications": [{"streams": [steps]}], "couplings": couplings}
    return Node.of(alike(values))


def test_tickets_of_chunks_are_made_as_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Engine().simulate(setup_of(chunks()), 1)
    assert expected.counts["chunks"] > 2
    monkeypatch.setattr(prepare, "MOST_CHUNKS", 1)
    found = Engine().simulate(setup_of(chunks()), 1)
    assert found.counts == expected.counts
    assert (found.times == expected.times).all()
    assert (found.ended == expected.ended).all()
