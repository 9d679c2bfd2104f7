"""A complete short paper, "Placement in six open GPUs" (`make paper`): runs, bundles, tables, figures, text, PDF.

It rests on two sweeps, and on a survey of recorded kernels where the public traces are here, drawn as a heat map of
lost residency: a row a trace, a column a granule or a rule. Its PDF is set where this machine has a TeX; where it has
none, a sentence says so.
"""

from __future__ import annotations

import argparse
import functools
import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.api import Results, run
from workbench.errors import WorkbenchError
from workbench.experiments.results_folder import write_json, write_whole
from workbench.explain.residency import Survey, public_traces, survey
from workbench.export.citations import Cited, bibliography, cited, traces_of
from workbench.export.content import METHODS
from workbench.export.drawings import write_pgf
from workbench.export.manifest import read_manifest
from workbench.export.tables import file_stem
from workbench.export.tex import escape, render
from workbench.export.venues import style
from workbench.export.works import works_in
from workbench.figures.figure_files import Column, as_csv, save
from workbench.figures.frame import words
from workbench.figures.labels import measure_label
from workbench.figures.registry import on_paper
from workbench.number_text import TEX, number, to_decimals
from workbench.workloads.catalogue import available

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


SERVING_TRACE = "rocprofv3_mi355x_part1"
RULES = (
    "first_fit",
    "unsorted_free_list",
    "byte_counter",
    "worst_fit",
    "best_fit",
    "ring_buffer",
    "nearest_boundary",
)
_SERVING: dict[str, Any] = {
    "question": "Does the rule matter on the shared-memory requests of a real serving trace?",
    "engine": "shared_memory",
    "machine": "mi350x",
    "workload": {"trace": SERVING_TRACE, "unit": -1, "arrival": "all_at_once", "longest_us": 200, "count": 600},
    "policy": {"placement": {"vary": list(RULES)}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles", "mean_external_fragmentation", "blocked_by_fragmentation_rate"],
    "figures": ["remaining_over_time"],
}
_IN_ITS_PLACE: dict[str, Any] = {
    **_SERVING,
    "question": "Does the rule matter on synthetic requests of a serving run's kind: many small, few large?",
    "machine": {"segments": 128},
    "workload": {
        "synthetic": "random_workgroups",
        "count": 300,
        "size": {"bimodal": {"small_share": 0.7, "small": [1, 4], "large": [16, 102]}},
        "duration": {"uniform": [1, 100]},
    },
}
"""Stands for the serving trace where that is not on this machine; the paper then says so."""


class Evidence(NamedTuple):
    """What the paper rests on."""

    placement: Results
    """The six rules and the source document's on synthetic workloads."""
    serving: Results
    """The same on a serving trace, or on what stands for it."""
    real: bool
    """Whether `serving` is of the real trace."""
    residency: Survey | None
    """Of all public traces of kernels; None where none is on this machine."""


def gathered(
    sweep: str | Path | Mapping[str, Any],
    seeds: int = 200,
    out: str | Path | None = None,
    workers: int | None = None,
    units: int = 10,
) -> Evidence:
    """Run what the paper needs and `out` does not hold yet.

    Parameters
    ----------
    sweep : path or mapping
        The sweep of the six rules on synthetic workloads, `sweeps/placement/six_open_gpus.yaml`.
    seeds : int
        Paired runs a point; of the serving trace each is another compute unit's share.
    out : path, optional
        A folder that keeps every row; without one the rows live in memory.
    workers : int, optional
        As `run` takes it.
    units : int
        Runs a rule and trace in the survey of residency.

    Raises
    ------
    InputError
        There is no such sweep, or it is not valid.
    """
    real, traces = available(SERVING_TRACE), public_traces()
    serving: Mapping[str, Any] = _SERVING if real else _IN_ITS_PLACE
    folder = None if out is None else Path(out)
    placement = run(sweep, _inside(folder, "placement"), seeds=seeds, workers=workers)
    served = run(serving, _inside(folder, "serving" if real else "synthetic"), seeds=seeds, workers=workers)
    return Evidence(placement, served, real, survey(traces, units=units) if traces else None)


def _inside(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name


class Heat(NamedTuple):
    """What is drawn."""

    rows: tuple[str, ...]
    across: tuple[str, ...]
    lost: np.ndarray
    """float64[rows, across], percent; NaN where there is no such number."""
    below: str
    """What the columns are."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a place."""
        return {
            "trace": np.repeat(self.rows, len(self.across)),
            self.below: np.tile(self.across, len(self.rows)),
            "lost_percent": self.lost.ravel(),
        }


def by_granule(survey: Survey) -> Heat:
    """Return the residency that each granule costs each trace."""
    return _heat(survey.granules, "granule_bytes", number, "granule (bytes)")


def by_rule(survey: Survey) -> Heat:
    """Return the residency that each rule costs each trace, all kernels queued at once."""
    queued = survey.rules[survey.rules["arrival"] == "all_at_once"]
    return _heat(queued, "rule", lambda value: str(value).replace("_", " "), "placement rule")


def _heat(table: pd.DataFrame, key: str, text: Callable[[Any], str], below: str) -> Heat:
    alone = dict(zip(table["trace"], table["counts"] != "whole", strict=True))
    traces, columns = list(dict.fromkeys(table["trace"])), list(dict.fromkeys(table[key]))
    lost = np.full((len(traces), len(columns)), np.nan)
    for trace, column, value in zip(table["trace"], table[key], table["lost"], strict=True):
        lost[traces.index(trace), columns.index(column)] = 100 * value
    rows = tuple(name + (" *" if alone[name] else "") for name in traces)
    return Heat(rows, tuple(map(text, columns)), lost, below)


@on_paper
def draw(data: Heat) -> Figure:
    """Draw one coloured place a number, the number written into it."""
    from workbench.figures import frame, marks, plot_style

    figure, (axes,) = plot_style.stacked(1, 0.5 + 0.17 * len(data.rows))
    tints = marks.heat(axes, data.lost, lambda _, __, value: to_decimals(value, 1))
    axes.set_yticks(range(len(data.rows)), [frame.words(name) for name in data.rows])
    axes.set_xticks(range(len(data.across)), data.across, rotation=30, ha="right")
    axes.set_xlabel(data.below)
    frame.colour_bar([axes], tints, "residency lost (%)")
    frame.name_foot(figure, "* = dynamic shared memory alone was recorded")
    return figure


TITLE = "Placement in six open GPUs"
STYLE = "ieee"
AS_FOUND = {
    "first_fit": ("MGPUSim", "linear scan over granules"),
    "unsorted_free_list": ("gem5, vector registers", "first hole of a list to whose end freed regions go"),
    "byte_counter": ("gem5 LDS, GPGPU-Sim", "a counter of bytes, no addresses"),
    "worst_fit": ("MIAOW", "the largest hole"),
    "best_fit": ("Ventus", "the smallest hole that fits"),
    "ring_buffer": ("Vortex", "a ring, given back in order"),
    "nearest_boundary": ("CN114153753A", "the range nearest to either end"),
}
"""Where each rule comes from, and what it takes."""
_BUNDLES = ("placement", "serving")


def write_paper(evidence: Evidence, to: str | Path) -> Path:
    """Write the paper's folder: `main.tex`, its bibliography, a bundle a sweep, `residency/`, and what it rests on.

    The bundles in `placement/` and `serving/` can be verified as all others (`workbench verify FOLDER/placement`).

    Raises
    ------
    StoreError
        A bundle's folder holds something else, or cannot be written.
    """
    to = Path(to)
    to.mkdir(parents=True, exist_ok=True)
    evidence.placement.export(to / "placement", STYLE, measures=["drain_cycles", "blocked_by_fragmentation_rate"])
    evidence.serving.export(to / "serving", STYLE)
    survey = None if evidence.residency is None else _residency(evidence, to / "residency")
    works = _merged([cited(evidence.placement), cited(evidence.serving), _of_survey(evidence)])
    manifests = {name: read_manifest(to / name) for name in _BUNDLES}
    write_whole(to / "references.bib", bibliography(works).encode())
    write_whole(to / "main.tex", _main(evidence, manifests, survey, _setting(to / "serving")).encode())
    write_json(to / "paper.json", {"title": TITLE, "real_serving_trace": evidence.real, "bundles": _BUNDLES})
    return to


def _main(evidence: Evidence, manifests: Mapping[str, Any], survey: dict[str, Any] | None, setting: str) -> str:
    return render(
        "paper.tex",
        style=style(STYLE),
        title=TITLE,
        rules=[[escape(part) for part in AS_FOUND[rule]] for rule in RULES],
        real=evidence.real,
        trace=_trace_words(evidence),
        placement=list(_findings(manifests["placement"])),
        serving=list(_findings(manifests["serving"])),
        tables={name: [Path(one).stem for one in manifests[name]["tables"]] for name in _BUNDLES},
        figures={name: [Path(one).stem for one in manifests[name]["figures"]] for name in _BUNDLES},
        survey=survey,
        captions=_captions(evidence),
        setting=setting,
    )


def _setting(bundle: Path) -> str:
    """Return what the methods of a bundle say of engine, machine and workload: the first paragraph."""
    text = (bundle / METHODS).read_text(encoding="utf-8")
    return next(part for part in text.split("\n\n")).partition("\n")[2].strip()


def _captions(evidence: Evidence) -> dict[str, str]:
    """Return what each table shows, by its file's stem."""
    known = evidence.placement.plan.sweep.mechanism.measures
    labels = {file_stem(measure): measure_label(measure) for measure in known.values()}
    return {stem: escape(label[:1].upper() + label[1:]) for stem, label in labels.items()}


def _trace_words(evidence: Evidence) -> str:
    entries = traces_of(evidence.serving)
    return escape(f"{entries[0].name} ({entries[0].holds}, {entries[0].repository})") if entries else ""


def _findings(manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a sentence's parts a setting: the rules that drain sooner than first fit, and later, by their macros."""
    rows = manifest["tables"]["tables/drain_cycles.tex"]
    macros = {(one["says"], tuple(one["runs"])): name for name, one in manifest["macros"].items()}
    for setting in dict.fromkeys(row["setting"] for row in rows if "setting" in row):
        here = [row for row in rows if row.get("setting") == setting and "verdict" in row]
        sides = {row["point"]: {side for side in ("better", "worse") if side in row["verdict"]} for row in here}
        sooner, later = ([row for row in here if sides[row["point"]] == {side}] for side in ("better", "worse"))
        yield {
            "setting": escape(words(setting)),
            "sooner": [_told(row, macros) for row in sorted(sooner, key=lambda row: -row["size"]["value"])],
            "later": [_told(row, macros) for row in sorted(later, key=lambda row: row["size"]["value"])],
            "same": [escape(words(row["policy"])) for row in here if row not in sooner and row not in later],
        }


def _told(row: Mapping[str, Any], macros: Mapping[Any, str]) -> str:
    where = ", ".join(part for part in (row["setting"], row["policy"]) if part)
    start = f"drain_cycles, {where}: speed-up against"
    name = next(name for (says, _), name in macros.items() if says.startswith(start))
    return f"{escape(words(row['policy']))} ({name})"


def _merged(groups: list[list[Cited]]) -> list[Cited]:
    merged: dict[str, Cited] = {}
    for one in (one for group in groups for one in group):
        merged.setdefault(one.work.key, Cited(one.work, [])).of.extend(one.of)
    return [one._replace(of=list(dict.fromkeys(one.of))) for _, one in sorted(merged.items())]


def _of_survey(evidence: Evidence) -> list[Cited]:
    """Return the six code bases, of which the survey and the text speak, whatever the sweeps name."""
    return [Cited(work, ["the text"]) for work in works_in("MGPUSim; gem5; GPGPU-Sim; MIAOW; Ventus; Vortex; spec 1")]


def _residency(evidence: Evidence, folder: Path) -> dict[str, Any]:
    """Write the survey's tables and heat maps; return what the text says of them."""
    survey = evidence.residency
    assert survey is not None
    folder.mkdir(parents=True, exist_ok=True)
    tables: dict[str, pd.DataFrame] = {"sides": survey.coverage, "granules": survey.granules, "rules": survey.rules}
    for name, table in tables.items():
        write_whole(folder / f"{name}.csv", as_csv({str(key): table[key].to_numpy() for key in table}).encode())
    for name, data in (("by_granule", by_granule(survey)), ("by_rule", by_rule(survey))):
        save(_sheet(data), data, folder, name, ["pdf"])
        write_pgf(functools.partial(_sheet, data), folder / f"{name}.pgf")
    return _survey_words(survey)


def _sheet(data: Any) -> Any:
    """Return a heat map drawn as wide as a column of the paper."""
    from workbench.figures.plot_style import formatted

    with formatted(style(STYLE).figures(1)):
        return draw(data)


def _survey_words(survey: Any) -> dict[str, Any]:
    granules, rules = survey.granules, survey.rules
    whole = granules[granules["counts"] == "whole"]
    powers = whole[whole["granule_bytes"] != 1280]
    queued, recorded = (rules[rules["arrival"] == arrival] for arrival in ("all_at_once", "recorded"))
    contiguous = queued[~queued["rule"].isin(["ring_buffer"])]
    return {
        "traces": len(survey.coverage),
        **{name: number(survey.coverage[name].sum(), style=TEX) for name in ("launches", "whole", "untold")},
        "powers": _percent(powers["lost"].max()),
        "odd": _percent(granules[granules["granule_bytes"] == 1280]["lost"].max()),
        "odd_whole": _percent(whole[whole["granule_bytes"] == 1280]["lost"].max()),
        "most_rule": _percent(contiguous["lost"].max()),
        "ring": _percent(queued[queued["rule"] == "ring_buffer"]["lost"].max()),
        "recorded": _percent(recorded["lost"].max()),
        "recorded_blocked": _percent(recorded["blocked"].max()),
        "left_out": [escape(line) for line in survey.left_out],
    }


def _percent(share: float) -> str:
    if math.isnan(share):
        return "not known"
    return f"{number(100 * share, 2 if share < 0.1 else 3, TEX)}\\,\\%"


LATEX, BIBTEX = "pdflatex", "bibtex"
DEBIAN = "texlive-latex-recommended texlive-pictures"
LIMIT_SECONDS = 120


class Typeset(NamedTuple):
    """What came of setting a paper."""

    pdf: Path | None
    """None where it could not be set."""
    sentence: str


def set_pdf(folder: str | Path, main: str = "main") -> Typeset:
    """Set `main.tex` of a folder with its bibliography.

    Returns
    -------
    Typeset
        The PDF; or None and why: a program of TeX is missing, or TeX stopped, with the first line that says why.
    """
    folder = Path(folder)
    missing = [name for name in (LATEX, BIBTEX) if shutil.which(name) is None]
    if missing:
        programs = " and ".join(missing)
        return Typeset(None, f"no PDF: {programs} not found (Debian: {DEBIAN}); all else is in {folder}.")
    latex = [LATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", main]
    for command in (latex, [BIBTEX, main], latex, latex):
        problem = _problem(command, folder)
        if problem and command[0] == LATEX:
            return Typeset(None, f"no PDF: {LATEX} stopped at {folder / main}.tex: {problem}")
    return Typeset(folder / f"{main}.pdf", f"paper: {folder / main}.pdf")


def _problem(command: list[str], folder: Path) -> str:
    """Return what a program of TeX complains about, empty where it is content."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it took more than {LIMIT_SECONDS} seconds."
    if done.returncode == 0:
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return next((line for line in lines if line.startswith("!")), f"exit status {done.returncode}.")


SWEEP = "sweeps/placement/six_open_gpus.yaml"


def make_paper(seeds: int, to: Path) -> int:
    """Make the paper and say what it rests on; return 1 if TeX is there and could not set it."""
    evidence = gathered(SWEEP, seeds, to / "runs")
    if lack := _lack(evidence):
        print(lack)
    folder = write_paper(evidence, to / "paper")
    result = set_pdf(folder)
    print(result.sentence)
    return int(result.pdf is None and "stopped" in result.sentence)


def _lack(evidence: Evidence) -> str:
    """Return what the paper lacks without public traces, in one line; empty if it lacks nothing."""
    parts = [
        *([] if evidence.real else ["a synthetic workload stands for the serving trace"]),
        *([] if evidence.residency is not None else ["the section on lost residency is left out"]),
    ]
    return f"not all public traces are on this machine: {' and '.join(parts)}; the text says so" if parts else ""


def main(words: list[str]) -> int:
    """Read what was asked, and make it."""
    parser = argparse.ArgumentParser(prog="make paper", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="paired runs a point (default: 200)")
    parser.add_argument("--to", type=Path, default=Path("results/paper"), help="where (default: results/paper)")
    given = parser.parse_args(words)
    try:
        return make_paper(given.seeds, given.to)
    except WorkbenchError as problem:
        print(f"workbench: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    if not Path("sweeps").is_dir():
        sys.exit("workbench: run this in the project's folder (it holds sweeps/).")
    sys.exit(main(sys.argv[1:]))
