"""Pages of figures and of claims: what runs have shown, with the gallery and the tables of verdicts.

Of a figure: what one sees in it, its picture, the sweep that made it, its choices. Of a claim: what a document asserts,
how it was put to the test, and what came out case by case.
"""

from __future__ import annotations

import functools
import html
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbench.claims import known_claims
from workbench.claims.claim import KINDS, Claim
from workbench.docs import PICTURES, SWEEPS, VERDICT
from workbench.docs.markdown import PAGES, Kind, Page, anchor, code, entry, prose, ref, sections, table, titled
from workbench.docs.reference.engines import engine_refs
from workbench.figures.registry import ANY, CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.statistics import WORDS

GALLERY = PICTURES / "gallery"
PICTURED_BY = {
    "malloc_on_card": "No card was at hand: in the picture the engine `malloc` stands for one, with its own times, and "
    "the lock model is fitted to those. What a card takes only your measurement says."
}
"""What must be known of a picture that is not of what the figure is for."""
_KNOWN: tuple[Any, ...] = (FIGURES, STUDY_FIGURES, CALCULATIONS)


_DRAWN_OF = {
    ANY: "runs of any engine",
    "studies": "the results of a tuning study",
    "theory": "their choices alone, without runs",
}


def figure_path(name: str) -> str:
    """Return the entry of a figure, on the page of the engine whose runs it is drawn of."""
    return f"reference/figures/{_group(name)}#{name}"


def _group(name: str) -> str:
    if name in FIGURES.names():
        return FIGURES.find(name).engine
    return "studies" if name in STUDY_FIGURES.names() else "theory"


def figure_pages() -> Iterator[Page]:
    """Yield a page of the figures of each engine, of any, of studies, of theory; a name that is of both runs and
    studies has one entry."""
    names = [*dict.fromkeys(name for known in _KNOWN for name in known.all())]
    for group in dict.fromkeys(map(_group, names)):
        members = [name for name in names if _group(name) == group]
        words = f"Drawn of {_DRAWN_OF.get(group) or f'runs of {engine_refs([group])}'}."
        text = sections(f"# {group}", words, *map(_figure_entry, members))
        yield Page(f"reference/figures/{group}", group, text, words, tuple(members))


