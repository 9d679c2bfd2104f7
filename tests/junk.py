"""What a careless or hostile user may write where something else is expected, and what is said about it."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from workbench.errors import InputError

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


def refusal(function: Callable[..., Any], *given: Any, **named: Any) -> str:
    """The one line with which something is refused, empty if it is taken; any other exception passes through."""
    try:
        function(*given, **named)
    except InputError as refused:
        text = str(refused)
        assert text
        assert len(text.splitlines()) == 1
        return text
    return ""
