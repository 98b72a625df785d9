"""The one file that touches viser's server: who may connect, how much may be sent, from where.

viser 1.1 listens on every interface, takes WebSockets of any Origin, opens a public tunnel when a
client asks, and keeps uploads of any size. It passes no options on to `websockets`, so they are put
in here as it starts. What this takes hold of is looked for first: without it nothing is served.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import ipaddress
import logging
import secrets
import socket
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, final
from urllib.parse import unquote

from closedform.applications.studio.uploads import allowed
from closedform.errors import ArgumentError, MissingDependency

INSTALL = "the studio needs viser: pip install 'closedform[studio]'"
MESSAGE = 8 << 20
"""Bytes of one message of a client; pictures of the scene are the largest."""
CLIENTS = 16
"""At most so many at once."""
ENDED = 60.0
"""Seconds that a busy machine may take to end a server."""
PATH = 8000
"""Characters of an address."""
HEADERS = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN",
           "Referrer-Policy": "no-referrer"}
MESSAGES = ("ShareUrlRequest", "ShareUrlDisconnect", "FileTransferStartUpload",
            "FileTransferPart", "RunJavascriptMessage")
"""Of viser, which are taken hold of."""
LOCAL = ("127.0.0.1", "localhost", "::1")
QUIET = logging.getLogger("closedform.studio.gate")
"""Of connections that say nothing, or nonsense: browsers open some ahead, hosts look for ports."""
QUIET.setLevel(logging.CRITICAL)
_PATCHED = threading.Lock()


@final
@dataclass(eq=False)
class Gate:
    """A running server: its address, its token where it is open to others, and clients' paths."""

    server: Any
    host: str
    port: int
    token: str = ""
    paths: dict[int, str] = field(default_factory=dict)
    refused: dict[int, Callable[[str], None]] = field(default_factory=dict)
    """For each client what tells it that an upload was refused."""

    @property
    def address(self) -> str:
        """What a browser opens."""
        name = "localhost" if self.host == "127.0.0.1" else self.host
        if self.host in ("0.0.0.0", "::"):                   # all addresses of this machine
            name = socket.gethostname()
        elif ":" in name:
            name = f"[{name}]"
        return f"http://{name}:{self.port}/{self.token + '/' if self.token else ''}"

    def path_of(self, client_id: int) -> str:
        """The path that a client came by, without the token; the link that it holds."""
        path = self.paths.pop(client_id, "")
        return path.removeprefix(f"/{self.token}" if self.token else "")

    def run_script(self, client: Any, source: str) -> None:
        """Run a script of ours in a client's page; viser does so for its plots."""
        _, messages, _ = _parts()
        client.gui._websock_interface.queue_message(messages.RunJavascriptMessage(source=source))

    def stop(self) -> None:
        """End the server; quiet, viser prints otherwise. Its port is free when this returns."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()
        self.server._websock_server._server_thread.join(ENDED)   # viser waits for one second


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, port: int) -> int:
    """The port, or the next free one; 0 takes any. A restart gets its port back."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + 100) if port else (0,):
        with socket.socket(family) as s, contextlib.suppress(OSError):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((host, candidate))
            return int(s.getsockname()[1])
    raise ArgumentError(f"no free port from {port} on at {host}")


def serve(port: int = 8200, host: str = "127.0.0.1") -> Gate:
    """A server for this machine alone; for others too, behind a token, where `host` says so."""
    viser, messages, sockets = _parts()
    port = free_port(host, port)
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection")
    gate = Gate(None, host, port, "" if is_local(host) else secrets.token_urlsafe(16))
    original = sockets.serve
    with _PATCHED, contextlib.redirect_stdout(io.StringIO()):
        sockets.serve = _guarded(gate, original)             # read by viser as it starts
        try:
            gate.server = viser.ViserServer(host=host, port=port, verbose=False)
        finally:
            sockets.serve = original
    inner = gate.server._websock_server
    gate.port = int(inner._port)
    for kind in (messages.ShareUrlRequest, messages.ShareUrlDisconnect,        # no public tunnels
                 messages.FileTransferStartUpload, messages.FileTransferPart):
        inner.unregister_handler(kind)                       # nothing of the server takes files

    def arrived(connection: Any) -> None:
        number = connection.client_id
        gate.paths[number] = unquote(inner._live_connections[number].request.path)
        _limit_uploads(gate, messages, connection)

    def left(connection: Any) -> None:
        gate.paths.pop(connection.client_id, None)
        gate.refused.pop(connection.client_id, None)

    inner.on_client_connect(arrived)
    inner.on_client_disconnect(left)
    return gate


