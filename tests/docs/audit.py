"""Look at pages of a built site in a browser, and print as JSON what keeps readers out.

    python -m tests.docs.audit FOLDER PAGE...

The rules are those of axe-core, plus two of this project. This module is a program because the event loop of Playwright
conflicts with other tests.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from tests.needs import browser

WINDOWS = (("light", 1440, 900), ("dark", 1024, 768), ("dark", 390, 844))
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
OURS = """() => [
  ...[...document.querySelectorAll("article img[alt='']")].map((picture) => `no words for ${picture.src}`),
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page is wider than its window"] : []),
]"""
"""Faults that axe does not report: it allows a picture without words, and a page that scrolls sideways."""


def faults(folder: Path, pages: list[str]) -> list[str]:
    """Return each fault as `page, scheme, width: what is wrong`."""
    axe, result = Axe(), []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox", "--disable-gpu"])
        for scheme, width, height in WINDOWS:
            tab = launched.new_page(color_scheme=scheme, viewport={"width": width, "height": height})
            for page in pages:
                tab.goto((folder / f"{page}.html").as_uri())
                violations = axe.run(tab, options=RULES).response["violations"]
                sentences = [
                    f"{rule['id']} at {' '.join(map(str, node['target']))}: {node['failureSummary']}"
                    for rule in violations
                    for node in rule["nodes"]
                ]
                result += [f"{page}, {scheme}, {width}: {fault}" for fault in [*sentences, *tab.evaluate(OURS)]]
            tab.close()
        launched.close()
    return result


if __name__ == "__main__":
    print(json.dumps(faults(Path(sys.argv[1]), sys.argv[2:])))
