"""Policies that live in a user's own file: `my_fit.py:MyFit`."""

from __future__ import annotations

from pathlib import Path

from workbench.parts import files_named, from_file, is_in_file
from workbench.policies.policy import Policy

_NOUN = "policy class"


def policy_in_file(name: str, folder: Path, where: str) -> type[Policy]:
    """Return the class that `FILE.py:CLASS` names, as `workbench.parts.user_files` does.

    Raises
    ------
    InputError
        There is no such file or class, the file does not run, or the class is not a policy.
    """
    policy: type[Policy] = from_file(name, folder, where, _NOUN, _is_policy)
    return policy


def policy_files(name: str, folder: Path, where: str) -> list[Path]:
    """Return the file that `FILE.py:CLASS` names and every file that it imports from beside it; errors as above."""
    return files_named(name, folder, where, _NOUN)


def _is_policy(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Policy) and bool(value.question)


__all__ = ["is_in_file", "policy_files", "policy_in_file"]
