"""Debian's Firefox without a window, driven by the protocol that it brings with it (Marionette)."""

import contextlib
import itertools
import json
import shutil
import signal
import socket
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any, Iterator

from places import folder
from procs import PATIENCE, environment

PREFERENCES = """
user_pref("marionette.port", 0);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("app.update.enabled", false);
user_pref("extensions.getAddons.cache.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("security.csp.enable", %s);
user_pref("ui.systemUsesDarkTheme", %d);
"""

# The middle of an element, if that is it two frames later, and what a pointer meets there.
STILL = """const [selector, done] = arguments;
const middle = () => {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    return box && [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
};
document.querySelector(selector)?.scrollIntoView({ block: 'nearest' });
const before = middle();
requestAnimationFrame(() => requestAnimationFrame(() => {
    const now = middle(), met = now && document.elementFromPoint(...now), wanted = document.querySelector(selector);
    const meets = met && (wanted.contains(met) || met.closest('label')?.control === wanted || [...wanted.labels ?? []].some((label) => label.contains(met)) || met.contains(wanted));
    done(before && String(before) === String(now) && meets ? now : null);
}));"""

KEYS = {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010", "Enter": "\ue007", "Escape": "\ue00c", "Delete": "\ue017"}


class Firefox:
    """One window."""

    def __init__(self, process: subprocess.Popen, profile: Path):
        self.numbers = itertools.count(1)
        end = time.monotonic() + 60 * PATIENCE
        port = profile / "MarionetteActivePort"
        while not (port.exists() and port.read_text().strip()):
            assert process.poll() is None and time.monotonic() < end, "Firefox does not start"
            time.sleep(0.05)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=180 * PATIENCE)
        self.stream = self.socket.makefile("rb")
        self.read()
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
        # By itself it waits for a script no longer than 30 seconds.
        self.ask("WebDriver:SetTimeouts", script=120_000 * PATIENCE, pageLoad=120_000 * PATIENCE)

    def read(self) -> Any:
        length = b""
        while (byte := self.stream.read(1)) != b":":
            assert byte, "Firefox has hung up"
            length += byte
        return json.loads(self.stream.read(int(length)))

    def ask(self, command: str, **parameters: Any) -> Any:
        number = next(self.numbers)
        text = json.dumps([0, number, command, parameters]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        kind, answered, error, result = self.read()
        assert (kind, answered) == (1, number)
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def open(self, url: str) -> None:
        self.ask("WebDriver:Navigate", url=url)
        self.until("document.documentElement.dataset.ready === 'true'")

    def run(self, script: str, *values: Any) -> Any:
        """What a JavaScript expression or body of a function says."""
        body = script if "return" in script else f"return ({script});"
        return self.ask("WebDriver:ExecuteScript", script=body, args=list(values), newSandbox=False, sandbox="page")

    def until(self, condition: str, *values: Any, limit: float = 20.0) -> None:
        """Waits until an expression holds; of what is not there yet nothing holds."""
        end = time.monotonic() + limit * PATIENCE
        sure = f"try {{ return Boolean({condition}); }} catch {{ return false; }}"
        while not self.run(sure, *values):
            assert time.monotonic() < end, f"never so: {condition} {values}: {self.run('document.body.innerText')[:600]}"
            time.sleep(0.02)

    def keys(self, *names: str) -> None:
        """Presses keys, one after the other as fast as Firefox takes them."""
        steps = [{"type": kind, "value": KEYS.get(name, name)} for name in names for kind in ("keyDown", "keyUp")]
        self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def hold(self, name: str, times: int, pause_ms: int = 33) -> None:
        """A key that is held: it repeats."""
        key = KEYS.get(name, name)
        steps = []
        for _ in range(times):
            steps += [{"type": "keyDown", "value": key}, {"type": "pause", "duration": pause_ms}]
        self.ask("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": steps + [{"type": "keyUp", "value": key}]}])

    def pointer(self, *steps: dict) -> None:
        mouse = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(steps)}
        self.ask("WebDriver:PerformActions", actions=[mouse])

    def middle(self, selector: str) -> dict:
        """Where an element is, once it is seen there and stays there."""
        self.until("document.querySelector(arguments[0])?.checkVisibility()", selector)
        end = time.monotonic() + 20 * PATIENCE
        while not (place := self.ask("WebDriver:ExecuteAsyncScript", script=STILL, args=[selector], newSandbox=False, sandbox="page")):
            assert time.monotonic() < end, f"it never rests, or lies under something: {selector}"
        x, y = place
        return {"type": "pointerMove", "x": x, "y": y}

    def click(self, selector: str) -> None:
        self.pointer(self.middle(selector), {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def drag(self, start: str, end: str) -> None:
        self.pointer(self.middle(f'[data-square="{start}"]'), {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 20},
                     self.middle(f'[data-square="{end}"]'), {"type": "pointerUp", "button": 0})

    def type(self, selector: str, text: str) -> None:
        self.run("const field = document.querySelector(arguments[0]); field.focus(); field.value = arguments[1]; field.dispatchEvent(new Event('input', { bubbles: true })); return true;", selector, text)

    def size(self, width: int, height: int) -> None:
        """Of the page itself, in its own pixels. No window is narrower than 500 pixels, so a small one is zoomed to 200 %."""
        zoom = 2 if width < 700 or height < 500 else 1
        self.ask("Marionette:SetContext", value="chrome")
        self.ask("WebDriver:ExecuteScript", script="gBrowser.selectedBrowser.browsingContext.fullZoom = arguments[0]; return true;", args=[zoom])
        around = self.ask("WebDriver:ExecuteScript", script="const box = gBrowser.selectedBrowser.getBoundingClientRect(); return [outerWidth - box.width, outerHeight - box.height];", args=[])
        self.ask("Marionette:SetContext", value="content")
        self.ask("WebDriver:SetWindowRect", width=round(zoom * width + around[0]), height=round(zoom * height + around[1]))
        self.until("Math.abs(innerHeight - arguments[0]) < 2 && Math.abs(innerWidth - arguments[1]) < 2", height, width)

    def line(self) -> list[str]:
        return self.run("[...document.querySelectorAll('#line button')].map((one) => one.textContent)")

    def walked(self, *moves: str) -> None:
        self.until("[...document.querySelectorAll('#line button')].map((one) => one.textContent).join() === arguments[0]"
                   " && [...document.querySelectorAll('#line button')].at(-1)?.getAttribute('aria-current') === 'step'", ",".join(moves))

    def picture(self, path: Path) -> None:
        path.write_bytes(b64decode(self.ask("WebDriver:TakeScreenshot", full=False)))


@contextlib.contextmanager
def firefox(dark: bool = False, policy: bool = True) -> Iterator[Firefox]:
    """A fresh Firefox; without `policy` pages may run what is put into them."""
    profile = folder("firefox")
    (profile / "user.js").write_text(PREFERENCES % ("true" if policy else "false", dark))
    program = shutil.which("firefox-esr")
    assert program, "firefox-esr is not installed: see tests/interop/run"
    command = [program, "--headless", "--no-remote", "--marionette", "-remote-allow-system-access", "--profile", str(profile)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**environment(), "HOME": str(profile), "MOZ_DISABLE_CONTENT_SANDBOX": "1"})
    try:
        yield Firefox(process, profile)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
