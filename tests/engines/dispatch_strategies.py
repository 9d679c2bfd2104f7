"""Small dispatchers for hypothesis: machines, groups that fit an empty module, options and policies of every slot."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.engines.dispatch_cases import Case, Row
from workbench.machine.resource import Resource

MORE = (
    Resource(label="acc", blocks=7),
    Resource(label="tokens", contiguous=False, blocks=5),
    Resource(label="cluster", level="module", blocks=9),
    Resource(label="barriers", level="module", contiguous=False, blocks=4),
)
"""Of each kind one; any subset is added to the usual resources."""

SOMETIMES_LONG = st.integers(1, 12) | st.integers(1, 60)


@st.composite
def machines(draw: Any) -> dict[str, Any]:
    more = draw(st.lists(st.sampled_from(MORE), unique=True, max_size=2))
    return {
        "modules": draw(st.integers(1, 4)),
        "units": draw(st.integers(1, 4)),
        "vgpr": draw(st.integers(2, 20)),
        "sgpr": draw(st.sampled_from([0, 1, 8, 9])),
        "slots": draw(st.integers(1, 5)),
        "shared": draw(st.integers(2, 12)),
        "workgroups": draw(st.integers(1, 4)),
        "more": tuple(more),
    }


@st.composite
def rows(draw: Any, machine: dict[str, Any], levels: int, channels: int) -> Row:
    """A group that fits an empty module however its waves are shared out evenly."""
    waves = draw(st.integers(1, machine["units"] * machine["slots"]))
    on_a_unit = -(-waves // machine["units"])
    most = {"vgpr": machine["vgpr"], "sgpr": machine["sgpr"]}
    most |= {r.label: r.blocks for r in machine["more"] if r.level == "unit"}
    need = {name: draw(st.integers(0, blocks // on_a_unit)) for name, blocks in most.items()}
    own = {"shared": machine["shared"]} | {r.label: r.blocks for r in machine["more"] if r.level == "module"}
    need |= {name: draw(st.sampled_from([0, draw(st.integers(0, blocks))])) for name, blocks in own.items()}
    return Row(
        arrival=draw(st.sampled_from([0, draw(st.integers(0, 40))])),
        channel=draw(st.integers(0, channels - 1)),
        priority=draw(st.integers(1, levels)),
        waves=waves,
        duration=draw(SOMETIMES_LONG),
        independent=draw(st.booleans()),
        need=need,
        instructions=tuple(draw(st.lists(st.integers(0, 300), min_size=6, max_size=6))),
    )


OPTIONS = st.fixed_dictionaries(
    {
        "dispatches_a_round": st.sampled_from([1, 1, 2, 5]),
        "round_cycles": st.sampled_from([1, 1, 1, 3]),
        "fail_init": st.sampled_from([0, 0, 2]),
        "blocks_on_a_unit": st.sampled_from(["aggregated", "per_wave"]),
        "module_tie": st.sampled_from(["lowest", "random", "rotating"]),
    }
)


def in_queue_order(given: list[Row]) -> list[Row]:
    """Arrivals that do not decrease within a channel; across channels they come as drawn."""
    left = {c: sorted(row.arrival for row in given if row.channel == c) for c in {row.channel for row in given}}
    return [row._replace(arrival=left[row.channel].pop(0)) for row in given]


@st.composite
def cases(draw: Any, policies: Any, most: int = 14) -> Case:
    """A case; `policies` draws a mapping of slots for a machine and a number of priorities."""
    machine, levels = draw(machines()), draw(st.integers(1, 4))
    given = draw(st.lists(rows(machine, levels, draw(st.integers(1, 4))), min_size=1, max_size=most))
    given[0] = given[0]._replace(priority=levels)
    chosen = draw(policies(machine, levels))
    return Case(in_queue_order(given), **machine, policies=chosen, options=draw(OPTIONS), seed=draw(st.integers(0, 9)))
