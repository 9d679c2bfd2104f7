"""What a bundle holds that follows from its rows alone: `export` writes it, `verify` computes it again.

Both call `content`: whatever an export writes is compared by the next verification, without another line of code.
Measures and figures are those of the sweep or those that were selected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.errors import wrong_value
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import Sweep
from workbench.export._cells import Place, RunSets, cells, over_cells, places
from workbench.export._methods import methods
from workbench.export._run_rows import Origins, rows_as_csv
from workbench.export.citations import bibliography, cited
from workbench.export.drawings import FIGURES, Drawing
from workbench.export.macros import SIZE, Macro, macros, numbers_tex
from workbench.export.tables import Table, note, tables
from workbench.export.tex import escape, render
from workbench.export.venues import style
from workbench.figures import figure
from workbench.figures.estimates import measure_of
from workbench.figures.labels import words
from workbench.parts import file_and_name, is_in_file
from workbench.runs.run import PlannedPoint
from workbench.statistics.notes import missing_notes, saturation_notes
from workbench.statistics.sentences import blocks, looks_note, too_few_seeds

MAIN, NUMBERS, ROWS, TABLES = "main.tex", "numbers.tex", "runs.csv", "tables"
METHODS, REFERENCES = "methods.tex", "references.bib"
OF_SETUPS = (METHODS, REFERENCES)
"""What follows from the policies, workloads and machines themselves: it takes all of them to compute these."""


class Content(NamedTuple):
    """The computed part of a bundle."""

    texts: dict[str, str]
    """The text of every file that is computed, by its path in the bundle."""
    manifest: dict[str, Any]
    """What the manifest says, the digests of the files left out."""


def in_order(runs: Results) -> Results:
    """Return the same runs sorted by id: what a bundle says must not depend on the order in which rows were kept."""
    return Results(runs.plan, sorted(runs.rows.values(), key=lambda row: row.id))


def content(
    runs: Results,
    style_name: str,
    drawn: Sequence[Drawing],
    refused: Mapping[str, str],
    named: Sequence[Place] | None = None,
    columns: int = 1,
) -> Content:
    """Compute tables, macros, figure data and the manifest of some runs.

    Parameters
    ----------
    runs : Results
        In order, as `in_order` returns them.
    style_name : {"ieee", "acm", "usenix"}
        The class of the example.
    drawn, refused
        The figures, and why others could not be drawn; a figure whose data is None has no CSV file here.
    named : sequence of Place, optional
        The points as tables name them; left out, they are named after their setups.
    columns : {1, 2}
        How many columns of the paper a figure is wide.
    """
    sets, named = RunSets(), places(runs) if named is None else named
    cell_rows, over = cells(runs, sets, named), over_cells(runs)
    notes, origins = notes_of(runs), Origins(runs.rows.values())
    table_list, numbers = tables(cell_rows, over, notes), macros(runs, cell_rows)
    texts = {
        **{f"{TABLES}/{table.name}.tex": table.text for table in table_list},
        NUMBERS: numbers_tex(numbers),
        ROWS: rows_as_csv(runs.rows.values(), origins),
        **{name: text for one in drawn if one.data is not None for name, text in one.texts(columns).items()},
        METHODS: methods(runs, entries := cited(runs)),
        REFERENCES: bibliography(entries),
        MAIN: _main(runs, style_name, note(cell_rows, over), table_list, drawn, numbers, notes, columns),
    }
    sweep = runs.plan.sweep
    by_id = {place.point.id: place for place in named}
    own_figures = {one.name: one.recipe.description for one in drawn if not one.recipe.built_in}
    manifest = {
        "sweep": sweep.name,
        "question": str(sweep.config.get("question") or ""),
        "style": style_name,
        "columns": columns,
        "engine": sweep.mechanism.engine.name,
        "engine_revision": sweep.mechanism.engine.revision,
        "measures": sweep.measures,
        **(
            {"own_measures": {name: one.declared.facts() for name, one in sweep.user_measures.items()}}
            if sweep.user_measures
            else {}
        ),
        "notes": notes,
        "origins": origins.plain(),
        "macros": {f"\\{macro.name}": _of_macro(macro) for macro in numbers},
        "tables": {f"{TABLES}/{table.name}.tex": table.entries for table in table_list},
        "figures": {f"{FIGURES}/{one.name}.pdf": _of_figure(runs, sets, one) for one in drawn},
        **({"own_figures": own_figures} if own_figures else {}),
        "figures_left_out": dict(refused),
        "run_sets": sets.plain(),
        "points": {point.id: _of_point(by_id[point.id]) for point in runs.points},
    }
    return Content(texts, manifest)


def notes_of(runs: Results) -> list[str]:
    """Return the sentences that a terminal prints below the table: what is missing or saturated, what cannot be sure,
    and what a mean rests on."""
    noted = [
        f"{line.point}: {block.measure} {line.note}." for block in blocks(runs) for line in block.lines if line.note
    ]
    return [
        *missing_notes(runs),
        *saturation_notes(runs),
        *looks_note(runs),
        *too_few_seeds(runs.plan),
        *noted,
        *runs.notes,
    ]


def _main(
    runs: Results,
    style_name: str,
    meaning: str,
    table_list: list[Table],
    drawn: Sequence[Drawing],
    numbers: list[Macro],
    notes: Sequence[str],
    columns: int,
) -> str:
    config = runs.plan.sweep.config
    size = next((one for one in numbers if _is_size(one)), None)
    return render(
        MAIN,
        style=style(style_name),
        title=escape(str(config.get("question") or words(runs.plan.sweep.name)).strip()),
        star="*" if columns == 2 else "",
        sentence=f"for instance, {escape(words(size.description))}: \\{size.name}" if size else "",
        note=escape(meaning),
        notes=[escape(words(note)) for note in notes],
        tables=table_list,
        figures=drawn,
    )


def _is_size(macro: Macro) -> bool:
    return any(f": {kind} against" in macro.description for kind in SIZE.values())


def _of_macro(macro: Macro) -> dict[str, Any]:
    return {"shown": macro.text, "value": macro.value, "says": macro.description, "runs": macro.runs}


def _of_figure(runs: Results, sets: RunSets, drawing: Drawing) -> dict[str, Any]:
    """Return the content of a figure, which may use every finished run of every point."""
    done = {(row.point, row.seed) for row in runs.rows.values() if row.status == "done"}
    behind = [sets.name(point, [s for s in runs.seeds if (point.id, s) in done]) for point in runs.points]
    return {"data": f"{FIGURES}/{drawing.name}.csv", "runs": behind}


def _of_point(place: Place) -> dict[str, Any]:
    point: PlannedPoint = place.point
    return {
        "setting": place.setting,
        "policy": place.name,
        "coordinates": point.coordinates,
        "baseline": point.baseline,
        "identity": point.setup.identity() if point.setup is not None else None,
    }


Selection = Mapping[str, Sequence[str]]
"""`measures`, `figures`, or both, each with the names that were chosen."""


def selection(measures: Sequence[str] | None, figures: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the choices; the other settings stand as the sweep has them.

    >>> selection(None, ["pareto"])
    {'figures': ['pareto']}
    """
    choices = {"measures": measures, "figures": figures}
    return {what: list(dict.fromkeys(names)) for what, names in choices.items() if names is not None}


