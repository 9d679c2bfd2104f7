"""The drawing of who decides what: every engine, and the slots that it leaves to policies."""

from __future__ import annotations

from workbench.docs.drawings._svg import Svg
from workbench.mechanisms.mechanism import is_built_in, mechanism, mechanisms

SLOTS_LEFT, WIDE, BOX = 130, 640, 26


def decisions() -> str:
    """Return every engine with its slots; those of the same question have the same colour."""
    engines = [name for name in mechanisms() if is_built_in(name)]
    rows = {name: _lines_of_slots(list(mechanism(name).engine.slots)) for name in engines}
    questions = sorted({mechanism(name).engine.question_of(slot) for name in engines for slot in _slots(name)})
    height = sum(max(len(lines), 1) * (BOX + 6) + 10 for lines in rows.values())
    picture = Svg("Every engine, and the decisions that it leaves to policies", WIDE + 10, height + 8)
    top = 8.0
    for name, lines in rows.items():
        picture.words(SLOTS_LEFT - 10, top + 18, name, "label", "end")
        if not lines:
            picture.words(SLOTS_LEFT, top + 18, "no slots: its settings are options", "small")
        for line in lines:
            _draw_slots(picture, name, line, top, questions)
            top += BOX + 6
        top += 10 if lines else BOX + 16
    return picture.text()


def _slots(name: str) -> list[str]:
    return list(mechanism(name).engine.slots)


def _width(slot: str) -> float:
    return 7.2 * len(slot) + 14


def _lines_of_slots(slots: list[str]) -> list[list[str]]:
    """Return slots as lines that fit."""
    lines: list[list[str]] = []
    for slot in slots:
        if not lines or SLOTS_LEFT + sum(_width(s) + 6 for s in [*lines[-1], slot]) > WIDE:
            lines.append([])
        lines[-1].append(slot)
    return lines


def _draw_slots(picture: Svg, engine: str, slots: list[str], top: float, questions: list[str]) -> None:
    x = float(SLOTS_LEFT)
    for slot in slots:
        question = mechanism(engine).engine.question_of(slot)
        kind = f"owner{questions.index(question) % 6}"
        picture.box(x, top, _width(slot), BOX, kind, f"{slot}: the question {question}")
        picture.words(x + _width(slot) / 2, top + 17, slot, "inside", "middle")
        x += _width(slot) + 6
