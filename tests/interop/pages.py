"""Shared code for the cases with `tabia explore` in a real browser (Debian's Chromium, without a window)."""

import asyncio
import contextlib
import functools
import http.server
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Callable, Iterator, Optional

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from paths import ROOT, TABIA, folder, user_data
from procs import TIMEOUT_FACTOR, environment, poll, processor_seconds, run, run_ok

SAMPLE = ROOT / "tests" / "data" / "sample.pgn"

SIZES = ((360, 740), (740, 360), (683, 384), (768, 1024), (1366, 768), (1440, 900), (1600, 900), (1920, 1080))

# Those at which messages are tested, unless all cases run.
SOME_SIZES = SIZES if os.environ.get("TABIA_ALL") == "1" else (SIZES[0], SIZES[4])

# Root needs --no-sandbox; the rest prevents network requests of the browser.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Firefox must not use the network either.
PREFERENCES = {
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "services.settings.server": "data:,",
    # `TestUtils.gc()`, for measurements.
    "dom.testing.testutils.enabled": True,
}

# Properties of a window that BiDi cannot set are preferences, which need another Firefox.
OF_WINDOWS = {
    "has_touch": {"ui.primaryPointerCapabilities": 1, "ui.allPointerCapabilities": 1, "dom.w3c_touch_events.enabled": 1, "ui.useOverlayScrollbars": 1},
    "reduced_motion": {"ui.prefersReducedMotion": 1},
}

# Messages of the page go after seconds, which a busy machine may take from one step of a case to the next.
STAYING = """(() => { const wait = setTimeout; globalThis.setTimeout = (action, time, ...more) => wait(action, time >= 4000 ? 100 * time : time, ...more); })()"""
# `folder` or `file`: the cases are of the page without a server (tests/offline/check).
WITHOUT_SERVER = os.environ.get("TABIA_PAGE")

# A module of the page itself.
MODULE = "import(document.querySelector('link[href$=\"/%s.js\"]').href)"

# Limit for every wait on a page; Playwright's own is at most 30 seconds.
WAIT_MS = 15_000 * TIMEOUT_FACTOR
expect.set_options(timeout=WAIT_MS)


def own_memory_kb(pid: int) -> int:
    """Private memory of a process, without mapped files (the book)."""
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"RssAnon:\s+(\d+)", status.read())[1])


