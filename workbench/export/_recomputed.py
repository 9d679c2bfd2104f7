"""Compute what a bundle holds from its own table of runs, at the points that its manifest names.

Runs whose records a figure asks for are simulated again, and counted. What no run gives, such as versions, is compared
with `provenance.json`, which holds the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, WorkbenchError
from workbench.experiments.checked_rows import Checked
from workbench.experiments.origins import origins_of
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.experiments.results_folder import PROVENANCE, SWEEP
from workbench.export._comparison import PICTURES, Change, changed_values, changes, compared_pictures, redrawn
from workbench.export._inputs import INPUTS
from workbench.export._kept_runs import KeptRuns
from workbench.export.content import MAIN, OF_SETUPS, Content, content, in_order
from workbench.export.drawings import FIGURES, Drawing, recipe_of
from workbench.export.manifest import FORMAT, MANIFEST, digest_of, drawn_with, plain
from workbench.export.venues import style
from workbench.figures.registry import FIGURES as KNOWN
from workbench.runs.origin import environment
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint

RECOMPUTED, REDRAWN, READ, YOURS = "recomputed", "redrawn", "read", "yours"
"""What was done with a file: computed from the runs; drawn again; what the runs are done from; a researcher's own."""
_ELSEWHERE = 1e-12
"""How far a mean may be from the same mean on another machine or with other packages; here it is the same bits."""


class Computed(NamedTuple):
    """What came of a bundle's files."""

    changes: list[Change]
    files: dict[str, str]
    """What was done with every file; one that could not be computed by the reason why its digest alone was compared."""
    simulated: int
    """How many runs were simulated for figures that show more than measures."""
    notes: list[str]
    """What the tables say of missing runs and of origins."""


class _Figures(NamedTuple):
    drawn: list[Drawing]
    refused: dict[str, str]
    skipped: dict[str, str]
    """Figures that are not computed, with the reason."""
    simulated: int


def compute(
    folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row], kept: KeptRuns, figures: bool
) -> Computed:
    """Recompute every table, macro and figure of a bundle from its rows and compare cell by cell.

    Parameters
    ----------
    figures : bool
        Whether runs are simulated for figures that show more than measures, and pictures drawn again.
    """
    slack = 0.0 if _same_machine(folder) else _ELSEWHERE
    drawn_figures = _figures(manifest, rows, kept, figures)
    runs = in_order(Replayed(kept.plan, rows.values(), False))
    columns = manifest["columns"]
    now = content(runs, manifest["style"], drawn_figures.drawn, drawn_figures.refused, kept.places, columns)
    now = now._replace(texts={name: text for name, text in now.texts.items() if name not in _unknown(kept)})
    files, results = {**dict(_not_computed(manifest, drawn_figures)), **_unknown(kept)}, []
    for name, text in now.texts.items():
        done, differing = _of_text(folder, manifest, name, text, slack)
        files[name] = done
        results.extend(differing)
    results.extend(_of_manifest(manifest, now, kept, slack))
    results.extend(provenance_changes(folder, manifest, rows))
    if figures:
        results.extend(
            _pictures(folder, manifest, [one for one in drawn_figures.drawn if one.data is not None], slack, files)
        )
    return Computed(
        results, dict(sorted(files.items())), drawn_figures.simulated, [*now.manifest["notes"], *_checked(manifest)]
    )


def _checked(manifest: Mapping[str, Any]) -> list[str]:
    """Return the bundle's statement on its rows of code of the user's own: how many were checked."""
    facts = manifest.get("checked")
    return [] if facts is None else Checked(**{**facts, "reasons": tuple(facts["reasons"])}).sentences


def _unknown(kept: KeptRuns) -> dict[str, str]:
    """Return the files that cannot be computed as long as a policy, a workload or a machine cannot be read here, and
    why."""
    if all(point.setup is not None for point in kept.plan.points):
        return {}
    return dict.fromkeys(OF_SETUPS, f"points cannot be read here: {kept.unread[0]}" if kept.unread else "points differ")


def _figures(manifest: Mapping[str, Any], rows: Mapping[str, Row], kept: KeptRuns, allowed: bool) -> _Figures:
    runs = Replayed(kept.plan, sorted(rows.values(), key=lambda row: row.id), allowed)
    result = _Figures([], {}, {}, 0)
    for name in runs.plan.sweep.figures:
        recipe, data = _recipe(manifest, runs, name), None
        if isinstance(recipe, Absent):
            result.skipped[name] = "it is drawn by a figure of the user's that is not defined here"
        elif kept.places is not None:
            result.skipped[name] = f"points cannot be read here: {kept.unread[0]}" if kept.unread else "points differ"
        else:
            try:
                data = recipe.data(runs)
            except NotSimulatedError as problem:
                result.skipped[name] = str(problem)
            except InputError as problem:
                result.refused[name] = str(problem)
                continue
        if data is not None or f"{FIGURES}/{name}.pdf" in manifest["figures"]:
            result.drawn.append(Drawing(recipe, data, style(manifest["style"]).figures(manifest["columns"])))
        else:
            result.refused[name] = manifest["figures_left_out"].get(name, "")
    return result._replace(simulated=runs.simulated)


class Absent(NamedTuple):
    """Stands for a figure of the user's that nothing defines here."""

    name: str
    description: str
    built_in: bool = False


def _recipe(manifest: Mapping[str, Any], runs: Results, name: str) -> Any:
    own = manifest.get("own_figures", {})
    return Absent(name, own[name]) if name in own and not KNOWN.has(name) else recipe_of(runs, name)


