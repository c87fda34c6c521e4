"""Chromium by its own protocol, for measurements inside the browser.

Playwright watches the network, so the renderer process stores every
answer that the page has fetched. This module does not watch it.
"""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from typing import Iterator

from pages import FLAGS, WAIT_MS, own_memory_kb
from procs import TIMEOUT_FACTOR


class Tab:
    """A page in a browser without a window."""

    def __init__(self, profile: str):
        there, here = os.pipe(), os.pipe()
        # The browser reads from descriptor 3 and writes to 4, which may be in use here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (there[0], here[1])]
        flags = ["--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--window-size=1366,900"]
        self.process = subprocess.Popen(
            [shutil.which("chromium"), *FLAGS, *flags, "about:blank"],
            stderr=subprocess.DEVNULL,
            pass_fds=(3, 4),
            preexec_fn=lambda: [os.dup2(end, fd) for fd, end in enumerate(ends, 3)],
        )
        for end in (there[0], here[1], *ends):
            os.close(end)
        self.requests, self.answers = os.fdopen(there[1], "wb", 0), os.fdopen(here[0], "rb")
        self.last_id, self.rest, self.session = 0, b"", None
        page = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]

    def call(self, method: str, of_page: bool = False, **parameters: object) -> dict:
        self.last_id += 1
        request: dict = {"id": self.last_id, "method": method, "params": parameters}
        if of_page:
            request["sessionId"] = self.session
        self.requests.write(json.dumps(request).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.last_id:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict:
        while b"\0" not in self.rest:
            read = self.answers.read1(1 << 16)
            assert read, "the browser has ended"
            self.rest += read
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def run(self, script: str) -> object:
        """Runs a script in the page, awaits its result and returns it."""
        answer = self.call("Runtime.evaluate", True, expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def open(self, address: str, ready: str) -> None:
        """Opens an address and waits until `ready` is true in the page."""
        self.call("Page.navigate", True, url=address)
        end = time.monotonic() + WAIT_MS / 1000
        while not self.run(f"location.href !== 'about:blank' && Boolean({ready})"):
            # Only for what never comes.
            assert time.monotonic() < end, address
            # A promise in the page would be lost with the page before it.
            time.sleep(0.05)

    def memory_kb(self) -> int:
        """Private memory of the page's renderer process: of several candidates, the
        one that has used processor time."""
        self.call("HeapProfiler.collectGarbage", True)
        processes = self.call("SystemInfo.getProcessInfo")["processInfo"]
        renderers = [one for one in processes if one["type"] == "renderer"]
        return own_memory_kb(max(renderers, key=lambda one: one["cpuTime"])["id"])


@contextlib.contextmanager
def tab() -> Iterator[Tab]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        opened = Tab(profile)
        try:
            yield opened
        finally:
            opened.process.terminate()
            opened.process.wait(timeout=20 * TIMEOUT_FACTOR)
