"""JupyterLab: the first notebook runs from top to bottom in a real browser, dashboard included."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import free_port, running

ROOT = Path(__file__).parent.parent.parent
NOTEBOOK = "01_placement.ipynb"
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'
"""How Lab shows the traceback of a cell that failed."""
RUN_SECONDS = 300
TRIES = 2
"""Lab now and then does not come up at the first try; ours is what is tested, not that."""

# Every cell stays in the page, also those out of sight, so that a test can count what they show.
SETTINGS = {"@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"}}
OFFLINE = [
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of notebooks and sweeps, so that nothing is written into the project."""
    made = tmp_path_factory.mktemp("lab")
    for name in ("notebooks", "sweeps"):
        shutil.copytree(ROOT / name, made / name)
    for name, message in SETTINGS.items():
        path = made / "settings" / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(message))
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    port = free_port()
    command = ["jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", *OFFLINE]
    command += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"]
    own = {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    with running(command, port, "/api", folder, own) as result:
        yield result


def open_notebook(visit: Visit, address: str) -> None:
    """Open it and wait for its kernel; once more if Lab does not come up."""
    for left in reversed(range(TRIES)):
        try:
            visit.page.goto(f"{address}/lab/tree/notebooks/{NOTEBOOK}", timeout=90_000)
            wait_for_kernel(visit, address)
            return
        except Error:
            if not left:
                raise


def wait_for_kernel(visit: Visit, address: str, seconds: int = 90) -> None:
    """Wait until the notebook's kernel is there; the page itself says `idle` already before it has asked for one."""
    for _ in range(10 * seconds):
        answer = visit.page.request.get(f"{address}/api/kernels")
        kernels = answer.json() if answer.ok else []  # the server may refuse while it starts or restarts one
        if any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels):
            idle = visit.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
            idle.first.wait_for(timeout=1000 * seconds)
            return
        visit.page.wait_for_timeout(100)
    raise Error("the notebook's kernel did not start")


def run_all(visit: Visit) -> None:
    """Menu Run > Run All Cells, and wait until the last cell has been run."""
    visit.page.get_by_role("menuitem", name="Run", exact=True).click()
    visit.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    indicator = visit.page.locator(".jp-Notebook-ExecutionIndicator").first
    expect(indicator).to_have_attribute("data-status", "busy")
    visit.page.locator(f".wb-dashboard, {ERROR}").first.wait_for(timeout=1000 * RUN_SECONDS)
    assert visit.page.locator(ERROR).all_inner_texts() == []
    expect(indicator).to_have_attribute("data-status", "idle", timeout=1000 * RUN_SECONDS)


@pytest.mark.slow
def test_the_first_notebook_runs_and_its_dashboard_turns(address: str, folder: Path, visit: Visit):
    open_notebook(visit, address)
    run_all(visit)
    page, board = visit.page, Board(visit.page)
    board.wait()
    assert page.locator(ERROR).all_inner_texts() == []
    assert page.locator(".jp-RenderedImage img").count() == 6
    board.pick_other("placement", "middle out")
    expect(page.locator(".wb-result")).to_contain_text("middle_out", timeout=1000 * MOVE_SECONDS)
    before = board.picture(1)
    board.slide("shift (segments)")
    board.wait_for_another(1, before)
    expect(board.mistake).to_have_count(0)
    assert visit.outside == []
    page.keyboard.press("Control+s")
    saved = wait_for_outputs(visit, folder / "notebooks" / NOTEBOOK)
    assert [out for out in saved if out["output_type"] == "error"] == []


def wait_for_outputs(visit: Visit, path: Path) -> list[dict[str, object]]:
    """The outputs of the saved notebook, once Lab has written them: it empties the file first."""
    for _ in range(100):
        with suppress(json.JSONDecodeError):
            result = outputs(path.read_text())
            if result:
                return result
        visit.page.wait_for_timeout(100)
    pytest.fail("Lab did not save the notebook.")


def outputs(notebook: str) -> list[dict[str, object]]:
    return [out for cell in json.loads(notebook)["cells"] for out in cell.get("outputs", [])]
