"""The local server of `scaffold web`: files of the page, and its calls, for this machine alone.

It listens on 127.0.0.1. A page of another site can't use it: a call needs the token that is in the
address that `scaffold web` prints, and requests with another Host or Origin are refused.
"""

import hmac
import importlib
import json
import secrets
import signal
import sys
import threading
import traceback
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scaffold.answers.catalog import Catalog
from scaffold.answers.manifests import load_catalog, template_root
from scaffold.cache import remember
from scaffold.errors import ScaffoldError
from scaffold.project.origin import digest_of
from scaffold.project.pristine import PRISTINE
from scaffold.render.format import Remember
from scaffold.web.docs import Docs
from scaffold.web.local import NewProject
from scaffold.web.page import Page
from scaffold.web.project import ExistingProject

MOST_BYTES = 20_000_000  # of a call
TOKEN = "X-Scaffold-Token"
KINDS = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
HEADERS = {
    "Cache-Control": "no-store",
    # the editor adds styles to the page; nothing comes from elsewhere
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def static_file(name: str) -> bytes | None:
    """A built file of the page. None if there is none of this name."""
    folder = resources.files("scaffold") / "web" / "static"
    known = {entry.name: entry for entry in folder.iterdir() if entry.is_file()}
    return known[name].read_bytes() if name in known else None


class Server(ThreadingHTTPServer):
    """Serves one page. `address` is what to open."""

    daemon_threads = True

    def __init__(self, folder: Path | None, app: Any, port: int = 0) -> None:
        self.folder = folder
        self.app = app
        self.read()
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise ScaffoldError(
                f"port {port} can't be used: {error.strerror}. Without --port, a free one is taken."
            ) from None
        self.waiting: set[int] = set()  # threads with calls that somebody waits for
        self.may_stop = False  # the call that has its turn
        self.turn = threading.Lock()  # one call at a time: they share what was read and imported
        self.token = secrets.token_urlsafe(24)
        self.hosts = {f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"

    def read(self) -> None:
        """Read the templates, and the project. Raises ScaffoldError."""
        self.templates = digest_of(template_root())
        catalog = load_catalog()
        self.page = make_page(catalog, self.folder, self.remember)
        self.docs = Docs(catalog, self.app)

    def remember(self, key: str, make: Callable[[], str]) -> str:
        """What takes long to make. Raises ScaffoldError while somebody waits for something else."""
        if self.may_stop and self.waiting:
            raise ScaffoldError("something else is asked for.")
        return remember(key, make)

    def call(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """The result of a call of the page. Raises ScaffoldError.

        A feature's cost, which nobody waits for, is not found while something else is asked for.
        """
        me = threading.get_ident()
        if name != "cost":
            self.waiting.add(me)
        with self.turn:
            self.waiting.discard(me)
            self.may_stop = name == "cost"
            if name == "start" and digest_of(template_root()) != self.templates:
                _forget()  # whoever edits a template loads the page again
                self.read()
            return self.page.call(name, body)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a tab that was closed
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "scaffold"
    sys_version = ""

    def do_GET(self) -> None:
        if self._is_foreign():
            return
        path = urlsplit(self.path).path
        name = "index.html" if path == "/" else path.removeprefix("/")
        found = static_file(name)
        if found is None and name.startswith("docs/"):
            found = self.server.docs.read(name.removeprefix("docs/"))
        if found is None:
            self._send(HTTPStatus.NOT_FOUND, b"There is no such page.", ".txt")
        else:
            self._send(HTTPStatus.OK, found, Path(name).suffix or ".html")

    def do_POST(self) -> None:
        if self._is_foreign():
            return
        if not hmac.compare_digest(
            self.headers.get(TOKEN, "").encode(), self.server.token.encode()
        ):
            self._refuse(
                HTTPStatus.FORBIDDEN,
                "This page belongs to a command that has ended: open the address that `scaffold "
                "web` printed last.",
            )
            return
        try:
            body = self._read()
        except (ValueError, RecursionError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, f"the request is not valid: {error}.")
            return
        try:
            result = self.server.call(self.path.removeprefix("/call/"), body)
        except ScaffoldError as error:
            self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
        except Exception as error:  # a fault of ours: the page goes on, the terminal has the rest
            traceback.print_exc()
            text = f"scaffold has a fault, which its terminal shows: {error!r}"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, text)
        else:
            self._send(HTTPStatus.OK, _dump(result), ".json")

    def _is_foreign(self) -> bool:
        """Refuse a request of another site, or one to another name for this machine."""
        origin = self.headers.get("Origin")
        own = {f"http://{host}" for host in self.server.hosts}
        if self.headers.get("Host") in self.server.hosts and origin in (None, *own):
            return False
        self.close_connection = True
        self._refuse(HTTPStatus.FORBIDDEN, "scaffold web answers only its own page.")
        return True

    def _read(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MOST_BYTES:
            self.close_connection = True
            raise ValueError("it is too long")
        body = json.loads(self.rfile.read(length) or b"{}")
        if not isinstance(body, dict):
            raise ValueError("it is not an object")
        return body

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        if self.command == "POST" and status != HTTPStatus.UNPROCESSABLE_ENTITY:
            self.close_connection = True  # the body may not have been read
        self._send(status, _dump({"error": text}), ".json")

    def _send(self, status: HTTPStatus, content: bytes, suffix: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", KINDS.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal shows the address."""


def _dump(result: object) -> bytes:
    # a file of a project may hold bytes that are not UTF-8
    return json.dumps(result).encode()


def _forget() -> None:
    """Clear what scaffold keeps of files that it has read."""
    for name, module in [*sys.modules.items()]:
        if name.startswith("scaffold."):
            for kept in vars(module).values():
                getattr(kept, "cache_clear", lambda: None)()


def make_page(catalog: Catalog, folder: Path | None, remember: Remember) -> Page:
    """The page for a project, or for a new one below the current folder. Raises ScaffoldError."""
    here = Path.cwd()
    if folder is None and (here / PRISTINE).is_file():
        folder = here
    if folder is None:
        return NewProject(catalog, remember, here)
    return ExistingProject(catalog, remember, folder)


def _prepare(server: Server) -> None:
    """Have the first page ready before a browser is, and what formats code that is new."""
    server.call("render", {})
    for name in ("black", "pyflakes.checker"):
        importlib.import_module(name)


def serve(folder: Path | None, app: Any, *, port: int = 0, open_browser: bool = True) -> None:
    """Serve the page until Ctrl-C. Raises ScaffoldError for a folder that is not a project."""
    with Server(folder, app, port) as server:
        threading.Thread(target=_prepare, args=(server,), daemon=True).start()
        print(f"{server.address}\nPress Ctrl-C to end it.", flush=True)
        if open_browser:
            webbrowser.open(server.address)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it as Ctrl-C does
        with suppress(KeyboardInterrupt):
            server.serve_forever()
        with server.turn:  # what is being written is written
            print("\nEnded.")
