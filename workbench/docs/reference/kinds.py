"""Every kind of reference pages, in the order in which the reference lists them."""

from __future__ import annotations

from workbench.docs.reference import (
    claims,
    commands,
    engines,
    figures,
    importers,
    lever_pages,
    measures,
    policies,
    presets,
    questions,
    words,
    workloads,
)
from workbench.docs.reference.kind import Kind

KINDS: tuple[Kind, ...] = (
    engines.KIND,
    questions.KIND,
    policies.KIND,
    lever_pages.KIND,
    measures.KIND,
    figures.KIND,
    workloads.KIND,
    presets.KIND,
    importers.KIND,
    commands.KIND,
    words.KIND,
    claims.KIND,
)
