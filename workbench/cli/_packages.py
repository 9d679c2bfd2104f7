"""`workbench list packages`: the parts that installed packages bring, and why some of them cannot be used."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.cli._output import add_output_arguments, say_json, say_lines, say_notes
from workbench.cli.commands import DONE
from workbench.errors import InputError, unknown_name
from workbench.guests import Guest, every_guest, guests, load, problems
from workbench.parts.registry import Registry, attribute


def problems_of_kind(kind: str) -> list[str]:
    """Return a sentence for each part of a kind that an installed package brings and that cannot be used."""
    return [sentence for guest in guests(kind).values() if (sentence := problem_of(guest))]


def problem_of(guest: Guest) -> str:
    """Return the reason why a part cannot be used; empty if it can. Its package is imported."""
    try:
        if guest.kind == "preset":
            _check_preset(guest)
        elif guest.kind == "executor":
            load(guest, callable, "function from a number of workers to an executor")
        else:
            return _registry(guest).problem(guest)
    except InputError as problem:
        text = str(problem)
        return text if text.startswith(guest.package) else guest.says(f"cannot be used: {text}")
    return ""


_REGISTRIES = {
    "engine": "workbench.mechanisms.mechanism:MECHANISMS",
    "figure": "workbench.figures.registry:FIGURES",
    "dashboard": "workbench.dashboards:DASHBOARDS",
    "circuit": "workbench.circuits.registry:MAKERS",
    "claim": "workbench.claims:CLAIMS",
    "importer": "workbench.workloads.importers.importer:IMPORTERS",
}
"""The registries of the kinds that have one each."""


def _registry(guest: Guest) -> Registry[Any]:
    """Return the registry that a part joins, with all parts of this package in it."""
    if guest.kind == "policy":
        from workbench.policies.catalogue import load_all
        from workbench.policies.policy import questions, registry_of

        load_all()
        if guest.within not in questions():
            raise unknown_name("", "question", guest.within, questions())
        return registry_of(guest.within)
    if guest.kind == "measure":
        from workbench.mechanisms.measures import measures_of

        return measures_of(guest.within)
    if guest.kind == "generator":
        from workbench.workloads.generators import Generator

        return Generator.members
    registry: Registry[Any] = attribute(_REGISTRIES[guest.kind])()
    return registry


def _check_preset(guest: Guest) -> None:
    from workbench.machine.guest_presets import preset_of

    preset_of(guest)


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_output_arguments(parser)


def _run(args: argparse.Namespace) -> int:
    rows = [
        {"package": one.package, "kind": one.kind, "entry": one.entry, "place": one.place, "problem": problem_of(one)}
        for one in every_guest()
    ]
    if args.json:
        say_json({"packages": rows, "problems": problems()})
        return DONE
    if not rows:
        say_lines(["no installed package brings parts; see workbench open docs, Your own package"])
    for package in dict.fromkeys(row["package"] for row in rows):
        usable = (row["entry"] for row in rows if row["package"] == package and not row["problem"])
        say_lines([package, *(f"    {entry}" for entry in usable)])
    say_notes([*(f"not used: {row['problem']}" for row in rows if row["problem"]), *problems()])
    return DONE


PACKAGES = _arguments, _run
