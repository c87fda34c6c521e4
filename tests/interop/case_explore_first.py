"""How soon the page of `tabia explore` shows figures, compared with an empty page."""

import contextlib
import http.server
import re
import statistics
import threading
from typing import Callable, Iterator

from playwright.sync_api import Browser, Page, Route, expect

from pages import browser, drag, expect_line, explorer
from paths import THOROUGH
from runner import case

# Only a quiet machine needs many: elsewhere the bound is loose.
ROUNDS = 20 if THOROUGH else 5
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


def shows_figures_by_itself(started: Browser, address: str, play: Callable[[Page], None], keys: str) -> None:
    """The page shows figures before its other files have loaded; earlier input takes effect later: `play`,
    which plays Nf3, and keys."""
    page = started.new_page()
    delayed: list[Route] = []
    is_delaying = True
    page.route(lambda url: url != address, lambda route: delayed.append(route) if is_delaying else route.continue_())
    page.goto(address, wait_until="commit")
    row = page.locator('#books tr[data-uci="g1f3"]')
    expect(row.locator("td.n")).to_have_text(re.compile(r"\d"))
    expect(page.locator('[data-square="c5"] .piece')).to_have_count(1)
    play(page)
    for key in keys:
        page.keyboard.press(key)
    page.click("#menu")
    page.wait_for_timeout(100)
    expect(page.locator("#line button")).to_have_text(["e4", "c5"])
    is_delaying = False
    # The page requests failed answers again.
    for route in delayed:
        route.abort()
    expect_line(page, "e4", "c5", "Nf3")
    expect(page.locator(".square").first).to_have_attribute("data-square", "h1" if "f" in keys else "a8")
    expect(page.locator(".context button").first).to_be_visible()
    page.close()


def type_move(page: Page) -> None:
    page.fill("#move", "Nf3")
    page.press("#move", "Enter")


@case(limit=300, browsers=True)
def explorer_shows_its_first_figures_nearly_as_soon_as_an_empty_page():
    reported = []
    with explorer() as server, empty_page() as empty, browser() as started:
        for again in (False, True):
            # In turns, so that a busy machine slows both.
            pairs = [(painted(started, empty, again), painted(started, server.url + "?play=e2e4,c7c5", again)) for _ in range(ROUNDS)]
            without, figures = (statistics.median(one) for one in zip(*pairs))
            reported.append(f"{'seen before' if again else 'first time'}: empty {without:.0f} ms, figures {figures:.0f} ms, {figures - without:+.0f} ms")
            # The full case runs on a quiet machine; others may be slow.
            most = 50 if THOROUGH else 1000 + 5 * without
            assert figures - without < most, reported
        for play, keys in (
            (lambda page: page.click('#books tr[data-uci="g1f3"]'), "f"),
            (lambda page: drag(page, "g1", "f3"), "f"),
            (type_move, ""),
        ):
            shows_figures_by_itself(started, server.url + "?play=e2e4,c7c5", play, keys)
    return "\n".join(reported)
