"""The site is built without a warning, without the network, with no link that leads nowhere."""

from __future__ import annotations

import functools
import html
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook

import workbench as wb
from tests.docs import search
from tests.docs.test_reference import TEXTS, public_entries
from tests.needs import needs
from tests.slow import compiled_only
from workbench.docs import DOCS, NOTEBOOKS, PAGES, ROOT, _outputs
from workbench.docs import _sources as sources
from workbench.docs._build import MOVED, dead_links, write_moved
from workbench.docs._fitted import MOST_LETTERS
from workbench.docs._heads import page_heads, with_head
from workbench.docs._notebook_pages import _page_outputs, executed_copy, notebook_sources, run_notebook
from workbench.docs.drawings import DRAWINGS, drawn
from workbench.docs.markdown import Page
from workbench.errors import WorkbenchError
from workbench.figures.registry import FIGURES
from workbench.mechanisms.mechanism import mechanism

pytestmark = compiled_only
"""Once is enough: the site is built by a process of its own, which compiles nothing."""

NO_NETWORK = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "no_proxy": ""}
"""Whoever asks a host for something is refused at once."""


def built(out: Path, *arguments: str) -> str:
    """Build the site into a folder and return what was said; a warning is a failure."""
    command = [sys.executable, "-m", "workbench.docs", "--out", str(out), "--no-notebooks", *arguments]
    environment = {**os.environ, **NO_NETWORK, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(out / "cache")}
    reply = subprocess.run(command, cwd=out, env=environment, capture_output=True, text=True, timeout=900)
    assert reply.returncode == 0, reply.stdout + reply.stderr
    return reply.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    built(out)
    return out / "html"


def outside_requests(html: Path) -> list[str]:
    """What pages would fetch from elsewhere: scripts, styles, fonts and pictures with an address."""
    fetched = re.compile(
        r'<(?:img|script|iframe)\b[^>]*\ssrc="((?:https?:)?//[^"]+)"|<link\b[^>]*\shref="(https?://[^"]+)"'
    )
    style = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")
    result = []
    for page in sorted([*html.rglob("*.html"), *html.rglob("*.css")]):
        pattern = style if page.suffix == ".css" else fetched
        result += [
            f"{page.relative_to(html)}: {next(filter(None, match.groups()))}"
            for match in pattern.finditer(page.read_text(encoding="utf-8"))
        ]
    return result


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_has_no_dead_link(site):
    for page in (
        "index",
        "404",
        "start",
        "choose",
        "mechanisms/placement",
        "verdict/index",
        "reference/index",
    ):
        assert (site / f"{page}.html").is_file(), page
    assert '<svg class="drawing"' in (site / "mechanisms/placement.html").read_text()
    assert dead_links(site) == []


@pytest.mark.slow
def test_no_page_fetches_anything_from_another_host(site):
    assert outside_requests(site) == []


@pytest.mark.slow
def test_every_item_of_a_specification_keeps_its_anchor(site):
    for page in sorted((site / "specification").glob("[0-9]-*.html")):
        there = set(re.findall(r'\bid="([^"]+)"', page.read_text()))
        text = TEXTS[int(page.name[0])]
        assert set(re.findall(r'<a id="([^"]+)"></a>', text)) <= there, page.name


@pytest.mark.slow
def test_every_public_name_is_an_anchor_of_a_built_page(site):
    """A name of a catalogue, `drain_cycles` of the engine `shared_memory`, is where a link to it leads."""
    for entry in public_entries():
        page, _, anchor = entry.partition("#")
        assert f'id="{anchor}"' in text_of(site / f"{page}.html"), entry


@pytest.mark.slow
def test_what_docstrings_mention_of_a_specification_is_a_link_to_it(site):
    """Sphinx puts the docstrings in, so that only built pages show it."""
    pages = [text_of(page).partition("<article")[2] for page in (site / "reference").rglob("*.html")]
    links = [link for text in pages for link in re.findall(r'href="[^"]*specification/\d-[a-z]+\.html', text)]
    assert len(links) > 700
    without_links = re.compile(r"<(a|pre|code)\b.*?</\1>", re.DOTALL)
    assert [text for text in pages if re.search(r"\bspec \d\b", without_links.sub("", text))] == []


@functools.cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_reference_has_few_pages_and_none_of_a_few_words(site):
    """A page a measure, a lever, a policy were 1,300 pages, most of them of under a hundred words."""
    bodies = {
        page.relative_to(site).as_posix(): re.sub(
            r"<[^>]+>", " ", text_of(page).partition("<article")[2].partition("</article>")[0]
        )
        for page in (site / "reference").rglob("*.html")
    }
    assert len(bodies) < 100
    assert [page for page, body in bodies.items() if len(body.split()) < 100] == []


