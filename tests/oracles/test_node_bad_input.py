"""What cannot run is refused before anything runs, with one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.check import wrong
from tests.oracles.node.description import GIB, Node
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import kernel, run, tensor

TOUCH = {"compute": 1, "touches": ({"tensor": "a"},)}
CASES: list[tuple[list[Any], dict[str, Any], str]] = [
    ([kernel(1, TOUCH)], {}, "applications[0]: tensor a is never allocated."),
    ([tensor("a"), kernel(1, TOUCH), {"free": "a"}, kernel(1, TOUCH)], {}, "a later kernel of the stream names"),
    ([kernel(1, TOUCH), tensor("a")], {}, "uses a tensor that its own stream allocates later"),
    ([tensor("a"), tensor("a")], {}, "tensor a is allocated more than once"),
    ([tensor("a"), {"free": "a"}, {"free": "a"}], {}, "tensor a is freed more than once"),
    ([{"allocate": "a", "bytes": 2 * GIB}], {}, "what the largest card has. Got 2147483648."),
    ([{"allocate": "a", "bytes": 0}], {}, "must have 1 to 1073741824 bytes"),
    ([{"kernel": {"groups": 1}}], {}, "a kernel must have at least one phase"),
    ([kernel(0)], {}, "at least one group"),
    ([kernel(waves=17)], {}, "a group needs 17 wave slots of a unit; card 0 has 16."),
    ([kernel(shared_segments=65)], {}, "a group needs 65 shared segments"),
    ([tensor("a"), kernel(1, {"touches": ({"tensor": "a", "pattern": "knit"},)})], {}, "Got knit."),
    ([{"wait": 0}], {}, "streams 0 wait for each other"),
    ([[{"wait": 1}], [{"wait": 0}]], {}, "streams 0, 1 wait for each other"),
    (
        [[tensor("a"), {"wait": 1}, {"free": "a"}], [{"wait": 0}, kernel(1, TOUCH)]],
        {},
        "streams 0, 1 wait for each other",
    ),
    ([{"wait": 3}], {}, "must wait for a stream of its application. Got 3."),
    ([{"bytes": 3}], {}, "must be one of allocate, free, kernel and wait"),
    ([kernel()], {"pages": "4k"}, "couplings.pages needs couplings.memory: wait"),
    ([kernel()], {"shootdown_to": "directory"}, "needs a directory. Got policies.locate: no_directory."),
]


@pytest.mark.parametrize(("streams", "couplings", "sentence"), CASES)
def test_a_sentence(streams: list[Any], couplings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        run([{}], [{"streams": streams}], couplings)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("field", ["home", "priority"])
def test_an_application_elsewhere(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        run([{}], [{"streams": [kernel()], field: 7}])


def test_a_field_that_there_is_not() -> None:
    with pytest.raises(TypeError, match="Card has no field tlb; it has memory_bytes"):
        Node.of({"machine": {"cards": [{"tlb": 3}]}})


def test_random_nodes_are_well() -> None:
    assert [seed for seed in range(100) if wrong(Node.of(random_node(seed)))] == []
