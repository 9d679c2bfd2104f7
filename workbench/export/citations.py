"""Whom a sweep rests on, as `references.bib`: policies, workloads, machines by preset, public traces, patents.

A paper stands in `References` of a docstring as `authors, "title", venue and year`; a patent as `spec 1, R32`; software
by one of the names below; `arXiv 2309.06180` and `owner/repository#1` name themselves. What has a year and is none of
these is kept whole. Each entry says which part of the sweep it stands for.

"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.experiments.run_set import RunSet
from workbench.export.tex import comment, escape
from workbench.levers import Spec
from workbench.machine.presets import Preset, preset, preset_names
from workbench.workloads.catalogue import Entry, catalogue

_SECTION = re.compile(r"^References\n-+\n(.*?)(?=\n\s*\n\S[^\n]*\n---|\Z)", re.DOTALL | re.MULTILINE)


class Work(NamedTuple):
    """One entry of a bibliography."""

    kind: str
    """Of BibTeX: article, inproceedings, techreport, misc."""
    key: str
    fields: dict[str, str]
    """By their names; TeX is escaped when they are written, except within `author` and `url`."""


class Cited(NamedTuple):
    """One entry of the bibliography and what of the sweep it stands for."""

    work: Work
    of: list[str]
    """The parts of the sweep, such as `placement first_fit`."""


_OWN = Work("misc", "gpu-policy-workbench", {"title": "GPU policy workbench", "howpublished": "Software"})


def cited(runs: RunSet) -> list[Cited]:
    """Return what the sweep rests on, each work once, sorted by key."""
    gathered: dict[str, Cited] = {"gpu-policy-workbench": Cited(_OWN, ["every run"])}
    for part, works in _parts(runs):
        for work in works:
            gathered.setdefault(work.key, Cited(work, [])).of.append(part)
    return [one._replace(of=list(dict.fromkeys(one.of))) for _, one in sorted(gathered.items())]


def presets_of(runs: RunSet) -> list[str]:
    """Return the presets that a sweep names for its machine, in its order."""
    machine = next((point.setup.machine for point in runs.points if point.setup is not None), None)
    known = set(preset_names(type(machine))) if machine is not None else set()
    return [name for name in dict.fromkeys(_strings(runs.plan.sweep.said.get("machine"))) if name in known]


def traces_of(runs: RunSet) -> list[Entry]:
    """Return the public traces that the workloads of a sweep are read from, in its order."""
    workloads = [point.setup.workload for point in runs.points if point.setup is not None]
    names = dict.fromkeys(name for one in [*workloads, runs.plan.sweep.said.get("workload")] for name in _strings(one))
    return [catalogue()[name] for name in names if name in catalogue()]


def references_text(of: type) -> str:
    """Return the section `References` of a class's own docstring, empty where it has none.

    >>> from workbench.policies.placement import FirstFit
    >>> references_text(FirstFit).partition(";")[0]
    'spec 1, R32'
    """
    match = _SECTION.search(inspect.cleandoc(vars(of).get("__doc__") or ""))
    return " ".join(match[1].split()) if match else ""


def _parts(runs: RunSet) -> Iterator[tuple[str, list[Work]]]:
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


def specs_in(value: Any) -> Iterator[Spec]:
    """Yield a spec and those that it holds."""
    if isinstance(value, Spec):
        yield value
        for name in value.levers:
            yield from specs_in(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from specs_in(one)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Spec):
        for name in value.levers:
            yield from _strings(getattr(value, name))
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _strings(one)


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


SOFTWARE = {
    "gem5": ("The gem5 simulator", "https://www.gem5.org"),
    "GPGPU-Sim": ("GPGPU-Sim", "https://github.com/gpgpu-sim/gpgpu-sim_distribution"),
    "MGPUSim": ("MGPUSim", "https://github.com/sarchlab/mgpusim"),
    "MIAOW": ("MIAOW: an open-source GPU in Verilog", "https://github.com/VerticalResearchGroup/miaow"),
    "Ventus": ("Ventus GPGPU", "https://github.com/THU-DSP-LAB/ventus-gpgpu"),
    "Vortex": ("Vortex GPGPU", "https://github.com/vortexgpgpu/vortex"),
    "libCacheSim": ("libCacheSim", "https://github.com/1a1a11a/libCacheSim"),
    "PyTorch": ("PyTorch", "https://github.com/pytorch/pytorch"),
    "TensorFlow": ("TensorFlow", "https://github.com/tensorflow/tensorflow"),
    "RMM": ("RMM: RAPIDS Memory Manager", "https://github.com/rapidsai/rmm"),
    "Linux": ("The Linux kernel", "https://www.kernel.org"),
    "HotSpot": ("HotSpot", "https://github.com/uvahotspot/HotSpot"),
    "Graph 500": ("The Graph 500 benchmark", "https://graph500.org"),
}
_PAPER = re.compile(
    r'(?:(?P<authors>[^";]*?),\s+)?"(?P<title>[^"]{4,})",\s+(?P<venue>[^;:"]*?(?P<year>(?:19|20)\d\d)\)?)'
)
_BEFORE_AUTHORS = re.compile(
    r"^.*(?:\bspec \d.*(?:(?<=[a-z0-9)]{2})|(?<= \d))\.|\.\. \[\d+\]|\bof|\bin|\)\.|\d{4}\.)\s+(?=[A-Z])"
)
_SPEC = re.compile(r"\bspec (\d)\b")
_ARXIV = re.compile(r"\barXiv (\d{4}\.\d{5})")
_THREAD = re.compile(r"\b([\w.-]+/[\w.-]+)#(\d+)")
_YEAR = re.compile(r"\b(19[3-9]\d|20[0-3]\d)\b")
_JOURNAL = re.compile(r"(Transactions|Journal|TACO|TOCS|TPDS|Bioinformatics)")
_REPORT = re.compile(r"(Microsoft Research|MIT/LCS/TM)")
_VOLUME = re.compile(r"^(?P<name>.*?)\s+(?P<volume>\d+)(?:\((?P<number>\d+)\))?,?\s*\(?(?:19|20)\d\d\)?$")
_SMALL = {"a", "an", "and", "for", "in", "of", "on", "the", "to", "with"}


def works_in(text: str) -> list[Work]:
    """Return what a text of references cites, each once: patents, papers, software, what else has a year.

    >>> [work.key for work in works_in('spec 1, R32; MGPUSim, `resourcemask.go`; A. Bee, "A long title", X 1999.')]
    ['CN114153753A', 'bee1999long', 'mgpusim']
    """
    text = " ".join(text.partition(">>>")[0].split())
    papers = list(_PAPER.finditer(text))
    rest = _PAPER.sub(";", text)
    works = [*map(_patent, _numbers_of_specs(rest)), *map(_paper, papers), *_named(rest), *_others(rest, bool(papers))]
    return list({work.key: work for work in works}.values())


class Patent(NamedTuple):
    """A source document, as `docs/specification` gives it."""

    key: str
    title: str
    applicant: str
    number: str
    """Its publication number; empty where the copy that was read prints none and none was found."""
    filed: str
    published: str


PATENTS = {
    1: Patent(
        "CN114153753A",
        "Storage resource allocation method and device and non-transitory storage medium",
        "{Hygon Information Technology}",
        "CN114153753A",
        "2021-12-06",
        "2022-03-08",
    ),
    2: Patent(
        "CN113722111A",
        "Memory allocation method, system, apparatus and computer-readable medium",
        "{Beijing Biren Technology Development} and {Shanghai Biren Intelligent Technology}",
        "CN113722111A",
        "2021-11-03",
        "2021-11-30",
    ),
    3: Patent(
        "CN116450339A",
        "GPU resource scheduling method",
        "{MetaX Integrated Circuits (Shanghai)}",
        "CN116450339A",
        "2022-01-10",
        "2023-07-20",
    ),
    4: Patent(
        "address-translation-patent-2021",
        "Method, system, device and storage medium for optimising address translation in a GPU",
        "",
        "",
        "",
        "2021-11-05",
    ),
    5: Patent(
        "storage-regions-patent-2023",
        "Method and system for allocating storage regions among multiple processing cards",
        "{Alipay (Hangzhou) Information Technology}",
        "",
        "2023-06-15",
        "2023-07-22",
    ),
}
"""Specification 6, of the whole node, is this project's own."""


