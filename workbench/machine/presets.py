"""Named machines, one YAML file each: every figure has its value, its source and how far the source can be trusted.

`hardware` describes a card, `simulator` a simulator's model of one (kept apart: MGPUSim's MI300A has 120 units, the
card 228), `document` what the source document states. Vendors do not document how dispatch and placement are done in
hardware; unpublished figures are marked as assumptions. A sweep writes a machine of some kind as levers, as a preset's
name, or as a preset with further levers.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from workbench.errors import InputError, at, file_guess, shown, unknown_name, wrong_value
from workbench.levers import Lever, Spec
from workbench.strict_yaml import read_mapping

FOLDER = Path(__file__).parent / "presets"
KINDS = ("hardware", "simulator", "document")
MARKS = {
    "read": "read in source code or a vendor's header",
    "documented": "stated by the vendor's documentation",
    "measured": "measured on a card and published",
    "recorded": "reported by the device in a public trace",
    "derived": "computed from the other figures",
    "second_hand": "stated by others; the original was not read",
    "not_verified": "no source was checked; do not quote",
    "assumption": "a modelling assumption of the workbench",
}
DOUBTFUL = ("second_hand", "not_verified", "assumption")


class _Kinds(dict[str, Any]):
    """Classes by name; no part of what any one of them is."""

    def __identity__(self) -> tuple[()]:
        return ()


KIND_OF_MACHINE = _Kinds()
"""The class of every kind of machine: each enters itself as it is defined."""


class Figure(NamedTuple):
    """One figure of a preset."""

    name: str
    value: Any
    unit: str
    mark: str
    """One of `MARKS`."""
    source: str


class Preset(NamedTuple):
    """One named machine."""

    name: str
    title: str
    kind: str
    """One of `KINDS`."""
    devices: tuple[str, ...]
    """Words in the device names of traces that were recorded on it."""
    of: Any
    """The kind of machine that it is."""
    figures: Mapping[str, Figure]

    def machine(self) -> Any:
        """Return the machine, of the kind that the preset is `of`.

        >>> preset("h100").machine().segments
        1824
        """
        return self.of.of_figures({name: figure.value for name, figure in self.figures.items()})

    def doubtful(self) -> list[str]:
        """Return the figures that no checked source stands for."""
        return [name for name, figure in self.figures.items() if figure.mark in DOUBTFUL]


def preset_names(of: Any = None) -> list[str]:
    """Return the name of every preset, with the kind in front where another has it already; or those of one kind."""
    return sorted(_named(of))


def _named(of: Any = None) -> dict[str, Path]:
    """Return the file of every name by which `preset` knows one, or of one kind's names."""
    files: dict[str, Path] = {}
    for path in _files(of):
        files[f"{path.parent.name}/{path.stem}" if path.stem in files else path.stem] = path
    return files


def _files(of: Any = None) -> list[Path]:
    return sorted(FOLDER.glob(f"{of.name if of else '*'}/*.yaml"))


def preset(name: str, of: Any = None) -> Preset:
    """Return the preset of a name.

    Several kinds may have one of the same name: the first by the alphabet is meant (a board before the node of such
    boards), unless the kind is given, as a class or in front of the name of another.

    >>> preset("mi355x").machine().segments, preset("mi355x").figures["granule_bytes"].value
    (128, 1280)
    >>> preset("dgx_1v").of.name, preset("node_machine/dgx_1v").of.name
    ('board', 'node_machine')

    Raises
    ------
    InputError
        There is no such preset, or its file is not what a preset's file must be.
    """
    return _preset(name, "" if of is None else of.name)


@cache
def _preset(name: str, kind: str) -> Preset:
    """Return the preset of a name, of one kind of machine or, where that is empty, of any."""
    files = _named(KIND_OF_MACHINE[kind] if kind else None)
    if name not in files:
        raise no_preset("", name, files, kind or "machine")
    return read_preset(files[name], KIND_OF_MACHINE[files[name].parent.name])


NEW_PRESET = "workbench new preset {} my_card"
"""The command that writes the file of a new preset of a kind."""
_NEAREST, _SIMILAR, _SLIP = 5, 0.5, 0.85
"""Most presets that a sentence names; the likeness, from 0 to 1, that is shown, and that is taken for a slip."""


