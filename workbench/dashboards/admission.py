"""Voila as `workbench open dashboard` runs it: only the token opens a page, and only an open page has a kernel.

A request that brings neither the token nor the cookie that was given for it gets one sentence. One for the page gets a
small page whose script asks for a ticket, and a kernel begins with the ticket: a crawler, a prefetch or a connection
that is given up runs no script. Tickets and kernels together are limited; a kernel whose page has gone is ended.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import threading
import webbrowser
from collections.abc import Awaitable
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import quote

import zmq
from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado import web
from traitlets import Integer, default
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

from workbench.dashboards._elements import escaped
from workbench.dashboards.page_access import MOST_PAGES, TOKEN, Pages, server_full_message

GONE_SECONDS, LOOK_SECONDS = 120, 10
"""How long a kernel that is not at work lives on without a page, and how often that is looked up. A page that is closed
ends its kernel at once; this is for browsers that crash and computers that sleep."""
CLOSED = (
    "This dashboard opens with its token only: use the address with ?token=... that "
    "`workbench open dashboard` has printed in its terminal."
)
_beginning: ContextVar[str] = ContextVar("the ticket of the page whose kernel begins", default="")


class PageKernels(AsyncMappingKernelManager):
    """Kernels that belong to a page each."""

    most_pages = Integer(MOST_PAGES, config=True, help="How many pages may be open at once.")

    @default("cull_idle_timeout")
    def _gone_seconds(self) -> int:
        return GONE_SECONDS

    @default("cull_interval")
    def _look_seconds(self) -> int:
        return LOOK_SECONDS

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.context.setsockopt(zmq.RCVHWM, 0)  # the other end of `queue_all_messages`
        self.pages = Pages(self.most_pages, self.__contains__)

    async def start_kernel(self, **kwargs: Any) -> str:  # type: ignore[override]
        """Start the kernel of the page whose ticket is in use here."""
        kernel: str = await super().start_kernel(**kwargs)
        self.pages.attach(_beginning.get(), kernel)
        return kernel

    async def shutdown_kernel(self, kernel_id: str, **how: bool) -> None:  # type: ignore[override]
        """End a kernel, whose page does not count from the moment on that this is asked for."""
        self.pages.leave(kernel_id)
        await super().shutdown_kernel(kernel_id, **how)


class PageHandler(TornadoVoilaHandler):
    """The page: first the one that asks for a ticket, with a ticket Voila's own."""

    ticket = ""
    is_closed = False
    """Whether the browser has closed the connection before the page was complete."""

    @web.authenticated
    async def get(self, path: str | None = None) -> None:
        """Answer with the page that opens the dashboard; with a valid ticket, start a kernel and render it."""
        kernels: PageKernels = self.kernel_manager
        ticket = self.get_query_argument("page", "")
        if path:
            self.redirect_to_file(path)
        elif not kernels.pages.begin(ticket):
            self.set_header("Cache-Control", "no-store")
            self.set_header("Referrer-Policy", "no-referrer")
            name = Path(self.notebook_path).stem
            self.finish(_page(self, "opening.html", name=name, xsrf=self.xsrf_token.decode()))
        else:
            self.ticket = ticket
            _beginning.set(ticket)
            try:
                async for piece in self.get_generator(path=path):
                    if self.is_closed:
                        break
                    self.write(piece)
                    self.flush()
            finally:
                await self._end_if_gone()
                kernels.pages.discard(ticket)

    @web.authenticated
    async def post(self, path: str | None = None) -> None:
        """Answer the script of the opening page with a ticket, or with the sentence that says why there is none."""
        pages: Pages = self.kernel_manager.pages
        ticket = pages.admit()
        if ticket is None:
            self.set_status(503)
            self.finish({"sentence": server_full_message(pages.most)})
        else:
            self.finish({"page": ticket})

    def on_connection_close(self) -> None:
        """End the kernel of a page that is closed."""
        super().on_connection_close()
        self.is_closed = True
        self._ending = asyncio.ensure_future(self._end_if_gone())

    async def _end_if_gone(self) -> None:
        kernel = self.kernel_manager.pages.kernel_of(self.ticket)
        if self.is_closed and kernel in self.kernel_manager:
            await self.kernel_manager.shutdown_kernel(kernel, now=True)


class TokenIdentity(IdentityProvider):
    """Who is let in: whoever brings the token, or the cookie that was given for it."""

    @default("cookie_options")
    def _cookie_options(self) -> dict[str, str]:
        return {"samesite": "Strict"}

    def get_token(self, handler: web.RequestHandler) -> str:
        """Return the token if the request brings it, compared in a time that does not depend on where it differs."""
        token = super().get_token(handler) or ""
        return self.token if hmac.compare_digest(token.encode(), self.token.encode()) else ""

    def is_admitted(self, handler: web.RequestHandler) -> bool:
        """Return whether a request brings the token or its cookie."""
        return bool(self.get_token(handler)) or self.get_user_cookie(handler) is not None


class _Guarded:
    """What every handler of the server does first, those of static files and of websockets included."""

    async def prepare(self: Any, *args: Any, **kwargs: Any) -> None:
        """Refuse a request that brings neither token nor cookie, whatever it is for."""
        if self.settings["identity_provider"].is_admitted(self):
            prepared = super().prepare(*args, **kwargs)  # type: ignore[misc]
            if isinstance(prepared, Awaitable):
                await prepared
        else:
            self.set_status(403)
            self.finish(_page(self, "closed.html", sentence=CLOSED))


def guarded(handler: type) -> type:
    """Return a handler that answers only visitors who are let in."""
    return type(handler.__name__, (_Guarded, handler), {})


def _page(handler: web.RequestHandler, template: str, **values: str) -> str:
    return str(handler.settings["voila_jinja2_env"].get_template(template).render(**values))


class Server(Voila):
    """Voila, with a check of the token before each of its handlers."""

    def init_settings(self) -> dict[str, Any]:
        """Return Voila's settings; whatever a file of configuration says, there is a token."""
        self.token = os.environ.pop(TOKEN)  # kernels need not know it
        self.identity_provider_class = TokenIdentity
        self.voila_configuration.multi_kernel_manager_class = PageKernels
        settings: dict[str, Any] = super().init_settings()
        return settings

    def init_handlers(self) -> list[Any]:
        """Return Voila's handlers, guarded, with our page instead of Voila's."""
        return [
            (pattern, guarded(PageHandler if handler is TornadoVoilaHandler else handler), *rest)
            for pattern, handler, *rest in super().init_handlers()
        ]

    @property
    def display_url(self) -> str:
        """Return the address that opens the page."""
        return f"{self.connection_url}?token={quote(self.token, safe='')}"

    def launch_browser(self) -> None:
        """Send the user's browser to the page by a file that no other user can read: others see a command's
        arguments."""
        file = Path(self.connection_dir, "open.html")
        refresh = f'<meta http-equiv="refresh" content="0;url={escaped(self.display_url)}">'
        file.write_text(refresh, encoding="utf-8")
        threading.Thread(target=webbrowser.open, args=(file.as_uri(), 2), daemon=True).start()


if __name__ == "__main__":
    Server.launch_instance()
