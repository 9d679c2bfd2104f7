"""A bundle for a paper, written from runs: tables, figures and numbers, each traceable to its runs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import InputError
from workbench.experiments.named_code import sign_own
from workbench.experiments.provenance import provenance
from workbench.experiments.results import Results
from workbench.experiments.results_folder import PROVENANCE, SWEEP, write_json
from workbench.export._inputs import check_unedited, write_sweep
from workbench.export._kept_runs import kept_runs
from workbench.export._run_rows import read_rows, with_origins
from workbench.export._whole_folder import OWNED, written_whole
from workbench.export.content import MAIN, ROWS, Content, Selection, content, in_order, selected, selection
from workbench.export.drawings import drawings, write_figures
from workbench.export.manifest import FORMAT, MANIFEST, changed, drawn_with, is_bundle, read_manifest, write_manifest
from workbench.export.venues import Columns, style
from workbench.runs.origin import environment
from workbench.strict_yaml import read_mapping
from workbench.trust import SIGNATURE


def export(
    runs: Results,
    to: str | Path,
    style_name: str = "ieee",
    columns: Columns = 1,
    measures: Sequence[str] | None = None,
    figures: Sequence[str] | None = None,
) -> Path:
    """Write a bundle; it appears whole or not at all.

    `tables/MEASURE.tex` (booktabs). `figures/NAME.pdf` with `.csv`, `.txt` (its content, for a reader who does not see
    it), `.tex` (picture, caption and label) and `.pgf` where there is a TeX. `numbers.tex` (a macro a number),
    `methods.tex` (how it was done, in sentences), `references.bib` (what it rests on), and `runs.csv` (every run, to
    the bit). `sweep.yaml` with `inputs/` (a policy's file with the modules of its folder that it imports),
    `provenance.json`, `manifest.json`, and `main.tex`, an example that shows all of it. What a bundle cannot bring
    along, such as a policy of a notebook, stands under `needs` in the manifest. The same runs give the same bytes.

    An earlier bundle is replaced; what a researcher put into its folder, and an edited `main.tex`, stay.

    Parameters
    ----------
    runs : Results
        What `workbench.run` returns, or the hold-out runs of a study.
    style_name : {"ieee", "acm", "usenix"}
        The width of a column, the letters of the figures, and the class of the example.
    columns : {1, 2}
        How many columns of the paper a figure is wide.
    measures, figures : sequences of names, optional
        Which tables and macros, which figures: any of the engine's; those of the sweep if None.

    Raises
    ------
    InputError
        A style, measure or figure is unknown, no run is finished, or a file that the sweep names was edited since it
        was run.
    StoreError
        The folder holds something else, or cannot be written.
    """
    style(style_name, columns)
    to = Path(to)
    chosen = selection(measures, figures)
    if not any(row.status == "done" for row in runs.rows.values()):
        raise InputError(f"nothing to export: none of the {len(runs.plan)} runs of {runs.plan.sweep.name} is finished.")
    check_unedited(runs)
    with written_whole(to, is_bundle, _carry) as folder:
        _write(selected(runs, chosen), folder, style_name, columns, chosen)
    return to


def open_bundle(folder: Path) -> Results:
    """Return the runs of a bundle at the points that its manifest names. Code is executed if this user has signed it.

    Raises
    ------
    InputError
        The folder is no bundle, or one of an older format, or its runs cannot be read.
    """
    manifest = read_manifest(folder)
    if manifest["format"] != FORMAT:
        raise InputError(
            f"{folder} is a bundle of format {manifest['format']}, which names no points; export it again."
        )
    rows = with_origins(read_rows(folder / ROWS), manifest.get("origins", {}))
    kept = kept_runs(folder, manifest, rows)
    runs = Results(kept.plan, rows.values())
    runs.code_notes = kept.not_executed
    return runs


def _write(runs: Results, folder: Path, style_name: str, columns: Columns, chosen: Selection) -> None:
    drawn, refused = drawings(in_order(runs), style(style_name).figures(columns))
    computed = content(in_order(runs), style_name, drawn, refused, columns=columns)
    write_texts(computed, folder)
    needs = [*write_figures(drawn, folder), *write_sweep(runs, folder)]
    made = {**environment(), "needs": needs, "drawn_with": drawn_with()}
    write_json(folder / PROVENANCE, {"runs": provenance(runs), "export": made})
    more = {**({"selected": chosen} if chosen else {}), **runs.checked.plain()}
    write_manifest(folder, {**computed.manifest, **more, "needs": needs})
    sign_own(folder, {SWEEP: read_mapping(folder / SWEEP)})


def write_texts(computed: Content, folder: Path) -> None:
    """Write every computed file into a folder."""
    for name, text in computed.texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")


def _carry(old: Path, new: Path) -> None:
    """Bring over what a researcher wrote: files that the old bundle did not have, and an edited example."""
    if not is_bundle(old):
        return
    manifest = read_manifest(old)
    own = {path.relative_to(old).as_posix() for path in old.rglob("*") if path.is_file()} - {
        *manifest["files"],
        MANIFEST,
        OWNED,
        SIGNATURE,
    }
    for name in sorted(own | ({MAIN} & {*changed(old, manifest)})):
        if (old / name).is_file():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old / name, new / name)
