"""From runs to a folder for a paper: tables, figures and numbers, each traceable to its runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.experiments.folder import PROVENANCE, write_json
from workbench.experiments.provenance import environment, provenance
from workbench.experiments.run_set import RunSet
from workbench.export.cells import Cell, RunSets, cells, in_words
from workbench.export.drawings import FIGURES, Drawing, write_figures
from workbench.export.escape import escape
from workbench.export.inputs import write_sweep
from workbench.export.manifest import MANIFEST, changed, is_bundle, read_manifest, write_manifest
from workbench.export.numbers import Macro, macros, numbers_tex
from workbench.export.rows import rows_as_csv
from workbench.export.style import Style, style
from workbench.export.swap import appearing
from workbench.export.tables import NOTE, Table, tables
from workbench.export.templates import render

MAIN, NUMBERS, ROWS, TABLES = "main.tex", "numbers.tex", "runs.csv", "tables"


def export(runs: RunSet, to: str | Path, style_name: str = "ieee") -> Path:
    """Write a bundle; it appears whole or not at all.

    `tables/MEASURE.tex` (booktabs), `figures/NAME.pdf` with `.csv` (and `.pgf` where there is a TeX), `numbers.tex` (a
    macro a number), `runs.csv` (every run, to the bit), `sweep.yaml` with `inputs/`, `provenance.json`,
    `manifest.json`, and `main.tex`, an example that shows all of it.

    An earlier bundle is replaced; what a researcher put into its folder, and an edited `main.tex`, stay.

    Parameters
    ----------
    runs : RunSet
        What `workbench.run` returns, or the hold-out runs of a study.
    style_name : {"ieee", "acm"}
        The width of a column, and the class of the example.

    Raises
    ------
    InputError
        The style is unknown, or no run is finished.
    StoreError
        The folder holds something else, or cannot be written.
    """
    chosen, to = style(style_name), Path(to)
    if not any(row.status == "done" for row in runs.rows.values()):
        raise InputError(f"nothing to export: none of the {len(runs.plan)} runs of {runs.plan.sweep.name} is finished.")
    with appearing(to, is_bundle, _carry) as folder:
        _write(runs, folder, chosen, style_name)
    return to


def _write(runs: RunSet, folder: Path, chosen: Style, style_name: str) -> None:
    sets = RunSets()
    found = cells(runs, sets)
    shown, numbers = tables(found), macros(runs, found)
    (folder / TABLES).mkdir()
    for table in shown:
        (folder / TABLES / f"{table.name}.tex").write_text(table.text, encoding="utf-8")
    (folder / NUMBERS).write_text(numbers_tex(numbers), encoding="utf-8")
    (folder / ROWS).write_text(rows_as_csv(runs.rows.values()), encoding="utf-8")
    write_sweep(runs, folder)
    drawn, refused = write_figures(runs, folder)
    (folder / MAIN).write_text(_main(runs, chosen, shown, drawn, numbers), encoding="utf-8")
    write_json(folder / PROVENANCE, {"runs": provenance(runs), "export": environment()})
    write_manifest(
        folder,
        {
            "style": style_name,
            "engine": runs.plan.sweep.mechanism.engine.name,
            "engine_revision": runs.plan.sweep.mechanism.engine.revision,
            "macros": {f"\\{macro.name}": _of_macro(macro) for macro in numbers},
            "tables": {f"{TABLES}/{table.name}.tex": table.entries for table in shown},
            "figures": {f"{FIGURES}/{one.name}.pdf": _of_figure(runs, sets, one) for one in drawn},
            "figures_left_out": refused,
            "run_sets": sets.plain(),
            "points": _points(runs, found),
        },
    )


def _main(runs: RunSet, chosen: Style, shown: list[Table], drawn: list[Drawing], numbers: list[Macro]) -> str:
    said = runs.plan.sweep.said
    saving = next((macro for macro in numbers if "Saving" in macro.name), None)
    return render(
        MAIN,
        style=chosen,
        title=escape(f"Example: {runs.plan.sweep.name}"),
        question=escape(str(said.get("question") or "")),
        sentence=f"for instance, {escape(in_words(saving.says))}: \\{saving.name}" if saving else "",
        note=escape(NOTE),
        tables=shown,
        figures=drawn,
    )


def _of_macro(macro: Macro) -> dict[str, Any]:
    return {"shown": macro.shown, "value": macro.value, "says": macro.says, "runs": macro.runs}


def _of_figure(runs: RunSet, sets: RunSets, drawing: Drawing) -> dict[str, Any]:
    """A figure may use every finished run of every point."""
    done = {(row.point, row.seed) for row in runs.rows.values() if row.status == "done"}
    behind = [sets.name(point, [s for s in runs.seeds if (point.id, s) in done]) for point in runs.points]
    return {"data": f"{FIGURES}/{drawing.name}.csv", "runs": behind}


def _points(runs: RunSet, found: list[Cell]) -> dict[str, Any]:
    places = {cell.place.point.id: cell.place for cell in found}
    return {
        point.id: {
            "setting": places[point.id].setting,
            "policy": places[point.id].name,
            "baseline": point.baseline,
            "identity": point.setup.identity(),
        }
        for point in runs.points
    }


def _carry(old: Path, new: Path) -> None:
    """Bring over what a researcher wrote: files that the old bundle did not have, and an edited example."""
    if not is_bundle(old):
        return
    manifest = read_manifest(old)
    own = {path.relative_to(old).as_posix() for path in old.rglob("*") if path.is_file()} - {
        *manifest["files"],
        MANIFEST,
    }
    for name in sorted(own | ({MAIN} & {*changed(old, manifest)})):
        if (old / name).is_file():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old / name, new / name)
