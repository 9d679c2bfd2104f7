"""How Sphinx builds the site: no network, no warning, fonts and scripts of this host alone."""

import re
from pathlib import Path

import workbench
from workbench.docs.spec_links import linked, spec_of
from workbench.levers import Spec

project = "GPU policy workbench"
author = "the GPU policy workbench authors"
copyright = "the GPU policy workbench authors"
version = release = workbench.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_all_links_external = True  # every link is an address of a built page; `workbench.docs._build` looks at each
myst_heading_anchors = 3
nb_execution_mode = "off"  # executed copies come with the sources (workbench/docs/_notebook_pages.py)
nb_merge_streams = True
suppress_warnings = ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"]

default_role = "code"  # docstrings have code in single backticks
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 88
autodoc_inherit_docstrings = False

html_theme = "furo"
templates_path = ["templates"]
html_title = "GPU policy workbench"
html_static_path = ["static"]
html_extra_path = ["pictures"]  # cards of the gallery are HTML that Sphinx does not look into
html_css_files = ["site.css"]
html_js_files = ["code.js"]
html_favicon = "static/favicon.svg"
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def link_specifications(app, what, name, obj, options, lines):
    """Make each `spec 3, R81` of a docstring a link to the item, as everywhere on the site."""
    text = linked("\n".join(lines), spec_of(getattr(obj, "__module__", "") or ""))
    up = "../" * app.env.docname.count("/")
    lines[:] = re.sub(r"\[([^\]\n]+)\]\(site:([^)]+)\)", rf"`\1 <{up}\2>`__", text).split("\n")


def without_levers(app, what, name, obj, options, signature, returned):
    """Show no signature of what has levers: a table tells them."""
    return ("", returned) if isinstance(obj, type) and issubclass(obj, Spec) else None


_PARAMETERS = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>')


def list_parameters(app, page, template, context, doctree):
    """Make a list of the parameters of a long signature: Sphinx writes definitions without terms."""
    context["body"] = _PARAMETERS.sub(_as_list, context.get("body", ""))


def _as_list(match):
    items = re.sub(r"(</?)dd>", r"\1li>", match[1])
    return f'<ul class="parameters">\n{items}</ul>'


def setup(app):
    """Let docstrings be linked once they are reStructuredText and parameters be a list."""
    app.connect("html-page-context", list_parameters)
    app.connect("autodoc-process-docstring", link_specifications, priority=900)
    app.connect("autodoc-process-signature", without_levers)
