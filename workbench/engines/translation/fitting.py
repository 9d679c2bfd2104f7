"""Which options go with which machine: what none can take is refused with the path of its lever."""

from __future__ import annotations

from typing import Any

from workbench.engines.translation.page_sizes import check_sizes


def check_options(setup: Any) -> None:
    """Refuse options that ask for what the machine has not.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    check_sizes(setup.options.page_sizes, setup.machine)