LOOKED_AT = [
    "index",
    "install",
    "start",
    "advise",
    "policies",
    "reference/policies/placement",
    "reference/python",
    "mechanisms/placement",
    "gallery",
    "notebooks/01_placement",
    "verdict/index",
    "differences",
    "specification/index",
    "search",
    "changes",
    "404",
]


@needs("chromium")
@pytest.mark.slow
def test_readers_of_every_kind_can_read_the_pages(site):
    command = [sys.executable, "-m", "tests.docs.audit", str(site), *LOOKED_AT]
    reply = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert reply.returncode == 0, reply.stderr
    assert json.loads(reply.stdout) == []


@pytest.mark.slow
def test_no_page_has_an_id_twice_and_every_page_is_described(site):
    for page in site.rglob("*.html"):
        ids = Counter(re.findall(r'\sid="([^"]+)"', text_of(page)))
        assert [one for one, times in ids.items() if times > 1] == [], page.name
        assert re.search(r'<meta [^>]*name="description"', text_of(page)), page.name


@pytest.mark.slow
def test_no_command_and_no_sweep_is_wider_than_its_page(site):
    """Python is left out, and so are outputs: their lines wrap where a page is narrow."""
    block = re.compile(r'<div class="highlight-(console|yaml)[^>]*>.*?<pre>(.*?)</pre>', re.DOTALL)
    lines = [
        (page.name, language, line)
        for page in site.rglob("*.html")
        for language, text in block.findall(text_of(page))
        for line in html.unescape(re.sub("<[^>]+>", "", text)).splitlines()
    ]
    rows = [(name, line) for name, language, line in lines if language == "yaml" or line.startswith("$ ")]
    assert [one for one in rows if len(one[1]) > MOST_LETTERS] == []
    assert len(rows) > 1000


PARAGRAPH = re.compile(r"(?:^|\n)\n(?=[A-Z`*\[])(.+?)(?=\n\n|\Z)", re.DOTALL)


