"""A field for a pasted out-of-memory message, and its verdict below it."""

from __future__ import annotations

from itertools import groupby
from textwrap import dedent

import ipywidgets as widgets

from workbench.advice.messages.answer import advise_message
from workbench.dashboards._elements import alert, button, escaped
from workbench.errors import WorkbenchError

TITLE = "Out of memory? Paste the message: its cause, and what to record next"


class PastedMessagePanel(widgets.Accordion):
    """A folded field; a text that holds no message is one sentence, and an empty field shows nothing."""

    def __init__(self) -> None:
        self.text = widgets.Textarea(
            description="message",
            placeholder="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ...",
            continuous_update=False,
            layout={"width": "auto", "height": "110px"},
        )
        self.text.observe(lambda _: self._answer(), "value")
        self.press = button("say the cause", "the verdict on the message above", self._answer)
        self.answer = widgets.HTML()
        self.answer.add_class("wb-answer")
        super().__init__([widgets.VBox([self.text, self.press, self.answer])], titles=[TITLE])

    def _answer(self) -> None:
        if not self.text.value.strip():
            self.answer.value = ""
            return
        try:
            lines = advise_message(self.text.value).lines()
        except WorkbenchError as wrong:
            self.answer.value = alert(wrong)
            return
        self.answer.value = f'<div class="answer">{_as_html(lines)}</div>'


def _as_html(lines: list[str]) -> str:
    """Return lines as HTML: sentences as paragraphs, lines of a program together, so that they are copied at once.

    >>> _as_html(["a < b", "    x", "      y"])
    '<p>a &lt; b</p><pre>x\\n  y</pre>'
    """
    groups = groupby(lines, lambda line: line.startswith("    "))
    return "".join(
        f"<pre>{escaped(dedent(chr(10).join(group)))}</pre>"
        if is_program
        else "".join(f"<p>{escaped(line)}</p>" for line in group)
        for is_program, group in groups
    )