class Server:
    """A running explorer."""

    def __init__(self, *arguments: object):
        command = [TABIA, "explore", "--no-open", *map(str, arguments)]
        # Training of the starter book is in the user's data: each case has its own.
        own = {"XDG_DATA_HOME": str(user_data())}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment() | own, text=True)
        self.url = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", self.url), self.url
        self.port = int(self.url.split(":")[2].strip("/"))

    def get(self, target: str) -> dict:
        with urllib.request.urlopen(self.url + target.lstrip("/"), timeout=20 * TIMEOUT_FACTOR) as answer:
            return json.load(answer)

    def status(self, target: str, headers: Optional[dict] = None, body: Optional[bytes] = None) -> int:
        request = urllib.request.Request(self.url + target.lstrip("/"), data=body, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=20 * TIMEOUT_FACTOR) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            assert len(error.read()) < 500, "a refusal is short"
            return error.code

    def kill(self) -> None:
        """Kills it, whatever it is doing."""
        self.process.kill()
        self.process.wait(timeout=20 * TIMEOUT_FACTOR)

    def end(self) -> None:
        """Ends it as Ctrl+C does."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=20 * TIMEOUT_FACTOR) == 0

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Answers nothing meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def processor_seconds(self) -> float:
        return processor_seconds(self.process.pid)

    def memory_kb(self) -> int:
        return own_memory_kb(self.process.pid)


class Connection:
    """One connection for many requests."""

    def __init__(self, server: Server):
        self.port = server.port
        self.open()

    def open(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port))
        self.stream = self.socket.makefile("rb")

    def status_line(self, target: str) -> bytes:
        """The first line of the answer; empty if the connection was already closed."""
        try:
            self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())
            return self.stream.readline()
        except ConnectionError:
            return b""

    def get(self, target: str) -> dict:
        status = self.status_line(target)
        if not status:
            # The server closed it as idle or too old: a client opens another one.
            self.open()
            status = self.status_line(target)
        assert b" 200 " in status, status
        length = 0
        while (line := self.stream.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.stream.read(length))


async def _ask_in_parallel(port: int, target: str, count: int) -> dict[str, int]:
    text = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
    seen: dict[str, int] = {}

    async def one() -> str:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(text)
            answer = await asyncio.wait_for(reader.read(), 30 * TIMEOUT_FACTOR)
            writer.close()
            return answer[9:12].decode() or "closed"
        except asyncio.TimeoutError:
            return "no answer"
        except OSError:
            return "closed"

    for outcome in await asyncio.gather(*(one() for _ in range(count))):
        seen[outcome] = seen.get(outcome, 0) + 1
    return seen


def send_10000_requests(server: Server, target: str) -> str:
    """10,000 requests at once: the number answered depends on speed, but every request ends."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = server.memory_kb()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 12_000), most))
    try:
        seen = asyncio.run(_ask_in_parallel(server.port, target, 10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
    assert set(seen) <= {"200", "503", "closed"}, seen
    # The memory of connections is released after they close.
    after = poll(server.memory_kb, lambda now: now < before + 30_000, 2)
    assert after < before + 30_000, (before, after)
    return f"{seen}; memory {before} to {after} kB"


class PlainServer:
    """The page without a server (`release/page`), which begins with these books: a folder behind a server of files,
    or the single file."""

    def __init__(self, *books: object, is_file: bool):
        self.place = folder("page")
        given = [word for book in books for word in ("--book", str(book))]
        made = subprocess.run([ROOT / "release" / "page", "--wasm", os.environ["TABIA_WASM"], "--out", self.place, *given], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        self.books, self.files, self.oracle = books, None, None
        if is_file:
            self.url = (self.place / "tabia.html").as_uri()
            return

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        handler = functools.partial(Handler, directory=str(self.place))
        self.files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.files.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.files.server_port}/"

    def get(self, target: str) -> dict:
        """The answer of a program that has the same books."""
        self.oracle = self.oracle or Server(*self.books)
        return self.oracle.get(target)

    def end(self) -> None:
        if self.files:
            self.files.shutdown()
            self.files.server_close()
            self.files = None
        if self.oracle:
            self.oracle.end()
            self.oracle = None


@contextlib.contextmanager
def plain_server(*books: object, is_file: bool = False) -> Iterator[PlainServer]:
    server = PlainServer(*books, is_file=is_file)
    try:
        yield server
    finally:
        server.end()


@contextlib.contextmanager
def explorer(*arguments: object) -> Iterator[Server]:
    if WITHOUT_SERVER:
        with plain_server(*arguments, is_file=WITHOUT_SERVER == "file") as server:
            yield server
        return
    server = Server(*arguments)
    try:
        yield server
        assert server.process.poll() is None, "it has ended by itself"
    finally:
        server.end()


def fixed_port() -> int:
    """A port for listening again later: outside the range from which the system assigns ports."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    # Browsers refuse some ports of old services (2049, 6000, 6666); the last is 10080.
    lowest = 10081
    # Parallel cases start with different ports.
    for number in range(os.getpid(), os.getpid() + 1000):
        port = lowest + number % (first - lowest)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError(f"no port below {first} is free")


@contextlib.contextmanager
def browser(name: str = "") -> Iterator[Browser]:
    """The browser of this name, by default that of the case. Its pages have the same time limits as the
    cases. Firefox is Debian's, driven by WebDriver BiDi."""
    is_firefox = (name or os.environ.get("TABIA_BROWSER")) == "Firefox"
    with sync_playwright() as playwright, contextlib.ExitStack() as running:

        @functools.cache
        def start(*kinds: str) -> Browser:
            if is_firefox:
                preferences = PREFERENCES | {"browser.download.folderList": 2, "browser.download.dir": str(downloads())} | {name: value for kind in kinds for name, value in OF_WINDOWS[kind].items()}
                program = shutil.which("firefox-esr")
                started = playwright.firefox.launch(channel="moz-firefox", executable_path=program, firefox_user_prefs=preferences, timeout=WAIT_MS)
            else:
                program = shutil.which("chromium")
                started = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=WAIT_MS)
            running.callback(started.close)
            return started

        started = start()
        new_context = started.new_context

        def patient(messages_stay: bool = True, **how: object) -> BrowserContext:
            kinds = [kind for kind in OF_WINDOWS if is_firefox and how.get(kind)]
            context = start(*kinds).new_context(**how) if kinds else new_context(**how)
            context.set_default_timeout(WAIT_MS)
            if messages_stay:
                context.add_init_script(STAYING)
            # BiDi cannot set the theme of the system.
            if is_firefox and how.get("color_scheme") == "dark":
                context.add_init_script("localStorage.setItem('theme', 'dark')")
            return context

        started.new_context = patient
        started.new_page = lambda **how: patient(**how).new_page()
        yield started


@contextlib.contextmanager
def page_of(server: Server, address: str = "", **context: object) -> Iterator[Page]:
    """A page that is ready. It must send requests only to the server and log no errors."""
    with browser() as started:
        page = started.new_context(viewport={"width": 1366, "height": 768}, **context).new_page()
        asked, complaints = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        # A refused request is logged even if the case expects it.
        log = lambda message: message.type == "error" and "Failed to load resource" not in message.text
        page.on("console", lambda message: complaints.append(message.text) if log(message) else None)
        open_address(page, server.url + address)
        yield page
        # Ignore errors of requests that are still running.
        page.unroute_all(behavior="ignoreErrors")
        # A worker made of bytes has such an address.
        assert all(url.startswith((server.url, "blob:")) for url in asked), asked
        assert not complaints, complaints


def is_firefox(page: Page) -> bool:
    return page.context.browser.browser_type.name == "firefox"


@functools.cache
def downloads() -> Path:
    """The folder in which Firefox saves files."""
    return folder("downloads")


def saved_by(page: Page, act: Callable[[], None]) -> Path:
    """The file that a page saves after this action. The driver reports files made by a script only
    in Chromium: for Firefox the folder is watched."""
    if not is_firefox(page):
        with page.expect_download() as download:
            act()
        return download.value.path()
    before = set(downloads().iterdir())
    act()
    fresh = lambda: [one for one in downloads().iterdir() if one not in before and one.suffix != ".part" and one.stat().st_size]
    [file] = poll(fresh, lambda files: len(files) == 1)
    return file


def open_address(page: Page, address: str) -> None:
    """Opens an address. Keys and buttons work when this returns."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]")


def reload(page: Page) -> None:
    page.reload()
    page.wait_for_selector("html[data-ready]")


def holds(page: Page, condition: str) -> None:
    """Waits until a condition in JavaScript holds; one that fails does not hold yet."""
    page.wait_for_function(f"() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }}")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def expect_status(page: Page, text: str) -> None:
    """Waits until the page's message contains this text."""
    expect(page.locator("#status")).to_contain_text(text)


def build(book: Path, games: str) -> Path:
    """Builds a book from these games."""
    book.with_suffix(".pgn").write_text(games)
    run_ok("build", "-o", book, book.with_suffix(".pgn"))
    return book


def index(path: Path, *files: Path) -> Path:
    """Makes an index of the games in files, by default the sample."""
    run_ok("index", "-o", path, *(files or [SAMPLE]))
    return path


def square(page: Page, name: str) -> tuple[float, float]:
    box = page.locator(f'[data-square="{name}"]').bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, start: str, end: str) -> None:
    page.mouse.move(*square(page, start))
    page.mouse.down()
    page.mouse.move(*square(page, end), steps=5)
    page.mouse.up()