def _parts() -> tuple[Any, Any, Any]:
    """viser, its messages, and the module of websockets that it takes `serve` from."""
    try:
        viser = importlib.import_module("viser")
        infra = importlib.import_module("viser.infra._infra")
        messages = importlib.import_module("viser._messages")
        sockets = importlib.import_module("websockets.asyncio.server")
    except ImportError as error:
        raise MissingDependency(f"{INSTALL} ({error})") from None
    wanted = [(infra, "WebsockServer"), (sockets, "serve"), (viser, "ViserServer"),
              *((messages, name) for name in MESSAGES)]
    missing = [name for module, name in wanted if not hasattr(module, name)]
    version = str(getattr(viser, "__version__", ""))
    if missing or not version.startswith("1.1."):
        raise MissingDependency("the gate of the studio is made for viser 1.1; this is "
                                f"{version or 'none'}{', without ' + missing[0] if missing else ''}"
                                ": pip install 'viser>=1.1,<1.2'")
    return viser, messages, sockets


def uuid_of(widget: Any) -> str:
    """The name by which a page speaks of a widget."""
    return str(widget._impl.uuid)


# ---------------------------------------------------------------------- who may connect
def _guarded(gate: Gate, original: Callable[..., Any]) -> Callable[..., Any]:
    """`websockets.serve` with the options that viser does not give."""
    def serve_guarded(handler: Any, *args: Any, process_request: Callable[..., Any],
                      **options: Any) -> Any:
        live = 0

        def request(connection: Any, asked: Any) -> Any:
            refused = _refusal(gate, asked)
            if refused is not None:
                return connection.respond(*refused)
            if asked.headers.get("Upgrade", "").lower() == "websocket":
                return connection.respond(503, "too many clients\n") if live >= CLIENTS else None
            found = process_request(connection, type(asked)("/", asked.headers))  # for all paths
            for name, value in HEADERS.items():
                found.headers[name] = value
            return found

        async def counted(connection: Any) -> None:
            nonlocal live
            live += 1
            try:
                await handler(connection)
            finally:
                live -= 1

        return original(counted, *args, **{**options, "max_size": MESSAGE, "logger": QUIET,
                                           "process_request": request})
    return serve_guarded


def _refusal(gate: Gate, asked: Any) -> tuple[int, str] | None:
    """Why a request is refused, with its status; None if it is not."""
    hosts = asked.headers.get_all("Host")
    if len(hosts) != 1 or not _own_name(gate, hosts[0]):
        return 421, "not this host\n"                        # DNS rebinding
    origins = asked.headers.get_all("Origin")                # none: a program, not a page
    if origins and origins != [f"http://{hosts[0]}"]:
        return 403, "another origin\n"
    if len(asked.path) > PATH:
        return 414, "address too long\n"
    first = asked.path.split("?")[0].strip("/").split("/")[0]
    if gate.token and not secrets.compare_digest(first.encode(), gate.token.encode()):
        return 403, "the address lacks its token\n"
    return None


def _own_name(gate: Gate, given: str) -> bool:
    """Whether a Host header names this server; behind a token any name of its may be used."""
    name, _, port = given.rpartition(":")
    if port != str(gate.port):
        return False
    return bool(gate.token) or name.strip("[]") in {gate.host, *LOCAL}


# ---------------------------------------------------------------------- what may be sent
def _limit_uploads(gate: Gate, messages: Any, connection: Any) -> None:
    """One upload at a time, of a known kind, of a size that is checked before a byte is kept."""
    starting = connection._incoming_handlers.pop(messages.FileTransferStartUpload, [])
    arriving = connection._incoming_handlers.pop(messages.FileTransferPart, [])
    sizes: dict[str, int] = {}

    def start(client_id: int, message: Any) -> None:
        name = PurePosixPath(str(message.filename).replace("\\", "/")).name
        reason = allowed(name, message.size_bytes)
        if not 0 < message.part_count <= 1 + message.size_bytes:
            reason = reason or "an upload in an impossible number of parts"
        if reason:
            if client_id in gate.refused:
                gate.refused[client_id](reason)
            return
        sizes.clear()
        sizes[message.transfer_uuid] = int(message.size_bytes)
        message.filename = name
        for handler in starting:
            handler(client_id, message)

    def part(client_id: int, message: Any) -> None:
        left = sizes.get(message.transfer_uuid)
        if left is None or len(message.content) > left:      # more than was announced
            sizes.pop(message.transfer_uuid, None)
            return
        sizes[message.transfer_uuid] = left - len(message.content)
        for handler in arriving:
            handler(client_id, message)

    connection.register_handler(messages.FileTransferStartUpload, start)
    connection.register_handler(messages.FileTransferPart, part)
