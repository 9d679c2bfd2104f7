"""What the header of a circuit says of its policy."""

from __future__ import annotations

from typing import Any


def source_of(policy: Any) -> str:
    """Return what a circuit is made after: the policy's first sentence, and the first of its references."""
    text = policy.__doc__ or policy.name
    lines = [line.strip(" -") for line in text.split("References")[-1].splitlines() if line.strip(" -")]
    return f"{text.split('.')[0].strip()}. After {lines[0] if lines else policy.name}"


def levers_of(policy: Any) -> dict[str, object]:
    """Return the levers of a policy with their values."""
    return {name: getattr(policy, name) for name in policy.levers}
