"""Who may open a served page: who brings the token, while fewer pages are open than a limit."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from workbench.errors import InputError

TOKEN, TOKEN_FILE = "JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"
"""The variables in which Jupyter's servers find their token, and so does this one."""
MOST_PAGES = 8
"""How many pages may be open at once: each has a process of some 300 MB."""
TICKET_SECONDS = 30.0
"""How long a page may take from its ticket to its kernel."""


def token_of(option: str | None) -> str:
    """Return the token that is given, or that Jupyter's variables name; else a new one.

    Raises
    ------
    InputError
        The one that is given is empty, or the file of it cannot be read.

    Examples
    --------
    >>> token_of("mine"), len(token_of(None)) > 30
    ('mine', True)
    >>> token_of("")
    Traceback (most recent call last):
    workbench.errors.InputError: --token is empty, and no dashboard is served without one: leave it out for a new one.
    """
    if option is not None:
        if not option.strip():
            raise InputError("--token is empty, and no dashboard is served without one: leave it out for a new one.")
        return option.strip()
    named = os.environ.get(TOKEN, "").strip()
    file = os.environ.get(TOKEN_FILE)
    if not named and file:
        try:
            named = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise InputError(f"{TOKEN_FILE} names {file}, which cannot be read: {problem}.") from None
    return named or secrets.token_urlsafe(32)


class Pages:
    """The pages that are open or about to be, no more at once than a limit.

    Examples
    --------
    >>> pages = Pages(1, alive={"kernel"}.__contains__)
    >>> ticket = pages.admit()
    >>> pages.admit() is None, pages.begin(ticket), pages.begin(ticket)
    (True, True, False)
    >>> pages.attach(ticket, "kernel")
    >>> pages.leave("kernel")
    >>> len(pages)
    0
    """

    def __init__(self, most: int, alive: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        """Take as `alive` what says whether there is such a kernel."""
        self.most, self._alive, self._clock = most, alive, clock
        self._tickets: dict[str, float] = {}
        """Until when each is valid."""
        self._kernels: dict[str, str] = {}
        """Of each ticket that was used; empty while the kernel begins."""

    def __len__(self) -> int:
        """Return the number of pages, tickets that are still valid included."""
        now = self._clock()
        self._tickets = {ticket: until for ticket, until in self._tickets.items() if now < until}
        known = self._kernels.items()
        self._kernels = {ticket: kernel for ticket, kernel in known if not kernel or self._alive(kernel)}
        return len(self._tickets) + len(self._kernels)

    def admit(self) -> str | None:
        """Return a ticket for one more page; None where there are as many as may be."""
        if len(self) >= self.most:
            return None
        ticket = secrets.token_urlsafe(16)
        self._tickets[ticket] = self._clock() + TICKET_SECONDS
        return ticket

    def begin(self, ticket: str) -> bool:
        """Return whether a kernel may begin with a ticket, which is used up by that."""
        valid = self._clock() < self._tickets.pop(ticket, 0.0)
        if valid:
            self._kernels[ticket] = ""
        return valid

    def attach(self, ticket: str, kernel: str) -> None:
        """Note the kernel that has begun with a ticket."""
        self._kernels[ticket] = kernel

    def kernel_of(self, ticket: str) -> str:
        """Return the kernel that has begun with a ticket; empty where none has."""
        return self._kernels.get(ticket, "")

    def discard(self, ticket: str) -> None:
        """Forget a page whose kernel did not begin."""
        if not self.kernel_of(ticket):
            self._kernels.pop(ticket, None)

    def leave(self, kernel: str) -> None:
        """Forget the page of a kernel that is about to end."""
        self._kernels = {ticket: other for ticket, other in self._kernels.items() if other != kernel}


def server_full_message(most: int) -> str:
    """Return the message for a page for which there is no place.

    >>> server_full_message(1)
    '1 page of this dashboard is open, as many as may be at once (--pages): close one, then open this one again.'
    """
    are = f"{most} pages of this dashboard are" if most > 1 else "1 page of this dashboard is"
    return f"{are} open, as many as may be at once (--pages): close one, then open this one again."
