"""Whom a sweep rests on, as `references.bib`: policies, workloads, machines by preset, public traces, patents.

Each entry says which part of the sweep it stands for.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.experiments.needed_packages import specs_in, texts_in
from workbench.experiments.results import Results
from workbench.export.tex import comment, escape
from workbench.export.works import Work, works_in
from workbench.machine.presets import Preset, preset, preset_names
from workbench.workloads.catalogue import Entry, catalogue

_SECTION = re.compile(r"^References\n-+\n(.*?)(?=\n\s*\n\S[^\n]*\n---|\Z)", re.DOTALL | re.MULTILINE)
_OWN = Work("misc", "gpu-policy-workbench", {"title": "GPU policy workbench", "howpublished": "Software"})


class Cited(NamedTuple):
    """One entry of the bibliography and what of the sweep it stands for."""

    work: Work
    of: list[str]
    """The parts of the sweep, such as `placement first_fit`."""


def cited(runs: Results) -> list[Cited]:
    """Return the works on which the sweep rests, each once, sorted by key."""
    gathered: dict[str, Cited] = {"gpu-policy-workbench": Cited(_OWN, ["every run"])}
    for part, works in _parts(runs):
        for work in works:
            gathered.setdefault(work.key, Cited(work, [])).of.append(part)
    return [one._replace(of=list(dict.fromkeys(one.of))) for _, one in sorted(gathered.items())]


def presets_of(runs: Results) -> list[str]:
    """Return the presets that a sweep names for its machine, in its order."""
    machine = next((point.setup.machine for point in runs.points if point.setup is not None), None)
    known = set(preset_names(type(machine))) if machine is not None else set()
    return [name for name in dict.fromkeys(texts_in(runs.plan.sweep.config.get("machine"))) if name in known]


def traces_of(runs: Results) -> list[Entry]:
    """Return the public traces that the workloads of a sweep are read from, in its order."""
    workloads = [point.setup.workload for point in runs.points if point.setup is not None]
    names = dict.fromkeys(
        name for one in [*workloads, runs.plan.sweep.config.get("workload")] for name in texts_in(one)
    )
    return [catalogue()[name] for name in names if name in catalogue()]


def references_text(of: type) -> str:
    """Return the section `References` of a class's own docstring, empty where it has none.

    >>> from workbench.policies.placement import FirstFit
    >>> references_text(FirstFit).partition(";")[0]
    'spec 1, R32'
    """
    match = _SECTION.search(inspect.cleandoc(vars(of).get("__doc__") or ""))
    return " ".join(match[1].split()) if match else ""


def _parts(runs: Results) -> Iterator[tuple[str, list[Work]]]:
    setups = [point.setup for point in runs.points if point.setup is not None]
    for setup in setups:
        for slot, policy in sorted(setup.policies.items()):
            for spec in specs_in(policy):
                yield f"{slot} {spec.name}", works_in(references_text(type(spec)))
        for spec in (*specs_in(setup.workload), *specs_in(setup.options)):
            yield spec.name, works_in(references_text(type(spec)))
    machine = type(setups[0].machine) if setups else None
    for name in presets_of(runs):
        yield f"machine {name}", [_of_preset(preset(name, machine))]
    for entry in traces_of(runs):
        yield f"trace {entry.name}", [_of_trace(entry)]


def _of_preset(one: Preset) -> Work:
    marks = sorted({figure.mark.replace("_", " ") for figure in one.figures.values()})
    note = f"figures of the machine: {', '.join(marks)}; each with its source in the preset {one.name}"
    return Work(
        "misc", f"machine-{one.name}", {"title": one.title, "howpublished": f"Preset of {one.of.name}", "note": note}
    )


def _of_trace(entry: Entry) -> Work:
    note = f"commit {entry.commit}, {entry.path}; {entry.holds}; licence {entry.licence}; sha256 {entry.sha256[:16]}"
    note += f"; changed: {entry.changed}" if entry.changed else ""
    fields = {"title": f"Trace {entry.name}", "howpublished": entry.repository, "note": note}
    return Work("misc", f"trace-{entry.name}", {**fields, "url": f"https://github.com/{entry.repository}"})


_AS_IT_IS = ("url", "eprint", "archiveprefix", "year", "volume", "number")
_HEAD = """\
% What the sweep of this bundle rests on: the sources that its policies, workloads and machines name, and its traces.
"""


def bibliography(entries: Sequence[Cited]) -> str:
    """Return the file's whole text, entries by their keys."""
    return _HEAD + "".join(f"\n{_entry(one)}" for one in entries)


def _entry(one: Cited) -> str:
    work = one.work
    fields = "".join(f"  {name} = {{{_value(name, text)}}},\n" for name, text in work.fields.items())
    return f"{comment('for ' + ', '.join(one.of))}\n@{work.kind}{{{work.key},\n{fields}}}\n"


def _value(name: str, text: str) -> str:
    if name in _AS_IT_IS:
        return text
    if name == "author":
        return " ".join(_author(word) for word in text.split(" "))
    return f"{{{escape(text)}}}" if name == "title" else escape(text)


def _author(word: str) -> str:
    """Return a word of the authors, its letters escaped and BibTeX's braces kept."""
    inside = escape(word.strip("{}")) if word.strip("{}") else ""
    opened, closed = "{" if word.startswith("{") else "", "}" if word.endswith("}") else ""
    return f"{opened}{inside}{closed}"