def no_preset(where: str, name: object, known: Iterable[str], kind: str = "machine") -> InputError:
    """Say that there is no preset of a name, which are most like it, and how to write the file of a new one.

    Parameters
    ----------
    known : iterable of str
        The presets that may be named there.
    kind : str
        The kind of machine that a new one would be of.

    Examples
    --------
    >>> print(no_preset("", "mi400", ["h100", "mi300x", "mi355x"]))
    there is no preset 'mi400'; nearest: mi300x. For a card of yours: workbench new preset machine my_card
    """
    text = shown(name).strip("'").lower()
    near = difflib.get_close_matches(text, sorted(known), _NEAREST, _SIMILAR)
    nearest = f"nearest: {', '.join(near)}" if near else "workbench list presets shows all"
    is_slip = bool(near) and difflib.SequenceMatcher(None, text, near[0]).ratio() >= _SLIP
    cure = f"Did you mean {near[0]}? Else: " if is_slip else "For a card of yours: "
    return InputError(at(where, f"there is no preset {shown(name)}; {nearest}. {cure}{NEW_PRESET.format(kind)}"))


def presets(of: Any = None) -> list[dict[str, Any]]:
    """Return one row a preset, of every kind of machine or of one: what it is, its main figures, how many are doubtful.

    >>> from workbench.machine import Machine
    >>> [row["segments"] for row in presets(Machine) if row["name"] in ("mgpusim_mi300a", "patent")]
    [256, 128]

    A file that is no preset has no row; `unreadable_presets` says why.
    """
    return [{**row_of(one), "name": name} for name, one in _readable(of)]


def unreadable_presets(of: Any = None) -> list[str]:
    """Return a sentence for each preset's file, of every kind of machine or of one, that cannot be read."""
    sentences = []
    for name in _named(of):
        try:
            preset(name, of)
        except InputError as problem:
            sentences.append(str(problem))
    return sentences


def _readable(of: Any = None) -> Iterator[tuple[str, Preset]]:
    """Yield the presets whose files can be read, by name: one that is being written hides no other."""
    for name in _named(of):
        with suppress(InputError):
            yield name, preset(name, of)


def presets_holding(shared_bytes: int, threads: int = -1, vgprs: int = -1) -> list[str]:
    """Return the hardware presets whose shared memory holds a workgroup of so many bytes, the smallest memory first.

    With its threads and the vector registers of each, a unit must have space for those too; -1 = not asked about.

    >>> presets_holding(100_000)
    ['mi350x', 'mi355x', 'mi355x_cpx', 'mi355x_dpx', 'mi355x_qpx', 'a100', 'b200', 'gb200', 'h100', 'h200']
    """
    cards = [card for _, card in _readable(KIND_OF_MACHINE["machine"]) if card.kind == "hardware"]
    machines = {card.name: card.machine() for card in cards}
    asked = [np.array([count]) for count in (shared_bytes, threads, vgprs)]
    fitting = [name for name, machine in machines.items() if machine.resident(*asked)[0] > 0]
    return sorted(fitting, key=lambda name: (machines[name].shared_memory_bytes, name))


def preset_for_device(device: str) -> str | None:
    """Return the hardware preset of a device name as traces record it, None when there is none.

    >>> preset_for_device("Tesla V100-SXM2-32GB"), preset_for_device("AMD Instinct MI210")
    ('v100', None)
    """
    for name, card in _readable(KIND_OF_MACHINE["machine"]):
        if any(re.search(rf"\b{re.escape(word)}\b", device, re.IGNORECASE) for word in card.devices):
            return name
    return None


def read_preset(path: Path, of: Any) -> Preset:
    """Read a preset of one kind of machine from its file, every key and figure and the machine that they make checked.

    The file's name is the preset's.
    """
    given, where = read_mapping(path), path.name
    _only(where, "key", given, ("title", "kind", "devices", "figures"))
    if given["kind"] not in KINDS:
        raise unknown_name(where, "kind of preset", given["kind"], KINDS)
    figures = given["figures"]
    if not isinstance(figures, Mapping):
        raise wrong_value(where, "figures", "must be a mapping of figures", figures)
    _only(where, "figure", figures, tuple(of.figures()), of.may_omit)
    if not isinstance(given["devices"], list):
        raise wrong_value(where, "devices", "must be a list of words in the names of devices", given["devices"])
    empty = [name for name in of.figures() if _is_empty(figures.get(name))]
    if empty:
        named = ", ".join(empty)
        one = f"the figure {empty[0]} has no value yet"
        raise InputError(f"{where}: {one if len(empty) == 1 else f'figures have no value yet: {named}'}.")
    stated = {name: declared for name, declared in of.figures().items() if name in figures}
    read = {name: _figure(where, declared, figures[name]) for name, declared in stated.items()}
    made = Preset(path.stem, str(given["title"]), given["kind"], tuple(map(str, given["devices"])), of, read)
    try:
        made.machine()
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from None
    return made


def is_preset_file(name: object) -> bool:
    """Return whether a machine is said by a preset's file of the user's: `my_card.yaml`."""
    return isinstance(name, str) and name.endswith((".yaml", ".yml"))


