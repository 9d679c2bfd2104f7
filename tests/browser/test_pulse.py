"""What a page says of its kernel, in a page without one and with a clock that is set."""

from __future__ import annotations

import pytest

from workbench.dashboards._page import Heartbeat

_MODEL = """
const questions = [], heard = [];
const model = {
  get: (name) => ({ patience: 10, is_served: SERVED })[name],
  send: (message) => questions.push(message),
  on: (_, one) => heard.push(one),
  off: (_, one) => heard.splice(heard.indexOf(one), 1),
};
globalThis.pulse = { questions, heard, end: render({ model, el: document.body }) };
"""


@pytest.fixture(params=["true", "false"], ids=["page", "notebook"])
def page(visit, request):
    visit.page.set_content("<body></body>")
    visit.page.clock.install(time=0)
    visit.page.clock.pause_at(1000)
    source = Heartbeat._esm if isinstance(Heartbeat._esm, str) else str(Heartbeat._esm)
    script = source.replace("export default { render };", "") + _MODEL.replace("SERVED", request.param)
    visit.page.evaluate(f"() => {{ {script} }}")
    visit.page.cure = "Reload the page" if request.param == "true" else "Run the cell again"
    return visit.page


def sentences(page):
    return page.locator(".wb-silent").all_inner_texts()


def test_a_kernel_that_answers_is_never_heard_of(page):
    for _ in range(20):
        page.clock.run_for(2000)
        page.evaluate("() => pulse.heard.forEach((one) => one())")
    assert page.evaluate("() => pulse.questions.length") == 20
    assert sentences(page) == []


def test_one_that_does_not_is_a_sentence_until_it_does(page):
    page.clock.run_for(9_000)
    assert sentences(page) == []
    page.clock.run_for(2_000)
    assert sentences(page) == [
        f"No sign of the kernel for 10 s: it has ended. {page.cure} to begin anew"
        f"{'; its address keeps the setting' if 'page' in page.cure else ''}."
    ]
    page.clock.run_for(60_000)
    assert "for 70 s" in sentences(page)[0]
    assert page.evaluate("() => pulse.questions.length") == 1
    page.evaluate("() => pulse.heard.forEach((one) => one())")
    assert sentences(page) == []


def test_one_that_computes_is_not_taken_for_one_that_has_ended(page):
    for _ in range(75):
        page.clock.run_for(2_000)
        page.evaluate("() => pulse.heard.forEach((one) => one({ what: 'busy' }))")
    assert sentences(page) == ["The kernel has been computing for 150 s; the page goes on by itself."]
    page.clock.run_for(12_000)
    assert "it has ended" in sentences(page)[0]


def test_a_page_that_is_left_asks_no_more(page):
    page.evaluate("() => pulse.end()")
    page.clock.run_for(60_000)
    assert (page.evaluate("() => pulse.questions.length"), page.evaluate("() => pulse.heard.length")) == (1, 0)
