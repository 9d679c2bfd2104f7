"""A dashboard."""


def plain_page():
    """Return a widget."""
    import ipywidgets

    return ipywidgets.HTML("a plain page")