def long_paragraphs(text: str, most: int = 120) -> list[str]:
    """The beginnings of paragraphs with more words than a reader takes in at once."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [one[:60] for one in PARAGRAPH.findall(f"\n\n{prose}") if len(one.split()) > most]


@pytest.mark.parametrize("file", sorted(PAGES.rglob("*.md")), ids=lambda file: file.relative_to(PAGES).as_posix())
def test_no_paragraph_of_a_page_is_long(file):
    assert long_paragraphs(file.read_text()) == []


def test_a_long_paragraph_is_noticed():
    assert long_paragraphs("# A\n\n" + "Word " * 121) == [("Word " * 12)[:60]]


def test_outputs_are_of_their_commands_and_of_the_files_that_these_name(tmp_path, monkeypatch):
    script = tmp_path / "first.py"
    script.write_text("print(1)")
    monkeypatch.setattr(_outputs, "ROOT", tmp_path)
    first = _outputs.kept_outputs(["python first.py"])
    assert first == _outputs.kept_outputs(["python first.py"]) != _outputs.kept_outputs(["python other.py"])
    script.write_text("print(1 + 1)")
    assert _outputs.kept_outputs(["python first.py"]) != first


def test_a_page_without_kept_outputs_shows_its_commands_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    text = _outputs.with_outputs("{{output workbench list policies}}\n\n{{script docs/examples/first.py}}", run=False)
    assert text.startswith("```console\n$ workbench list policies\n```\n\n```python\nimport workbench")


@pytest.mark.slow
def test_a_command_that_fails_stops_the_build():
    with pytest.raises(WorkbenchError, match=r"a page shows `workbench run nothing\.yaml`, which ends with 2"):
        _outputs._run(["workbench run nothing.yaml"])


@pytest.mark.slow
def test_every_command_that_a_page_shows_runs():
    """With the cache of this machine, in which compiled code lies."""
    texts = {page.path: page.text for page in sources.handwritten_pages()}
    assert "sure better" in texts["start"] and "26 files computed" in texts["paper"]
    assert "The cause is fragmentation" in texts["advise"] and "1.061x" in texts["index"]


@pytest.mark.slow
def test_questions_of_readers_find_their_pages(site):
    requests = search.questions()
    rank = dict(zip(requests, search.ranks(site, requests), strict=True))
    usual = [rank[one] for one in requests if not one.additional]
    missed = {one.words: rank[one] for one in requests if not 1 <= rank[one] <= 3}
    assert len([one for one in usual if 1 <= one <= 3]) >= 29, missed
    assert usual.count(1) >= 22, missed
    assert len([one for one in requests if one.additional and 1 <= rank[one] <= 3]) >= 10, missed


@pytest.mark.slow
def test_a_page_that_a_search_does_not_find_has_rank_0(site):
    requests = [search.Question("zyzzyva", "install", False), search.Question("install", "zyzzyva", False)]
    assert search.ranks(site, requests) == [0, 0]


def test_a_keyword_of_a_page_gives_way_to_the_page_that_the_heads_give_it_to():
    heads = {"a": {"keywords": ["wear"]}, "b": {"keywords": ["list"]}}
    page = with_head(Page("b", "B", "# B\n\nIt lists. More.", keywords=("wear", "drain")), heads)
    assert (page.keywords, page.description) == (("list", "drain"), "It lists.")


def test_a_word_or_a_phrase_is_an_entry_of_one_page_only():
    words = Counter(word.lower() for head in page_heads().values() for word in head.get("keywords", ()))
    assert [word for word, times in words.items() if times > 1] == []
    assert len(words) > 300


def test_a_dead_link_a_dead_anchor_and_a_foreign_script_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top"></h1><a href="b.html#top">b</a><a href="#top">up</a>')
    (tmp_path / "b.html").write_text(
        '<a href="a.html#end">end</a><img src="c.png"><script src="https://x.org/y.js"></script>'
    )
    assert dead_links(tmp_path) == ["a.html: b.html#top", "b.html: a.html#end", "b.html: c.png"]
    assert outside_requests(tmp_path) == ["b.html: https://x.org/y.js"]


def test_a_former_address_leads_to_the_part_that_has_its_text(tmp_path):
    write_moved(tmp_path)
    assert sorted(page.stem for page in tmp_path.iterdir()) == sorted(MOVED)
    assert 'url=machines.html#what-workers-promise"' in (tmp_path / "workers.html").read_text()
    assert [one for one in MOVED if (PAGES / f"{one}.md").exists()] == []
    assert len(dead_links(tmp_path)) == len(MOVED)  # a build without those pages would say so
    (tmp_path / "machines.html").write_text('<h2 id="what-workers-promise"></h2>')
    assert len(dead_links(tmp_path)) == len(MOVED) - 1


def test_every_drawing_says_what_it_shows_and_stands_on_a_page():
    pages = "".join(page.read_text() for page in PAGES.rglob("*.md"))
    for name in DRAWINGS:
        assert f"{{{{drawing {name}}}}}" in pages, name
    assert "<title>nearest_boundary: a request of 4 segments" in drawn("nearest_boundary")


def test_a_part_of_a_file_is_included_up_to_the_next_heading_outside_of_code():
    text = sources.included("README.md ## Your own policy", "policies")
    assert "class MiddleOut(Placement)" in text and "`workbench claims` judges" not in text
    with pytest.raises(KeyError, match="no heading '## Add a moon'"):
        sources.included("README.md ## Add a moon", "policies")


def test_links_of_the_project_become_links_of_the_site():
    text = "[spec](../specification/3-dispatch.md#r81) [code](../../workbench/api.py) [out](https://a.org)"
    expected = "[spec](site:specification/3-dispatch.html#r81) code (`workbench/api.py`) [out](https://a.org)"
    assert sources.rewritten(text, Path("docs/pages")) == expected


RELATIVE = re.compile(r"(?<!`)\[[^\[\]]*\]\((?![\w+.-]+:|#)([^()\s#]+)")


@pytest.mark.parametrize("file", sorted(PAGES.rglob("*.md")), ids=lambda file: file.relative_to(PAGES).as_posix())
def test_a_page_written_by_hand_links_to_pages_and_files_that_there_are(file):
    """A link to no page is shown as the name of a file, which no look at the built site can tell from one that is."""
    for target in RELATIVE.findall(file.read_text()):
        place = os.path.relpath(file.parent / target, ROOT)
        assert sources._built_page(place) is not None or (ROOT / place).exists(), target


def test_a_notebook_without_an_executed_copy_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    pages = notebook_sources(execute=False)
    assert "notebooks/01_placement.ipynb" in pages
    assert all("built without running notebooks" in text for name, text in pages.items() if name.endswith(".ipynb"))


def test_an_executed_copy_is_shown_with_its_outputs(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    file = next(iter(sorted(NOTEBOOKS.glob("*.ipynb"))))
    copy = executed_copy(file)
    copy.parent.mkdir(parents=True)
    output = '{"output_type": "stream", "name": "stdout", "text": "drained sooner"}'
    copy.write_text(
        '{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "source": "x", "execution_count": 1, "outputs": ['
        + output
        + ']}], "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}'
    )
    page = notebook_sources(execute=False)[f"notebooks/{file.name}"]
    assert "drained sooner" in page and "widgets" not in page


def test_of_a_widget_its_picture_is_shown_and_of_one_without_nothing():
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}, "text/plain": "HBox()"}
    outputs = [
        {"output_type": "display_data", "data": {**widget, "image/png": "cGljdHVyZQ=="}},
        {"output_type": "display_data", "data": dict(widget)},
        {"output_type": "stream", "name": "stderr", "text": "a message"},
        {"output_type": "stream", "name": "stdout", "text": "a result"},
    ]
    draws = {"cell_type": "code", "source": 'results.figure("drain_difference")', "metadata": {}, "outputs": outputs}
    other = {"cell_type": "code", "source": ["plot()"], "metadata": {}, "outputs": [dict(outputs[0])]}
    above = {"cell_type": "markdown", "source": ["## Who waits?\n", "\n", "More."], "metadata": {}}
    notebook = {"cells": [draws, above, other], "metadata": {}}
    cell, _, last = _page_outputs(notebook)["cells"]
    words = FIGURES.find("drain_difference").description
    assert cell["metadata"]["mystnb"] == {"image": {"alt": words}}
    assert last["metadata"]["mystnb"] == {"image": {"alt": "Who waits?"}}
    assert [list(out.get("data", out["output_type"])) for out in cell["outputs"]] == [
        ["text/plain", "image/png"],
        list("stream"),
    ]


def test_a_table_of_a_notebook_has_no_header_without_words():
    rows = pd.DataFrame({"first_fit": [1]}, index=pd.Index([0], name="seed")).rename_axis(columns="policy")
    data = {"text/html": rows.to_html().splitlines(keepends=True)}
    cell = {
        "cell_type": "code",
        "source": "",
        "metadata": {},
        "outputs": [{"output_type": "display_data", "data": data}],
    }
    _page_outputs({"cells": [cell], "metadata": {}})
    assert data["text/html"].count("<th>seed</th>\n      <td></td>") == 1


def test_a_copy_is_of_one_notebook_and_of_the_engines_that_it_names(tmp_path, monkeypatch):
    notebook = tmp_path / "a.ipynb"
    notebook.write_text("engine: dispatch, sweeps/placement/drain.yaml")
    first = executed_copy(notebook)
    monkeypatch.setattr(type(mechanism("malloc").engine), "revision", 1000)
    assert executed_copy(notebook) == first
    monkeypatch.setattr(type(mechanism("shared_memory").engine), "revision", 1000)  # by the sweep
    second = executed_copy(notebook)
    monkeypatch.setattr(type(mechanism("dispatch").engine), "revision", 1000)
    assert len({first, second, executed_copy(notebook)}) == 3


@pytest.mark.slow
def test_a_notebook_with_a_cell_that_fails_is_one_sentence(tmp_path):
    (tmp_path / "a.ipynb").write_text(nbformat.writes(new_notebook(cells=[new_code_cell("1 / 0")])))
    with pytest.raises(WorkbenchError, match=r"a\.ipynb: a cell fails: ZeroDivisionError: division by zero"):
        run_notebook(tmp_path / "a.ipynb", tmp_path / "copy.ipynb")
    assert not (tmp_path / "copy.ipynb").exists()


def test_what_is_cited_is_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == wb.__version__
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)


def test_sources_of_the_site_name_no_host_for_scripts_or_fonts():
    for file in (DOCS / "conf.py", *(DOCS / "static").iterdir()):
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", file.read_text()), file.name


def test_the_command_says_where_the_site_is_and_builds_none_without_its_sources(tmp_path, monkeypatch, capsys):
    from workbench.cli import _browser as browser
    from workbench.cli import main

    monkeypatch.setattr(browser, "SITE", tmp_path / "index.html")
    monkeypatch.setattr(browser, "CHECKOUT", tmp_path)
    assert main(["open", "docs", "--no-browser"]) == 2
    assert "built from a checkout of the project" in capsys.readouterr().err
    (tmp_path / "index.html").write_text("here")
    assert main(["open", "docs", "--no-browser"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'index.html'}\n"
