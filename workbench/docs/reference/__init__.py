"""Reference pages, a file a kind of part: every page is made from what the registries hold at that moment."""
