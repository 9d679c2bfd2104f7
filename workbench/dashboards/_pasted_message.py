"""A field for a pasted out-of-memory message, and its verdict below it."""

from __future__ import annotations

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
        self.answer.value = f'<div class="answer">{"".join(map(_paragraph, lines))}</div>'


def _paragraph(line: str) -> str:
    """Return a line as HTML; a line of a program keeps its blanks.

    >>> _paragraph("    a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escaped(line[4:])}</pre>" if line.startswith("    ") else f"<p>{escaped(line)}</p>"