def expect_line(page: Page, *moves: str) -> None:
    """Waits until the page shows this line and the figures after it."""
    expect(page.locator("#line button")).to_have_text(list(moves))
    expect(page.locator("#line button").last).to_have_attribute("aria-current", "step")


def probe(book: object, moves: str, *sets: str) -> dict:
    options = [word for one in sets for word in ("--set", one)]
    return json.loads(run("probe", str(book), "--json", "--moves", moves, *options).stdout)


def marks(book: object, moves: str = "") -> dict[str, str]:
    """The marks of the moves after a line."""
    return {move["uci"]: move["mark"] for move in probe(book, moves)["moves"]}


def mark(page: Page, san: str, value: str) -> None:
    """Opens the dialog of a move, and marks the move."""
    page.click(f'button[aria-label="Change {san}"]')
    page.check(f'input[name="mark"][value="{value}"]', force=True)


def on_paper(page: Page, is_paper: bool) -> None:
    """Shows the page as printed. BiDi prints, but cannot show that: in Firefox the print rules become screen rules."""
    if not is_firefox(page):
        page.emulate_media(media="print" if is_paper else "screen")
        return
    swap = """([from, to]) => [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule.media?.mediaText === from).forEach((rule) => { rule.media.mediaText = to; })"""
    page.evaluate(swap, ["print", "all"] if is_paper else ["all", "print"])


