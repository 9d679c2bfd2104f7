"""Look at pages of a built site in a browser, and print as JSON what keeps readers out.

    python -m tests.docs.audit FOLDER PAGE...

It is a program of its own, because the event loop of Playwright must not meet other tests.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.needs import browser

SCRIPT = Path(__file__).with_name("audit.js")
SIZES = ((1440, 900), (1024, 768))


def faults(folder: Path, pages: list[str]) -> list[str]:
    """Each fault as `page, scheme, width: what is wrong`."""
    script, result = SCRIPT.read_text(encoding="utf-8").strip().rstrip(";"), []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            for width, height in SIZES:
                tab = launched.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
                for page in pages:
                    tab.goto((folder / f"{page}.html").as_uri())
                    result += [f"{page}, {scheme}, {width}: {fault}" for fault in tab.evaluate(script)]
                tab.close()
        launched.close()
    return result


if __name__ == "__main__":
    print(json.dumps(faults(Path(sys.argv[1]), sys.argv[2:])))
