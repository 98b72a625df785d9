"""A browser without pictures: it speaks viser's messages over a WebSocket, honestly or not."""

import itertools
import struct
import threading
import time

import msgspec
import websockets.sync.client
import zstandard

NUMBERS = itertools.count()


class Browser:
    """One client: keeps what it was sent, sends what it is told."""

    def __init__(self, address, path="", storage=None, origin=None, **options):
        import viser
        self.url = address.replace("http://", "ws://").rstrip("/") + path
        self.gui, self.nodes, self.commands, self.downloads = {}, {}, {}, {}
        self.notifications, self.storage, self.messages = [], dict(storage or {}), 0
        self.socket = websockets.sync.client.connect(
            self.url, origin=origin, subprotocols=[f"viser-v{viser.__version__}"],
            max_size=None, compression=None, open_timeout=60, **options)
        self.alive, self.cpu = True, 0.0         # seconds of CPU that listening took
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()
        self.send("ViewerCameraMessage", wxyz=(1.0, 0.0, 0.0, 0.0), position=(1.0, 1.0, 1.0),
                  fov=1.0, near=0.1, far=100.0, image_height=100, image_width=100,
                  look_at=(0.0, 0.0, 0.0), up_direction=(0.0, 0.0, 1.0))

    def send(self, kind, **fields):
        self.socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def _listen(self):
        try:
            for raw in self.socket:
                self.cpu = time.thread_time()
                size, packed = struct.unpack("<QQ", raw[:16])
                inner = zstandard.ZstdDecompressor().decompress(raw[16:16 + packed],
                                                                max_output_size=size)
                for message in msgspec.msgpack.decode(inner)["messages"]:
                    self.messages += 1
                    self._take(message)
        except Exception:             # the server is gone, or we are
            self.alive = False

    def _take(self, m):
        kind = m["type"]
        if kind == "GuiUpdateMessage" and m["uuid"] in self.gui:
            for name, x in m["updates"].items():
                self.gui[m["uuid"]][name] = x
        elif kind == "GuiRemoveMessage":
            self.gui.pop(m["uuid"], None)
        elif kind.startswith("Gui") and "props" in m:
            self.gui[m["uuid"]] = {"kind": kind, "value": m.get("value"), **m["props"]}
        elif kind == "TransformControlsMessage":
            self.gizmo = {"name": m["name"], "owner": m.get("owner", "")}
        elif kind == "RegisterCommandMessage":
            self.commands[m["props"]["label"]] = m["uuid"]
        elif kind in ("NotificationShowMessage", "NotificationMessage"):
            self.notifications.append((m["props"]["title"], m["props"]["body"]))
        elif kind in ("SetPositionMessage", "SetOrientationMessage"):
            self.nodes.setdefault(m["name"], {})[kind] = m.get("position", m.get("wxyz"))
        elif kind == "LocalStorageSetItemMessage":
            self.storage[m["key"]] = m["value"]
        elif kind == "LocalStorageGetItemRequestMessage":
            self.send("LocalStorageGetItemResponseMessage", request_uuid=m["request_uuid"],
                      value=self.storage.get(m["key"]), error=None)
        elif kind == "FileTransferStartDownload":
            self.downloads[m["transfer_uuid"]] = {"name": m["filename"], "parts": {}}
        elif kind == "FileTransferPart" and m["transfer_uuid"] in self.downloads:
            self.downloads[m["transfer_uuid"]]["parts"][m["part_index"]] = m["content"]

    # ------------------------------------------------------------------ reading
    def wait(self, condition, seconds=300.0, what=""):
        """Until something is true; an error that names it else."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"waited in vain: {what or condition}; {self.notifications[-3:]}")

    def widget(self, label):
        """uuid and properties of the widget of that label."""
        for uuid, x in list(self.gui.items()):
            if x.get("label") == label or str(x.get("label", "")).startswith(label + " ["):
                return uuid, x
        return None

    def panel(self, key):
        """The HTML of a panel."""
        for x in list(self.gui.values()):
            if f'data-panel="{key}"' in str(x.get("content", "")):
                return x["content"]
        return ""

    # ------------------------------------------------------------------ acting
    def set(self, label, value):
        uuid, _ = self.wait(lambda: self.widget(label), what=label)
        self.send("GuiUpdateMessage", uuid=uuid, updates={"value": value})

    def click(self, label, value=True):
        self.set(label, value)

    def press(self, command):
        uuid = self.wait(lambda: self.commands.get(command), what=command)
        self.send("CommandTriggerMessage", uuid=uuid)

    def drag(self, position, wxyz=(1.0, 0.0, 0.0, 0.0)):
        """The gizmo taken, moved and let go."""
        self.send("TransformControlsDragStartMessage", **self.gizmo)
        self.send("TransformControlsUpdateMessage", wxyz=wxyz, position=position, **self.gizmo)
        self.send("TransformControlsDragEndMessage", **self.gizmo)

    def download(self, end, seconds=300.0):
        """The content of a file that arrived under a name that ends so."""
        def found():
            for x in list(self.downloads.values()):
                if x["name"].endswith(end) and x["parts"]:
                    return b"".join(x["parts"][k] for k in sorted(x["parts"]))
            return None
        return self.wait(found, seconds, f"a file {end}")

    def upload(self, label, name, content, part=1 << 19, announced=None):
        uuid, _ = self.wait(lambda: self.widget(label), what=label)
        parts = [content[i:i + part] for i in range(0, len(content), part)]
        transfer = f"transfer-{next(NUMBERS)}"
        self.send("FileTransferStartUpload", source_component_uuid=uuid, transfer_uuid=transfer,
                  filename=name, mime_type="", part_count=len(parts),
                  size_bytes=len(content) if announced is None else announced)
        for k, x in enumerate(parts):
            self.send("FileTransferPart", source_component_uuid=uuid, transfer_uuid=transfer,
                      part_index=k, content=x)

    def close(self):
        self.socket.close()
        self.thread.join(10)
