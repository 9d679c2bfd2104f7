"""What readers search for, and how Sphinx's own script ranks the pages of a built index for it.

The questions and the page that each should find were written down before any ranking was looked at.
"""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import NamedTuple

from playwright._impl._driver import compute_driver_executable

HERE = Path(__file__).parent
RANK = HERE / "rank.js"


class Question(NamedTuple):
    """What a reader types, and the page that should come."""

    words: str
    page: str
    additional: bool


def questions() -> list[Question]:
    with (HERE / "search_questions.csv").open(encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    return [Question(row["question"], row["page"], row["why"] == "asked in addition") for row in rows]


def ranks(html: Path, requests: list[Question]) -> list[int]:
    """The rank of the wanted page for each question, from 1 on; 0 where it does not come."""
    node, _ = compute_driver_executable()
    command = [node, str(RANK), str(html)]
    reply = subprocess.run(command, input=json.dumps([one.words for one in requests]), capture_output=True, text=True)
    assert reply.returncode == 0, reply.stderr
    orders = json.loads(reply.stdout)
    return [order.index(one.page) + 1 if one.page in order else 0 for one, order in zip(requests, orders, strict=True)]