def _not_computed(manifest: Mapping[str, Any], figures: _Figures) -> Iterator[tuple[str, str]]:
    """Yield the notes on every file that is not computed."""
    for name in manifest["files"]:
        stem, suffix = Path(name).stem, Path(name).suffix
        if name == SWEEP or name.startswith(f"{INPUTS}/"):
            yield name, READ
        elif name == PROVENANCE:
            yield name, "it says when and where the runs were made, which nothing computes"
        elif name.startswith(f"{FIGURES}/") and stem in figures.skipped:
            yield name, figures.skipped[stem]
        elif suffix in PICTURES:
            yield name, "pictures were not drawn (--no-figures)"
        else:
            yield name, "this version writes no such file"


def _of_text(folder: Path, manifest: Mapping[str, Any], name: str, text: str, slack: float) -> tuple[str, list[Change]]:
    try:
        message = (folder / name).read_bytes().decode("utf-8", "backslashreplace")
    except OSError:
        return RECOMPUTED, [Change(name, "", "", "nothing (no such file)", f"{len(text.splitlines())} lines")]
    if name == MAIN and message != text and digest_of(folder / name) != manifest["files"].get(name):
        return YOURS, []
    return RECOMPUTED, list(changes(name, message, text, slack))


def _of_manifest(manifest: Mapping[str, Any], now: Content, kept: KeptRuns, slack: float) -> Iterator[Change]:
    config = {
        key: value
        for key, value in manifest.items()
        if key not in ("files", "drawn_with", "needs", "selected", "checked")
    }
    recomputed = plain({"format": FORMAT, **now.manifest})
    for id, point in recomputed["points"].items():
        if point["identity"] is None and id in config["points"]:
            point["identity"] = config["points"][id]["identity"]
    yield from changed_values(MANIFEST, config, recomputed, slack)
    for name in now.texts:
        if name not in manifest["files"]:
            yield Change(MANIFEST, "files", name, "nothing", "a digest")


def _pictures(
    folder: Path, manifest: Mapping[str, Any], drawn: list[Drawing], slack: float, files: dict[str, str]
) -> Iterator[Change]:
    """Compare the pictures; those that another machine or Matplotlib drew otherwise say so in `files`."""
    here, there = drawn_with()["matplotlib"], str(manifest.get("drawn_with", {}).get("matplotlib"))
    now = {name: picture for name, picture in redrawn(drawn, manifest["files"]).items() if (folder / name).is_file()}
    for name, alike in compared_pictures(folder, now).items():
        if alike:
            files[name] = REDRAWN
        elif here == there and not slack:
            files[name] = REDRAWN
            yield Change(name, "", "", "another picture", "the picture of its data")
        else:
            files[name] = (
                f"it was drawn with Matplotlib {there}; here is {here}"
                if here != there
                else "it was drawn on another machine, or where other packages are"
            )
    for name in manifest["files"]:
        if Path(name).suffix == ".pgf" and name not in now:
            files[name] = "it takes a TeX to draw it"
    for name in (f"{FIGURES}/{one.name}.pdf" for one in drawn):
        if not (folder / name).is_file():
            yield Change(name, "", "", "nothing (no such file)", "the picture of its data")


def _same_machine(folder: Path) -> bool:
    """Return whether what computes here is what computed there: then every mean has the same bits."""
    try:
        there = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))["export"]
        here = environment()
        return all(there[key] == here[key] for key in ("python", "machine", "packages"))
    except (OSError, ValueError, KeyError, TypeError):
        return False


class NotSimulatedError(WorkbenchError):
    """A figure asks for the record of a run, which is not to be simulated."""


class Replayed(Results):
    """The runs of a bundle; `simulated` counts the runs that figures asked for."""

    def __init__(self, plan: Plan, rows: Iterable[Row], allowed: bool) -> None:
        super().__init__(plan, rows)
        self.simulated = 0
        self._allowed = allowed

    def record(self, run: str, events: bool = False) -> Any:
        """Return the record of a run, simulated here and now."""
        self._count()
        return super().record(run, events)

    def records(self, point: PlannedPoint, most: int | None = None) -> list[Any]:
        """Return the records of a point's finished runs, simulated here and now."""
        self._count(0)
        result = super().records(point, most)
        self._count(len(result))
        return result

    def _count(self, more: int = 1) -> None:
        if not self._allowed:
            raise NotSimulatedError("it shows what happened in runs, which were not simulated (--no-figures)")
        self.simulated += more


def provenance_changes(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Row]) -> Iterator[Change]:
    """Yield the differences of the manifest in the sweep's name, origins, needs, and the versions that drew the
    pictures.

    A file that is not there, or no such one, is told by its digest.
    """
    try:
        there = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        recorded: dict[str, Any] = {"origins": _untimed(there["runs"]["origins"])}
        recorded |= {key: there["runs"][key] for key in ("sweep",) if key in there["runs"]}
        made = there["export"]
        recorded |= {key: made[key] for key in ("needs", "drawn_with") if key in made}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    config: dict[str, Any] = {"origins": _untimed(one.plain() for one in origins_of(rows.values()))}
    config |= {key: manifest.get(key) for key in recorded if key != "origins"}
    yield from changed_values(MANIFEST, config, recorded)


def _untimed(origins: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return origins without how long their runs took, which a bundle's rows do not say."""
    return [{name: fact for name, fact in origin.items() if name != "seconds"} for origin in origins]
