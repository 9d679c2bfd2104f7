"""Which setups are refused before anything runs: policies and options that do not go with the machine."""

from __future__ import annotations

from workbench.engines.engine import at_slot
from workbench.engines.translation.bypass import check_bypass
from workbench.engines.translation.options import TranslationOptions
from workbench.engines.translation.page_sizes import check_sizes
from workbench.engines.translation.slots import Case
from workbench.engines.translation.walk_order import check_order
from workbench.errors import InputError, wrong_value
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation.locate import Plan


def plan_of(case: Case) -> Plan:
    """Return who is asked before the shared TLB, as numbers; refuse a directory smaller than its TLB."""
    with at_slot(case.setup, "locate"):
        return case.slots.locate.plan(case.machine.private_entries)


def check_policies(case: Case, plan: Plan) -> None:
    """Refuse thresholds that no machine of this size can reach."""
    cores, entries = case.machine.cores, case.machine.private_entries
    _, _, fill, remote, eviction, shared = case.slots
    scope = "policy.locate.directory.scope.own_plus_affine.threshold"
    for name, threshold, most, unit in (
        (f"policy.eviction.{eviction.name}.share_threshold", eviction.most_threshold(), cores, "cores"),
        (f"policy.fill.{fill.name}.fill_threshold", fill.most_threshold(), entries, "private_entries"),
        (f"policy.remote_fill.{remote.name}.threshold", remote.most_threshold(), entries, "private_entries"),
        (scope, plan.affine_threshold, entries, "private_entries"),
    ):
        if threshold > most:
            raise InputError(
                f"{name} must be at most {unit} ({most}), or it is never reached. Got {threshold}. Nearest: {most}."
            )
    if shared.most_threshold():
        what = f"policy.shared_eviction must not be {shared.name}"
        raise InputError(f"{what}: there is one shared TLB, with nobody to share.")


def check_candidates(case: Case) -> None:
    """Refuse to examine more candidates than a set of a private TLB has entries."""
    eviction, machine = case.slots.eviction, case.machine
    examined = eviction.protection()[1]
    lever = "private_ways" if machine.private_ways else "private_entries"
    ways = machine.private_ways or machine.private_entries
    if examined > ways:
        name = f"policy.eviction.{eviction.name}.candidates"
        expected = f"must be at most {lever} ({ways}), all that a set holds"
        raise wrong_value("", name, expected, examined, ways)


def check_options(options: TranslationOptions, machine: TranslationMachine) -> None:
    """Refuse options that ask for what the machine has not: smaller pages, further levels, a shared TLB.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    check_sizes(options.page_sizes, machine)
    check_order(options.walk_order, machine)
    check_bypass(options.bypass, options.inclusive, machine)
