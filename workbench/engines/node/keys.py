"""Who an event is of, K: (card, application, stream, step, group, wave, phase, touch), packed into two words.

Of two events of one cycle and rank the one whose words are lower comes first (spec 6, R3); absent fields, -1, come
before all others.
"""

from __future__ import annotations

from workbench.compiled import kernel

MOST_CARDS, MOST_APPLICATIONS, MOST_STREAMS, MOST_STEPS = 1 << 6, (1 << 14) - 2, (1 << 14) - 2, (1 << 28) - 2
MOST_GROUPS, MOST_WAVES, MOST_PHASES, MOST_TOUCHES = (1 << 28) - 2, (1 << 11) - 2, (1 << 10) - 2, (1 << 14) - 2
ABSENT = -1
NOBODY = 0
"""A word all of whose fields are absent."""


@kernel
def owner(card: int, application: int, stream: int, step: int) -> int:
    """Return the first word."""
    return (card + 1) << 56 | (application + 1) << 42 | (stream + 1) << 28 | (step + 1)


@kernel
def member(group: int, wave: int, phase: int, touch: int) -> int:
    """Return the second word."""
    return (group + 1) << 35 | (wave + 1) << 24 | (phase + 1) << 14 | (touch + 1)
