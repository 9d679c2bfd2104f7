"""Where nobody watches a notebook, a dashboard leaves a picture and a sentence, not its class and children."""

from __future__ import annotations

import base64

import pytest

import workbench as wb
from workbench.notebooks.execution import STILL


@pytest.fixture
def board():
    widget = wb.dashboard("shared_memory")
    yield widget
    widget.close()


def test_a_picture_stands_in_its_place_where_nobody_watches(board, monkeypatch):
    monkeypatch.setenv(STILL, "1")
    bundle = board._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert 'wb.dashboard("shared_memory") in a notebook opens it' in bundle["text/plain"]
    assert "children" not in bundle["text/plain"]


def test_a_notebook_that_somebody_watches_gets_the_widget_alone(board, monkeypatch):
    monkeypatch.delenv(STILL, raising=False)
    assert "image/png" not in board._repr_mimebundle_()
