"""The pool dashboard takes a pasted out-of-memory message and shows its verdict."""

from __future__ import annotations

from workbench.dashboards._pasted_message import PastedMessagePanel
from workbench.dashboards._pool import PoolPanels

MESSAGE = (
    "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1.96 GiB total capacity; 1.24 GiB already allocated; "
    "2.88 MiB free; 1.25 GiB reserved in total by PyTorch)"
)


def test_a_pasted_message_gets_its_verdict_and_what_to_record():
    panel = PastedMessagePanel()
    panel.text.value = MESSAGE
    assert "<p>GPU 0: No setting helps: 6.88 MiB must go (20.00 MiB asked" in panel.answer.value
    assert "<pre>import torch\nprint(torch.cuda.memory_summary())" in panel.answer.value
    panel.text.value = ""
    assert panel.answer.value == ""


def test_a_text_that_is_none_is_one_sentence_and_is_shown_letter_by_letter():
    panel = PastedMessagePanel()
    panel.text.value = "<b>all is well</b>"
    assert "wb-mistake" in panel.answer.value and "holds no out-of-memory message" in panel.answer.value
    panel.text.value = f'Traceback (most recent call last):\n  File "<x>.py", line 3, in f\n{MESSAGE}'
    assert "<x>" not in panel.answer.value and "Asked by &lt;x&gt;.py:3 f." in panel.answer.value


def test_the_pool_page_has_the_field_above_its_pictures():
    panels = PoolPanels()
    assert panels.widgets[0] is panels.message and panels.message.selected_index is None