def _numbers_of_specs(text: str) -> list[Patent]:
    numbers = dict.fromkeys(int(number) for number in _SPEC.findall(text))
    return [PATENTS[number] for number in numbers if number in PATENTS]


def _patent(patent: Patent) -> Work:
    filed = f"filed {patent.filed}, " if patent.filed else ""
    number = f"Patent application {patent.number}" if patent.number else "Patent application, number not known"
    fields = {"author": patent.applicant, "title": patent.title, "howpublished": number}
    fields |= {"year": patent.published[:4], "note": f"{filed}published {patent.published}"}
    return Work("misc", patent.key, {name: value for name, value in fields.items() if value})


def _paper(match: re.Match[str]) -> Work:
    authors = _BEFORE_AUTHORS.sub("", (match["authors"] or "").strip()).lstrip(" .")
    venue, year = match["venue"].strip(), match["year"]
    name = re.sub(r",?\s*\(?(19|20)\d\d\)?$", "", venue).strip(" ,")
    fields = {"author": _bibtex_names(authors), "title": match["title"], "year": year}
    kind, more = _published(venue, name)
    return Work(kind, _key(authors, year, match["title"]), {k: v for k, v in {**fields, **more}.items() if v})


def _published(venue: str, name: str) -> tuple[str, dict[str, str]]:
    if _REPORT.search(venue):
        return "techreport", {"institution": name}
    if _JOURNAL.search(venue):
        inside = _VOLUME.match(venue)
        if inside is None:
            return "article", {"journal": name}
        return "article", {"journal": inside["name"], "volume": inside["volume"], "number": inside["number"] or ""}
    return ("inproceedings", {"booktitle": name}) if name else ("misc", {})


