"""Which options go with which machine: what none can take is refused with the path of its lever."""

from __future__ import annotations

from workbench.engines.translation.bypass import check_bypass
from workbench.engines.translation.options import TranslationOptions
from workbench.engines.translation.page_sizes import check_sizes
from workbench.engines.translation.walk_order import check_order
from workbench.machine.translation_machine import TranslationMachine


def check_options(options: TranslationOptions, machine: TranslationMachine) -> None:
    """Refuse options that ask for what the machine has not.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    check_sizes(options.page_sizes, machine)
    check_order(options.walk_order, machine)
    check_bypass(options.bypass, options.inclusive, machine)
