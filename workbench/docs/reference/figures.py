"""Pages of figures: what one sees in each, its picture, the sweep that made it, its choices; and the gallery."""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.docs import PICTURES, SWEEPS
from workbench.docs.markdown import Kind, Page, code, entry, rubric, sections, titled
from workbench.docs.reference.engines import engine_refs
from workbench.docs.spec_links import prose
from workbench.figures.registry import ANY, CALCULATIONS, FIGURES, STUDY_FIGURES

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
        title = "any engine" if group == ANY else group
        words = f"Drawn of {_DRAWN_OF.get(group) or f'runs of {engine_refs([group])}'}."
        text = sections(f"# Figures: {title}", words, *map(_figure_entry, members))
        yield Page(f"reference/figures/{group}", title, text, words, tuple(members))


def gallery_sweeps() -> dict[str, str]:
    """Return the sweep behind every picture of the gallery: what `make pictures` ran."""
    listing = GALLERY / "sweeps.json"
    return dict(json.loads(listing.read_text(encoding="utf-8"))) if listing.exists() else {}


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
        rubric("The sweep"),
        f"`sweeps/{sweep}`{', of which the picture has fewer seeds' if name in gallery_sweeps() else ''}:",
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


GALLERY_QUESTIONS: dict[str, tuple[str, ...]] = {
    "Which policy is better, and by how much?": (
        *("drain_difference", "saving_by_policy", "speed_up", "measure_by_lever", "latency_distribution"),
        *("waits_by_priority", "wear_by_segment", "fragmentation_by_size"),
    ),
    "Where does a policy lose, and which lever matters?": (
        *("where_it_holds", "scenario_discovery", "sensitivities", "interactions", "factorial_effects"),
    ),
    "What does tuning give?": ("pareto", "hypervolume_history", "lever_importances"),
    "How much memory does a program need?": (
        *("reserved_over_program", "reserved_over_requests", "recorded_against_replayed", "memory_by_card"),
        *("region_layout", "lending_graph"),
    ),
    "What does it cost in hardware?": ("probe_accuracy_against_area", "probe_accuracy_against_gates", "probe_success"),
    "How near is a model to a card or to a bound?": ("measured_and_predicted", "malloc_on_card", "reading_over_bound"),
}
"""The figures of the gallery by the question that they answer; all others show what happens in a run."""
OTHERS = "What happens in a run?"


def gallery_cards() -> str:
    """Return the cards of all figures with a picture, below the questions that they answer."""
    known: dict[str, Any] = {**STUDY_FIGURES.all(), **CALCULATIONS.all(), **FIGURES.all()}
    names = sorted(name for name in known if (GALLERY / f"{name}.png").exists())
    placed = {name for members in GALLERY_QUESTIONS.values() for name in members}
    groups = {**GALLERY_QUESTIONS, OTHERS: tuple(name for name in names if name not in placed)}
    cards = {name: _gallery_card(name, known[name].description) for name in names}
    return sections(
        *(
            part
            for question, members in groups.items()
            for part in (f"## {question}", _raw_gallery([cards[name] for name in members if name in cards]))
        )
    )


def _raw_gallery(cards: Sequence[str]) -> str:
    inside = "\n".join(cards)
    return f'```{{raw}} html\n<div class="gallery">\n{inside}\n</div>\n```'


def _gallery_card(name: str, description: str) -> str:
    words = html.escape(description)
    picture = f'<img src="site:gallery/{name}.png" alt="{words}" loading="lazy">'
    group, _, at = figure_path(name).partition("#")
    return f'<a class="card" href="site:{group}.html#{at}">{picture}<strong>{name}</strong><span>{words}</span></a>'