def _named(text: str) -> Iterator[Work]:
    for name, (title, url) in SOFTWARE.items():
        if re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/])", text):
            yield Work(
                "misc", re.sub(r"\W+", "", name).lower(), {"title": title, "howpublished": "Software", "url": url}
            )
    for number in _ARXIV.findall(text):
        fields = {"title": f"arXiv:{number}", "eprint": number, "archiveprefix": "arXiv", "year": f"20{number[:2]}"}
        yield Work("misc", f"arxiv{number}", {**fields, "url": f"https://arxiv.org/abs/{number}"})
    for repository, number in _THREAD.findall(text):
        url = f"https://github.com/{repository}/issues/{number}"
        yield Work("misc", f"{repository.replace('/', '-')}-{number}", {"title": f"{repository}#{number}", "url": url})


def _others(text: str, papers: bool) -> Iterator[Work]:
    """Yield what names a year and is none of the above, in its own words."""
    for part in re.split(r";|\.\. \[\d+\]", text):
        part = part.strip(" .")
        year = _YEAR.search(part)
        if year and not (_SPEC.search(part) or _ARXIV.search(part) or _THREAD.search(part)) and part[:1].isupper():
            part = part[: year.end()] + re.sub(r"\s*\(.*", "", part[year.end() :])
            words = [word for word in re.findall(r"[A-Za-z]{3,}", part) if word.lower() not in _SMALL]
            yield Work("misc", f"{words[0].lower()}{year[1]}{words[-1].lower()}", {"title": part, "year": year[1]})


def _bibtex_names(authors: str) -> str:
    """Return authors as BibTeX reads them.

    >>> _bibtex_names("Jaleel, Theobald, Emer"), _bibtex_names("Baruah et al."), _bibtex_names("M. Masmano and others")
    ('Jaleel and Theobald and Emer', 'Baruah and others', 'M. Masmano and others')
    """
    names = re.split(r",\s+|\s+and\s+", re.sub(r"\s*,?\s*et al\.?", " and others", authors))
    return " and ".join(name.strip() for name in names if name.strip())


def _key(authors: str, year: str, title: str) -> str:
    first = re.split(r",| and | et ", authors)[0].split()
    family = re.sub(r"[^a-z]", "", first[-1].lower()) if first else ""
    word = next(word for word in re.findall(r"[A-Za-z]+", title) if word.lower() not in _SMALL)
    return f"{family}{year}{word.lower()}"
