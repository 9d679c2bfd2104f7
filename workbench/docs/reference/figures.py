"""A page for every figure: what one sees in it, its picture, the sweep that made it, its choices."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

from workbench.docs.folders import PICTURES, SWEEPS
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.kind import Kind, crumbs
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES

GALLERY = PICTURES / "gallery"
PICTURED_BY = {
    "malloc_on_card": "No card was at hand: in the picture the engine `malloc` stands for one, with its own times, and "
    "the lock model is fitted to those. What a card takes only your measurement says."
}
"""What must be known of a picture that is not of what the figure is for."""
_KINDS = (("Of runs", FIGURES), ("Of a study", STUDY_FIGURES), ("Of theory, without runs", CALCULATIONS))


def path(name: str) -> str:
    """Return the path of a figure's page."""
    return f"reference/figures/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every figure; a name that both runs and studies draw has one page."""
    for name in dict.fromkeys(name for _, known in _KINDS for name in known.all()):
        yield _page(name)


def names() -> list[str]:
    """Return the path of every figure's page."""
    return [path(name) for _, known in _KINDS for name in known.names()]


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


def _page(name: str) -> Page:
    here, parts = path(name), _parts(name)
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


KIND = Kind(
    "figures",
    "Figures",
    "A figure is data, then ink: a function from runs to a named tuple of exactly what is drawn, and a function that "
    "draws it. Its columns are the CSV that is written beside the PDF.",
    pages,
    names,
)
