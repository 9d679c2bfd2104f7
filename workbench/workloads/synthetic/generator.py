"""Generators: workloads that are drawn at random, known by name."""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import Family
from workbench.workloads.workload import Workload


class Generator(
    Workload, Family, noun="synthetic workload", kind="generator", example="{random_workgroups: {count: 300}}"
):
    """The base of every generator; a class that derives from it can be named in `workload: {synthetic: ...}`."""

    counted_by: ClassVar[str] = "count"
    """The lever that says how many requests there are."""