def selected(runs: Results, chosen: Selection) -> Results:
    """Return the same runs of a sweep that shows what was chosen.

    Raises
    ------
    InputError
        There is no such measure or figure, a measure of the user's was not computed, or no measure is left.
    """
    if not chosen:
        return runs
    sweep = runs.plan.sweep
    if not chosen.get("measures", sweep.measures):
        raise wrong_value("", "measures", "must name at least one measure", [])
    for name in chosen.get("measures", ()):
        measure_of(runs, name)
        sweep.check_computed(name)
    for name in chosen.get("figures", ()):
        figure(name, sweep.mechanism.engine.name)
    result = Results(
        replace(runs.plan, sweep=with_selection(sweep, chosen)), runs.rows.values(), runs.folder, runs.seconds
    )
    result.checked = runs.checked
    return result


def with_selection(sweep: Sweep, chosen: Selection) -> Sweep:
    """Return a sweep that shows what was chosen of its measures and figures."""
    measures, figures = chosen.get("measures", sweep.measures), chosen.get("figures", sweep.figures)
    return sweep._replace(measures=list(measures), figures=list(figures))


def plan_of_manifest(plan: Plan, manifest: Mapping[str, Any]) -> Plan:
    """Return the plan of a bundle's sweep, showing what its manifest says was chosen; errors as of `selected`.

    A figure of a file goes by its name alone, as that of a notebook does: a manifest gets no file executed.
    """
    chosen = {
        what: [file_and_name(name)[1] if is_in_file(name) else name for name in names]
        for what, names in manifest.get("selected", {}).items()
    }
    known = {
        what: [name for name in names if name not in manifest.get("own_figures", {})] for what, names in chosen.items()
    }
    checked = selected(Results(plan, ()), known).plan
    return replace(checked, sweep=with_selection(plan.sweep, chosen))
