"""A page for every figure and every claim: what runs have shown, with the gallery and the tables of verdicts.

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

from workbench.docs import PICTURES, SWEEPS, VERDICT
from workbench.docs.markdown import Kind, Page, address, code, crumbs, prose, sections, table
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.studies.claims import known_claims
from workbench.studies.claims.claim import KINDS, Claim
from workbench.studies.statistics import WORDS

GALLERY = PICTURES / "gallery"
PICTURED_BY = {
    "malloc_on_card": "No card was at hand: in the picture the engine `malloc` stands for one, with its own times, and "
    "the lock model is fitted to those. What a card takes only your measurement says."
}
"""What must be known of a picture that is not of what the figure is for."""
_KINDS = (("Of runs", FIGURES), ("Of a study", STUDY_FIGURES), ("Of theory, without runs", CALCULATIONS))


def figure_path(name: str) -> str:
    """Return the path of a figure's page."""
    return f"reference/figures/{name}"


def figure_pages() -> Iterator[Page]:
    """Yield a page for every figure; a name that both runs and studies draw has one page."""
    for name in dict.fromkeys(name for _, known in _KINDS for name in known.all()):
        yield _figure_page(name)


def figure_names() -> list[str]:
    """Return the path of every figure's page."""
    return [figure_path(name) for _, known in _KINDS for name in known.names()]


def gallery_sweeps() -> dict[str, str]:
    """Return the sweep behind every picture of the gallery: what `make pictures` ran."""
    kept = GALLERY / "sweeps.json"
    return dict(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else {}


def picture_of(name: str, here: str) -> str:
    """Return the picture of a figure as Markdown; empty where there is none."""
    if not (GALLERY / f"{name}.png").exists():
        return ""
    return f"![{_parts(name)[0][1].description}]({'../' * here.count('/')}pictures/gallery/{name}.png)"


def _parts(name: str) -> list[tuple[str, Any]]:
    return [(kind, known.find(name)) for kind, known in _KINDS if name in known.names()]


def _figure_page(name: str) -> Page:
    here, parts = figure_path(name), _parts(name)
    kind, first = parts[0]
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Figures", "reference/figures/index")),
            f"# {name}",
            *(prose(part.description, here) for _, part in parts),
            picture_of(name, here),
            PICTURED_BY.get(name, ""),
            _drawn_of(kind, first, here),
            _choices(first.data),
            _sweep(name),
            _example(kind, name),
        ),
        summary=prose(first.description, here),
        group=kind,
    )


def _drawn_of(kind: str, one: Any, here: str) -> str:
    engine = getattr(one, "engine", "")
    if engine and engine != "any":
        return f"Drawn of runs of [`{engine}`]({address(here, f'reference/engines/{engine}')})."
    return {"Of runs": "Drawn of runs of any engine.", "Of a study": "Drawn of the results of a tuning study."}.get(
        kind, "Calculated from its choices alone."
    )


def _choices(data: Callable[..., Any]) -> str:
    parameters = list(inspect.signature(data).parameters.values())
    rows = [[f"`{one.name}`", f"`{one.default!r}`"] for one in parameters if one.default is not inspect.Parameter.empty]
    return sections("## Choices", table(["choice", "default"], rows)) if rows else ""


def _sweep(name: str) -> str:
    """Return the sweep that made the picture, or the first that is shipped and names the figure."""
    sweep = gallery_sweeps().get(name) or next(iter(sweeps_with(name)), "")
    file = SWEEPS / sweep
    if not sweep or not file.is_file():
        return ""
    others = [f"`sweeps/{other}`" for other in sweeps_with(name) if other != sweep]
    return sections(
        "## The sweep",
        f"`sweeps/{sweep}`{' (the picture has fewer seeds)' if name in gallery_sweeps() else ''}:",
        code(file.read_text(encoding="utf-8"), "yaml"),
        f"Also drawn by {', '.join(others)}." if others else "",
    )


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


def _example(kind: str, name: str) -> str:
    if kind == "Of theory, without runs":
        example = CALCULATIONS.find(name).example
        return sections("## How to draw it", code(example) if example else code(f"workbench figure {name}", "bash"))
    sweep = gallery_sweeps().get(name) or next(iter(sweeps_with(name)), "SWEEP.yaml")
    if kind == "Of a study":
        call = f'results = wb.tune("sweeps/{sweep}")\nstudy_figures()["{name}"].figure(results)'
        return sections(
            "## How to draw it", code(f"import workbench as wb\nfrom workbench.figures import study_figures\n\n{call}")
        )
    call = f'wb.run("sweeps/{sweep}").figure("{name}")'
    return sections("## How to draw it", code(f"import workbench as wb\n\n{call}"))


FIGURE_KIND = Kind(
    "figures",
    "Figures",
    "A figure is data, then ink: a function from runs to a named tuple of exactly what is drawn, and a function that "
    "draws it. Its columns are the CSV that is written beside the PDF.",
    figure_pages,
    figure_names,
)


def gallery_cards(here: str) -> str:
    """Return the cards of all figures with a picture."""
    known: dict[str, Any] = {**STUDY_FIGURES.all(), **CALCULATIONS.all(), **FIGURES.all()}
    names = [name for name in known if (GALLERY / f"{name}.png").exists()]
    inside = "\n".join(_gallery_card(name, known[name].description, here) for name in sorted(names))
    return f'```{{raw}} html\n<div class="gallery">\n{inside}\n</div>\n```'