def gallery_sweeps() -> dict[str, str]:
    """Return the sweep behind every picture of the gallery: what `make pictures` ran."""
    kept = GALLERY / "sweeps.json"
    return dict(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else {}


def _figure_entry(name: str) -> str:
    parts = [known.find(name) for known in _KNOWN if name in known.names()]
    picture = f"![{parts[0].description}](/pictures/gallery/{name}.png)" if (GALLERY / f"{name}.png").exists() else ""
    return entry(
        name,
        *(prose(part.description) for part in parts),
        picture,
        PICTURED_BY.get(name, ""),
        _choices(parts[0].data),
        titled("How to draw it", _example(name)),
        _sweep(name),
    )


def _choices(data: Callable[..., Any]) -> str:
    choices = [one for one in inspect.signature(data).parameters.values() if one.default is not inspect.Parameter.empty]
    return f"Choices: {', '.join(f'`{one.name}={one.default!r}`' for one in choices)}." if choices else ""


def _sweep(name: str) -> str:
    """Return the sweep that made the picture, or the first that is shipped and names the figure."""
    sweep = _sweep_of(name)
    if not (SWEEPS / sweep).is_file():
        return ""
    others = [f"`sweeps/{other}`" for other in sweeps_with(name) if other != sweep]
    return sections(
        f"**The sweep** `sweeps/{sweep}`{' (the picture has fewer seeds)' if name in gallery_sweeps() else ''}",
        code((SWEEPS / sweep).read_text(encoding="utf-8"), "yaml"),
        f"Also drawn by {', '.join(others)}." if others else "",
    )


def _sweep_of(name: str) -> str:
    return gallery_sweeps().get(name) or next(iter(sweeps_with(name)), "SWEEP.yaml")


def sweeps_with(name: str) -> list[str]:
    """Return the shipped sweeps that name a figure, by their path below `sweeps`."""
    return [
        file.relative_to(SWEEPS).as_posix()
        for file in sorted(SWEEPS.rglob("*.yaml"))
        if name in _named(file.read_text(encoding="utf-8"))
    ]


def _named(text: str) -> list[str]:
    line = next((line for line in text.splitlines() if line.startswith("figures:")), "")
    return [word.strip(' "') for word in line.partition("[")[2].rpartition("]")[0].split(",")]


def _example(name: str) -> str:
    if _group(name) == "theory":
        example = CALCULATIONS.find(name).example
        return code(example) if example else code(f"workbench figure {name}", "bash")
    sweep = _sweep_of(name)
    if _group(name) == "studies":
        draw = f'study_figures()["{name}"].figure(wb.tune("sweeps/{sweep}"))'
        return code(f"import workbench as wb\nfrom workbench.figures import study_figures\n\n{draw}")
    return code(f'import workbench as wb\n\nwb.run("sweeps/{sweep}").figure("{name}")')


FIGURE_KIND = Kind(
    "figures",
    "Figures",
    "A figure is data, then ink: a function from runs to a named tuple of exactly what is drawn, and a function that "
    "draws it. Its columns are the CSV that is written beside the PDF.",
    figure_pages,
)


def gallery_cards() -> str:
    """Return the cards of all figures with a picture."""
    known: dict[str, Any] = {**STUDY_FIGURES.all(), **CALCULATIONS.all(), **FIGURES.all()}
    names = [name for name in known if (GALLERY / f"{name}.png").exists()]
    inside = "\n".join(_gallery_card(name, known[name].description) for name in sorted(names))
    return f'```{{raw}} html\n<div class="gallery">\n{inside}\n</div>\n```'


def _gallery_card(name: str, description: str) -> str:
    words = html.escape(description)
    picture = f'<img src="site:gallery/{name}.png" alt="{words}" loading="lazy">'
    group, _, at = figure_path(name).partition("#")
    return f'<a class="card" href="site:{group}.html#{at}">{picture}<b>{name}</b><span>{words}</span></a>'


MOST_CASES = 60
"""Of the cases of one claim that its entry shows; the file of all cases has the others."""


def claim_path(id: str) -> str:
    """Return the entry of a claim, on the page of its specification's verdicts."""
    return f"verdict/{PAGES[int(id[1])]}#{id.lower().replace('.', '-')}"


def _members() -> dict[str, dict[str, Claim]]:
    """Return the claims of the package by the specification that they are of."""
    members: dict[str, dict[str, Claim]] = {}
    for id, claim in known_claims().items():
        if claim.built_in:
            members.setdefault(PAGES[int(claim.family.removeprefix("H"))], {})[id] = claim
    return members


def claim_pages() -> Iterator[Page]:
    """Yield a page of the claims of each specification."""
    for page, claims in _members().items():
        title = f"Claims of specification {page.replace('-', ', ')}"
        again = "`workbench claims ID` puts one to the test again."
        text = sections(f"# {title}", again, *(_claim_entry(id, claim) for id, claim in claims.items()))
        yield Page(f"verdict/{page}", title, text, names=tuple(id.lower().replace(".", "-") for id in claims))


@functools.cache
def verdicts() -> dict[str, Mapping[str, Any]]:
    """Return what a full run said of every claim, by its number."""
    file = VERDICT / "verdict.json"
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return {row["id"]: row for row in rows}


def verdict_of(claim: Claim) -> Mapping[str, Any] | None:
    """Return what the latest full run said of a claim, be it 0.5's verdict on its question of then; None where it is
    younger."""
    return verdicts().get(claim.verdict_id) or verdicts().get(claim.id)


def older(claim: Claim, row: Mapping[str, Any] | None) -> str:
    """Return a sentence where a verdict is of another question or estimand than the claim has now; else nothing."""
    if row is None or row["id"] == claim.verdict_id:
        return ""
    return f"This is 0.5's verdict, on the mean difference: “{row['statement']}”. {claim.verdict_id} is not judged yet."


def _claim_entry(id: str, claim: Claim) -> str:
    row = verdict_of(claim)
    return sections(
        anchor(id.lower().replace(".", "-")),
        f"## {id}",
        f"**{_verdict_word(id)}**: {prose(claim.statement)}.",
        prose(older(claim, row)),
        _claim_facts(claim, row),
        _cases(row) if row else "It is younger than the latest full run.",
    )


def _claim_facts(claim: Claim, row: Mapping[str, Any] | None) -> str:
    spec = prose(f"spec {claim.family.removeprefix('H')}, {claim.id}")
    rows = [
        ["asserted in", f"{spec}; {prose(claim.source)}"],
        ["kind", f"{claim.kind.replace('_', ' ')}: {KINDS[claim.kind]}"],
        ["design", prose(claim.design) or "its own cases"],
    ]
    if row:
        rows += [
            ["cases for, against, neither", f"{row['cases_for']}, {row['cases_against']}, {row['cases_neither']}"],
            ["corrected over", f"{row['family_size']} tested claims of the specification, and its own cases"],
        ]
    return table(["", ""], rows)


def _cases(row: Mapping[str, Any]) -> str:
    cases = row["cases"]
    sides = {"for": "for", "against": "against"}
    rows = [
        [
            prose(str(case["case"])),
            prose(str(case["measure"] or "")),
            _number(case["estimate"]),
            f"{_number(case['low'])} to {_number(case['high'])}",
            case["unit"] or "",
            case["n"],
            sides.get(str(case["side"]), "neither"),
        ]
        for case in cases[:MOST_CASES]
    ]
    rest = f"{len(cases) - MOST_CASES} more cases are in `data/verdict/cases.csv`." if len(cases) > MOST_CASES else ""
    heads = ["case", "measure", "estimate", "interval", "unit", "n", "says"]
    return sections(table(heads, rows), rest)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


NOT_JUDGED = "not judged yet"


def verdict_summary() -> str:
    """Return how many claims of each specification came out how."""
    columns, rows = [*(word.replace("_", " ") for word in WORDS), NOT_JUDGED], list[list[object]]()
    for page, claims in _members().items():
        came = [*map(_verdict_word, claims)]
        rows.append(
            [ref(page.replace("-", ", "), f"specification/{page}"), *(came.count(word) or "" for word in columns)]
        )
    return table(["specification", *columns], rows)


def verdict_words() -> str:
    """Return what each verdict means."""
    rows = [[f"**{word.replace('_', ' ')}**", meaning] for word, meaning in WORDS.items()]
    return table(["verdict", "it holds, or what is shown"], rows)


def claim_kinds() -> str:
    """Return what each kind of claim means."""
    return table(["kind", "it means"], [[kind.replace("_", " "), meaning] for kind, meaning in KINDS.items()])


def claims_table() -> str:
    """Return every claim with its verdict, a table a specification."""
    heads = ["claim", "it says", "verdict", "kind"]
    return sections(
        *(
            sections(
                f"## Specification {page.replace('-', ': ')}", table(heads, map(_claim_row, claims, claims.values()))
            )
            for page, claims in _members().items()
        )
    )


def _claim_row(id: str, claim: Claim) -> list[str]:
    word = _verdict_word(id)
    marked = word if word == NOT_JUDGED else f"**{word}**"
    return [ref(id, claim_path(id)), prose(claim.statement), marked, claim.kind.replace("_", " ")]


def _verdict_word(id: str) -> str:
    """Return a claim's verdict in the last full run."""
    row = verdict_of(known_claims()[id])
    return row["verdict"].replace("_", " ") if row else NOT_JUDGED