def load_text(page: Page, text: str) -> None:
    """Loads a FEN or a game by the dialog for it."""
    page.keyboard.press("v")
    page.fill("#paste-text", text)
    page.click("#paste-form .main")


def paste(page: Page, text: str) -> None:
    """Pastes on the page itself."""
    page.evaluate("(text) => dispatchEvent(Object.assign(new Event('paste'), { clipboardData: { getData: () => text } }))", text)


def book_rows(page: Page, number: int = 0) -> list[dict]:
    """The rows of a book window as text."""
    return page.evaluate(
        """(number) => [...document.querySelectorAll('.book')[number].querySelectorAll('tbody tr[data-uci]')].map((row) => ({
            uci: row.dataset.uci,
            games: row.querySelector('td.n').textContent.replace(/\\s/g, ''),
            score: row.querySelector('td.score').textContent,
            average: row.querySelector('td.av').textContent,
            performance: row.querySelector('td.perf').textContent,
            learn_value: row.querySelector('td.learn').textContent,
            probability: Number(row.querySelector('td.prob .number').dataset.probability),
            bar: row.querySelector('.bar').title,
        }))""",
        number,
    )


def expect_figures(page: Page, expected: dict, number: int = 0) -> None:
    """Waits until the page shows these figures."""
    probabilities = [(move["uci"], move["probability"]) for move in expected["moves"]]
    rows = poll(lambda: book_rows(page, number), lambda rows: [(row["uci"], row["probability"]) for row in rows] == probabilities)
    assert [row["uci"] for row in rows] == [move["uci"] for move in expected["moves"]]
    whole = lambda value: "–" if value is None else str(int(value + 0.5))
    for row, move in zip(rows, expected["moves"]):
        assert row["games"] == str(move["games"]), (row, move)
        assert row["probability"] == move["probability"], (row, move)
        if move["wins"] + move["draws"] + move["losses"]:
            assert row["score"] == f"{100 * move['score']:.1f}", (row, move)
        for name, key in (("average", "average_elo"), ("performance", "performance")):
            assert row[name] == whole(move[key]), (row, move)


def long_line(count: int) -> list[str]:
    """A long line outside every book: the knights go out and back, with moves of the rooks' pawns in between."""
    out = ["g1f3", "g8f6", "f3g1", "f6g8"]
    pawns = [f"{file}{rank}{file}{rank + step}" for file in "ah" for rank, step in ((2, 1), (3, 1), (7, -1), (6, -1))]
    pawns = [pawns[0], pawns[2], pawns[1], pawns[3], pawns[4], pawns[6], pawns[5], pawns[7]]
    line = []
    while len(line) < count:
        line += out + (pawns[:2] if len(pawns) >= 2 else [])
        pawns = pawns[2:]
    return line[:count]


def training_of(book: Path) -> Path:
    return book.with_name(book.name + ".training.jsonl")


def events(book: Path) -> list[dict]:
    """The events of a book's training, in the order in which they were written."""
    head, *lines = training_of(book).read_text().splitlines()
    assert json.loads(head) == {"format": "tabia-training-events", "version": 1}, head
    return [json.loads(line) for line in lines]