def _gallery_card(name: str, description: str, here: str) -> str:
    up, words = "../" * here.count("/"), html.escape(description)
    picture = f'<img src="{up}_static/gallery/{name}.png" alt="{words}" loading="lazy">'
    return f'<a class="card" href="{address(here, figure_path(name))}">{picture}<b>{name}</b><span>{words}</span></a>'


MOST_CASES = 60
"""Of the cases of one claim that its page shows; the file of all cases has the others."""


def claim_path(id: str) -> str:
    """Return the path of a claim's page."""
    return f"verdict/{id.lower().replace('.', '-')}"


def claim_pages() -> Iterator[Page]:
    """Yield a page for every claim."""
    for id, claim in known_claims().items():
        if claim.built_in:
            yield _claim_page(id, claim, verdict_of(claim))


def claim_names() -> list[str]:
    """Return the path of every claim's page."""
    return [claim_path(id) for id, claim in known_claims().items() if claim.built_in]


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


def _claim_page(id: str, claim: Claim, row: Mapping[str, Any] | None) -> Page:
    here = claim_path(id)
    word = str(row["verdict"]).replace("_", " ") if row else "not judged yet"
    return Page(
        here,
        id,
        sections(
            "{.crumbs}\n" + f"[The verdict]({address(here, 'verdict/index')})",
            f"# {id}",
            f"**{word}**: {prose(claim.statement, here)}.",
            prose(older(claim, row), here),
            _claim_facts(claim, row, here),
            _cases(row, here) if row else "It is younger than the latest full run.",
            sections("## Run it again", code(f"workbench claims {id}", "bash")),
        ),
        summary=f"{prose(claim.statement, here)} | {word}",
        group=claim.family,
    )


def _claim_facts(claim: Claim, row: Mapping[str, Any] | None, here: str) -> str:
    spec = prose(f"spec {claim.family.removeprefix('H')}, {claim.id}", here)
    rows = [
        ["asserted in", f"{spec}; {prose(claim.source, here)}"],
        ["kind", f"{claim.kind.replace('_', ' ')}: {KINDS[claim.kind]}"],
        ["design", prose(claim.design, here) or "its own cases"],
    ]
    if row:
        rows += [
            ["cases for, against, neither", f"{row['cases_for']}, {row['cases_against']}, {row['cases_neither']}"],
            ["corrected over", f"{row['family_size']} tested claims of the specification, and its own cases"],
        ]
    return table(["", ""], rows)


def _cases(row: Mapping[str, Any], here: str) -> str:
    cases = row["cases"]
    sides = {"for": "for", "against": "against"}
    rows = [
        [
            prose(str(case["case"]), here),
            prose(str(case["measure"] or ""), here),
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
    return sections("## Cases", table(heads, rows), rest)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


CLAIM_KIND = Kind("claims", "Claims", "", claim_pages, claim_names)

SPECIFICATIONS = {
    "H1": "1-placement",
    "H2": "2-malloc",
    "H3": "3-dispatch",
    "H4": "4-translation",
    "H5": "5-pool",
    "H6": "6-node",
}
NOT_JUDGED = "not judged yet"


def verdict_summary(here: str) -> str:
    """Return how many claims of each specification came out how."""
    columns, rows = [*(word.replace("_", " ") for word in WORDS), NOT_JUDGED], list[list[object]]()
    for family, page in SPECIFICATIONS.items():
        members = [id for id, claim in known_claims().items() if claim.family == family and claim.built_in]
        came = [_verdict_word(id) for id in members]
        counts = [came.count(word) or "" for word in columns]
        rows.append([f"[{page.replace('-', ', ', 1)}]({address(here, f'specification/{page}')})", *counts])
    return table(["specification", *columns], rows)


def verdict_words(here: str) -> str:
    """Return what each verdict means."""
    rows = [[f"**{word.replace('_', ' ')}**", meaning] for word, meaning in WORDS.items()]
    return table(["verdict", "it holds, or what is shown"], rows)


def claim_kinds(here: str) -> str:
    """Return what each kind of claim means."""
    return table(["kind", "it means"], [[kind.replace("_", " "), meaning] for kind, meaning in KINDS.items()])


def claims_table(here: str) -> str:
    """Return every claim with its verdict, a table a specification."""
    parts = []
    for family in dict.fromkeys(claim.family for claim in known_claims().values() if claim.built_in):
        rows = [
            [
                f"[{id}]({address(here, claim_path(id))})",
                prose(claim.statement, here),
                _marked(_verdict_word(id)),
                claim.kind.replace("_", " "),
            ]
            for id, claim in known_claims().items()
            if claim.family == family and claim.built_in
        ]
        title = SPECIFICATIONS.get(family, family).replace("-", ": ")
        parts.append(sections(f"## Specification {title}", table(["claim", "it says", "verdict", "kind"], rows)))
    return sections(*parts)


def _verdict_word(id: str) -> str:
    """Return a claim's verdict in the last full run."""
    row = verdict_of(known_claims()[id])
    return row["verdict"].replace("_", " ") if row else NOT_JUDGED


def _marked(word: str) -> str:
    return word if word == NOT_JUDGED else f"**{word}**"
