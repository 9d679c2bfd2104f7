"""Reference pages: every page is made from what the registries hold at that moment."""
