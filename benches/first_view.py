#!/usr/bin/env python3
"""How soon the page of `tabia explore` shows figures, beside an empty page, in
milliseconds, in Chromium and Firefox, at a first and at a second visit. For a quiet
machine that has what the interoperability cases need:

    cargo build --release --bin tabia
    tests/interop/run --install
    target/interop-venv/bin/python benches/first_view.py
"""

import contextlib
import http.server
import statistics
import sys
import threading
from pathlib import Path
from typing import Iterator

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "interop"))

from pages import browser, explorer
from playwright.sync_api import Browser

ROUNDS = 20
SETTLED_MS = 500

# The frame after the one with the figures has been painted. The page itself reports
# it: Playwright would first make the page compile 330 KB of its own script, which
# delays painting.
PAINTED = """(() => {
    const look = () => {
        if (!document.querySelector('#books td.n, #empty')) { requestAnimationFrame(look); return; }
        requestAnimationFrame(() => console.log("painted", performance.now()));
    };
    requestAnimationFrame(look);
})()"""


@contextlib.contextmanager
def empty_page() -> Iterator[str]:
    """Returns the address of a page with one word."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = b"<!doctype html><title>Empty</title><p id=empty>1"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            # A window may be closed before its icon has come.
            with contextlib.suppress(BrokenPipeError):
                self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def painted(started: Browser, address: str, again: bool) -> float:
    """Milliseconds from the request for a page until it is painted; `again` for a
    browser that has visited it before."""
    context = started.new_context(viewport={"width": 1366, "height": 768})
    context.add_init_script(PAINTED)
    page = context.new_page()
    for _ in range(2 if again else 1):
        # A new window starts more than a page: Chromium's toolbars are pages too. An earlier visit loads
        # the rest of its page.
        page.wait_for_timeout(SETTLED_MS)
        with page.expect_console_message(lambda message: message.text.startswith("painted ")) as output:
            page.goto(address)
        reported = float(output.value.text.split()[1])
    context.close()
    return reported


def main() -> None:
    for name in ("Chromium", "Firefox"):
        with explorer() as server, empty_page() as empty, browser(name) as started:
            for again in (False, True):
                # In turns, so that a busy machine slows both.
                pairs = [(painted(started, empty, again), painted(started, server.url + "?play=e2e4,c7c5", again)) for _ in range(ROUNDS)]
                without, figures = (statistics.median(one) for one in zip(*pairs))
                print(f"{name}, {'seen before' if again else 'first time'}: empty {without:.0f} ms, figures {figures:.0f} ms, {figures - without:+.0f} ms")


main()
