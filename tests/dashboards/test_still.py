"""Where nobody watches a notebook, a dashboard leaves a picture and a sentence, not its class and children."""

from __future__ import annotations

import base64

import pytest

import workbench as wb
from workbench.dashboards._recorded import recorded
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


def test_a_notebook_that_somebody_watches_keeps_the_recorded_picture_beside_the_widget(board, monkeypatch):
    monkeypatch.delenv(STILL, raising=False)
    assert board._repr_mimebundle_()["image/png"] == recorded("shared_memory").picture
    board.sidebar.turn({"workload.random_workgroups.count": 40})
    assert board._repr_mimebundle_()["image/png"] not in ("", recorded("shared_memory").picture)


def test_a_page_of_its_own_keeps_no_picture(board, monkeypatch):
    board.url_fragment.is_served = True
    assert "image/png" not in board._repr_mimebundle_()
