"""A resource of a unit or of a module, in blocks: what a dispatcher gives to workgroups and takes back."""

from __future__ import annotations

from typing import Literal

from workbench.errors import wrong_value
from workbench.levers import Spec, lever


class Resource(Spec):
    """One resource: where it lies, whether a grant must be contiguous, how many blocks there are.

    >>> Resource(label="barriers", level="module", contiguous=False, blocks=16).short()
    'resource(label=barriers, level=module, contiguous=False, blocks=16)'
    """

    label: str = lever(description="its name, a word of letters, digits and _, as workloads and logs call it")
    level: Literal["unit", "module"] = lever(
        "unit",
        description="whether each unit has its own and a wave takes of it, or a module has one and a group takes of it",
    )
    contiguous: bool = lever(True, description="whether a grant must be one range (spec 3, R4)")
    blocks: int = lever(128, least=1, most=4096, unit="blocks", description="blocks of each unit, or of each module")

    def check(self) -> None:
        if not (self.label.isascii() and self.label.isidentifier()):
            raise wrong_value("", "resource.label", "must be a word of letters, digits and _", self.label)
