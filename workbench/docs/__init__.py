"""The documentation's site: reference pages from the registries, drawings from runs, built by Sphinx without a network.

`python -m workbench.docs` writes the sources of every page and builds them; `workbench docs` opens what is built.
"""
