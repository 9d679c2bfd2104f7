"""How Sphinx builds the site: no network, no warning, fonts and scripts of this host alone."""

import workbench

project = "GPU policy workbench"
author = "the GPU policy workbench authors"
copyright = "the GPU policy workbench authors"
version = release = workbench.__version__

extensions = ["myst_nb"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_all_links_external = True  # every link is an address of a built page; `workbench.docs.build` looks at each
myst_heading_anchors = 3
nb_execution_mode = "off"  # executed copies come with the sources (workbench/docs/sources.py)
nb_merge_streams = True
suppress_warnings = ["myst.header", "misc.highlighting_failure", "mystnb.unknown_mime_type"]

html_theme = "furo"
html_title = "GPU policy workbench"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "native"
