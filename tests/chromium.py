"""A real headless Chromium, driven over a pipe by the Chrome DevTools Protocol.

The protocol over file descriptors 3 and 4 needs no port and no library: one JSON object, one NUL
(Chromium, `content/browser/devtools/devtools_pipe_handler.cc`).
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any


class Page:
    """One tab; ``console`` is everything that it complained of, ``asked`` what it fetched."""

    def __init__(self, binary: str, width: int = 1400, height: int = 1000) -> None:
        """Starts the browser with a window of this size, in CSS pixels."""
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self._to = os.pipe()
        self._from, answer = os.pipe()
        # It looks for the pipe at descriptors 3 and 4.
        script = f'exec "$@" 3<&{theirs} 4>&{answer}'
        switches = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        own = [f"--user-data-dir={self._home.name}", "about:blank"]
        self._browser = subprocess.Popen(
            ["bash", "-c", script, "bash", binary, *switches, *own],
            pass_fds=(theirs, answer),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answer)
        self._rest = b""
        self._number = 0
        self._session = ""
        self.console: list[str] = []
        self.asked: list[str] = []
        target = self._tell("Target.createTarget", url="about:blank")["targetId"]
        attached = self._tell("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self._tell(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._browser.kill()
        self._browser.wait()
        os.close(self._to)
        os.close(self._from)
        self._home.cleanup()

    def open(self, path: Path, query: str = "") -> None:
        """Loads a file and waits until it is drawn."""
        self._loaded = False
        self._tell("Page.navigate", url=path.resolve().as_uri() + query)
        while not self._loaded:
            self._heed(self._next())

    def resize(self, width: int, height: int, phone: bool = False) -> None:
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def media(self, media: str = "screen", scheme: str = "light") -> None:
        """Draws as for paper or screen, light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._tell("Emulation.setEmulatedMedia", media=media, features=features)

    def value(self, expression: str) -> Any:
        """What a JavaScript expression comes to on the page."""
        answer = self._tell(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """Presses a key as a user does."""
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "text": text}
        self._tell("Input.dispatchKeyEvent", **down)
        self._tell("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        self._tell("Input.insertText", text=text)

    def spoken(self) -> list[tuple[str, str]]:
        """Role and name of everything that a screen reader comes by."""
        nodes = self._tell("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node.get("ignored")
        ]

    def picture(self, path: Path) -> None:
        data = self._tell("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def _tell(self, method: str, **given: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._next()
            if heard.get("id") == self._number:
                if "error" in heard:
                    raise AssertionError(f"{method}: {heard['error']}")
                result: dict[str, Any] = heard["result"]
                return result
            self._heed(heard)

    def _heed(self, heard: dict[str, Any]) -> None:
        method, given = heard.get("method"), heard.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.asked.append(given["request"]["url"])
        elif method == "Log.entryAdded":
            self.console.append(given["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.console.append(str(given["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(str(given["exceptionDetails"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            got = os.read(self._from, 1 << 16)
            if not got:
                raise AssertionError("chromium: saw it end, want an answer")
            self._rest += got
        message, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard
