"""README's picture of a dashboard shows the words that the dashboard has now."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tests.browser.conftest import Visit
from tests.browser.dashboard_picture import PICTURE, SIZE, words_of
from tests.browser.server import served


@pytest.mark.slow
def test_readmes_dashboard_is_the_dashboard_of_now(visit: Visit, tmp_path: Path):
    with Image.open(PICTURE) as picture:
        assert picture.size == (SIZE["width"], SIZE["height"])
        kept = picture.text["Description"]
    with served("shared_memory", tmp_path) as address:
        assert words_of(visit.page, address) == kept, "run `make pictures`"
