"""Works that a text of references cites: patents, papers, software, and what else names a year.

A paper stands in `References` of a docstring as `authors, "title", venue and year`; a patent as `spec 1, R32`; software
by one of the names below; `arXiv 2309.06180` and `owner/repository#1` name themselves. What has a year and is none of
these is kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Work(NamedTuple):
    """One entry of a bibliography."""

    kind: str
    """Of BibTeX: article, inproceedings, techreport, misc."""
    key: str
    fields: dict[str, str]
    """By their names; TeX is escaped when they are written, except within `author` and `url`."""


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
    """Return the works that a text of references cites, each once: patents, papers, software, what else has a year.

    >>> [work.key for work in works_in('spec 1, R32; MGPUSim, `resourcemask.go`; A. Bee, "A long title", X 1999.')]
    ['CN114153753A', 'bee1999long', 'mgpusim']
    """
    text = " ".join(text.partition(">>>")[0].split())
    papers = list(_PAPER.finditer(text))
    rest = _PAPER.sub(";", text)
    works = [*map(_patent, _numbers_of_specs(rest)), *map(_paper, papers), *_named(rest), *_others(rest, bool(papers))]
    return list({work.key: work for work in works}.values())


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
    """Yield the texts that name a year and are none of the above, in their own words."""
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