def preset_in_file(name: str, folder: Path, where: str = "", of: Any = None) -> Preset:
    """Return the preset that a file of the user's is, looked for in a folder and then where the command runs.

    Parameters
    ----------
    of : class, optional
        The kind of machine; the one whose figures the file states if None.

    Raises
    ------
    InputError
        There is no such file, or it is not what a preset's file must be.
    """
    path = next((one for one in (folder / name, Path(name)) if one.is_file()), None)
    if path is None:
        guess = file_guess(folder / name) or file_guess(name)
        raise InputError(at(where, f"the preset's file {name} does not exist (looked in {folder}).{guess}"))
    if of is None:
        stated = read_mapping(path).get("figures")
        of = max(KIND_OF_MACHINE.values(), key=lambda kind: len({*kind.figures()} & {*(stated or ())}))
    return read_preset(path, of)


def _is_empty(figure: object) -> bool:
    """Return whether a figure's value is yet to be filled in."""
    return isinstance(figure, Mapping) and "value" in figure and figure["value"] is None


def _only(
    where: str, what: str, given: Mapping[str, Any], wanted: tuple[str, ...], may_omit: tuple[str, ...] = ()
) -> None:
    """Refuse all but exactly the wanted keys: a preset that leaves a figure out would borrow it from another machine
    unseen."""
    for key in given:
        if key not in wanted:
            raise unknown_name(where, what, key, wanted)
    missing = [key for key in wanted if key not in (*given, *may_omit)]
    if len(missing) == 1:
        raise InputError(f"{where}: the {what} {missing[0]} is missing.")
    if missing:
        raise InputError(f"{where}: {what}s are missing: {', '.join(missing)}.")


def _figure(where: str, declared: Lever, given: object) -> Figure:
    name = declared.name
    if not isinstance(given, Mapping):
        raise wrong_value(where, f"figures.{name}", "must be a mapping of value, mark and source", given)
    _only(where, f"figures.{name}: key", given, ("value", "mark", "source"))
    if given["mark"] not in MARKS:
        raise unknown_name(where, f"mark of figures.{name}", given["mark"], MARKS)
    value = declared.check(given["value"], f"figures.{name}.value", where)
    return Figure(name, value, declared.unit, given["mark"], str(given["source"]))


def row_of(preset: Preset) -> dict[str, Any]:
    """Return a preset as a row of a table."""
    says = {"name": preset.name, "of": preset.of.name, "kind": preset.kind, "title": preset.title}
    return {**says, **preset.machine().row(), "doubtful_figures": len(preset.doubtful())}


class Described(Spec):
    """The base of every kind of machine: what one engine needs to know of the hardware.

    Its presets are the files of `presets/<name of the kind>/`; each of them gives every figure of the kind.
    """

    shown: ClassVar[tuple[str, ...]] = ()
    """The levers that a table of presets shows."""
    may_omit: ClassVar[tuple[str, ...]] = ()
    """The figures that a preset's file may leave out: their defaults say that the hardware has no such thing."""
    __describes__: ClassVar[tuple[str, ...]] = ("shown", "may_omit")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.built_in:
            KIND_OF_MACHINE[cls.name] = cls

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """Return the statements of a preset's file, each with its range and unit."""
        return cls.levers

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """Return the machine that has these figures."""
        return cls(**figures)

    def row(self) -> dict[str, Any]:
        """Return the row of this machine in a table of presets."""
        return {name: getattr(self, name) for name in self.shown}

    def replaced(self, levers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the levers of a preset with some of them replaced, as a sweep file says them."""
        return {**self.values(), **levers}

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """Read the machine that a sweep file describes: a preset's name, levers, or both (see `read_machine`)."""
        return super().read(_levers_of_preset(cls, given, path, where), path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes: a preset's name, or levers with or without one."""
        named = {"enum": preset_names(cls), "description": "a preset whose figures stand where no lever is given"}
        levers = super().schema()
        return {"anyOf": [named, {**levers, "properties": {"preset": named, **levers["properties"]}}]}


def _levers_of_preset(cls: type[Described], given: object, path: str, where: str) -> object:
    """Return the given settings with the preset that they name written out as levers; without a name, they come back as
    they are."""
    if isinstance(given, str):
        return _preset_of(cls, given, path, where).values()
    if isinstance(given, Mapping) and "preset" in given:
        replaced = {name: value for name, value in given.items() if name != "preset"}
        return _preset_of(cls, given["preset"], f"{path}.preset", where).replaced(replaced)
    if not isinstance(given, (cls, Mapping)):
        raise wrong_value(where, path, "must be a preset's name or a mapping of levers", given)
    return given


def _preset_of(cls: type[_D], name: object, path: str, where: str) -> _D:
    if name not in preset_names(cls):
        raise no_preset(at(where, path), name, preset_names(cls), cls.name)
    machine = preset(str(name), cls).machine()
    assert isinstance(machine, cls)
    return machine


_D = TypeVar("_D", bound=Described)
