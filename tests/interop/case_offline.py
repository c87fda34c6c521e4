"""The page without a server in real browsers: without a network, from the disk, with files of the user."""

import base64
import contextlib
import io
import os
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Iterator

from playwright.sync_api import Page, expect

from pages import SAMPLE, browser, drag, expect_figures, expect_line, open_address, page_of, plain_server, probe, reload, saved_by
import runner
from paths import STARTER, folder
from procs import run, wait_until

# They need the module of `release/page`: tests/offline/check makes it.
case = runner.case if os.environ.get("TABIA_WASM") else lambda **_: lambda work: work

KINDS = ("ctg", "cto", "ctb")


def own_book(name: str) -> list[Path]:
    """A copy of the starter book with this name."""
    here = folder("own")
    for kind in KINDS:
        (here / f"{name}.{kind}").write_bytes(STARTER.with_suffix(f".{kind}").read_bytes())
    return [here / f"{name}.{kind}" for kind in KINDS]


def choose(page: Page, *files: Path) -> None:
    page.set_input_files("#open-input", [str(file) for file in files])


def drop(page: Page, *files: Path) -> None:
    """Drops files on the page."""
    page.evaluate(
        """(files) => {
            const data = new DataTransfer();
            for (const { name, bytes } of files)
                data.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], name));
            dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }""",
        [{"name": file.name, "bytes": base64.b64encode(file.read_bytes()).decode()} for file in files],
    )


def save_copy(page: Page, book: str, kind: str) -> bytes:
    page.click("#menu")
    page.click(".context button:has-text('Save a copy')")
    page.locator("#copy-dialog select").nth(0).select_option(label=book)
    page.locator("#copy-dialog select").nth(1).select_option(kind)
    return saved_by(page, lambda: page.click("#copy-dialog button[value=save]")).read_bytes()


def converted(book: Path, kind: str) -> bytes:
    target = folder("converted") / f"copy.{kind}"
    run("convert", "-q", str(book), str(target))
    return target.read_bytes()


def works_with_files_of_the_user(page: Page) -> None:
    [book, cto, ctb] = own_book("mine")
    expect_figures(page, probe(STARTER, ""))
    # A book, with its index: dropped.
    drop(page, book, cto, ctb)
    expect(page.locator("#first-book")).to_have_value("mine.ctg")
    expect_figures(page, probe(book, ""))
    drag(page, "e2", "e4")
    expect_line(page, "e4")
    expect_figures(page, probe(book, "e2e4"))
    # A change of the copy in memory, which is saved as files that the program reads.
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#line [aria-current]")).to_have_count(0)
    row = page.locator(".book tbody tr[data-uci='e2e4']")
    row.locator("button.move").focus()
    page.keyboard.press("-")
    expect(row).to_have_class(re.compile("avoid"))
    asks = lambda: not page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))")
    assert asks()
    saved = folder("saved")
    with zipfile.ZipFile(io.BytesIO(save_copy(page, "mine.ctg", "ctg"))) as archive:
        assert sorted(archive.namelist()) == ["mine.ctb", "mine.ctg", "mine.cto"], archive.namelist()
        archive.extractall(saved)
    assert not asks()
    marked = {move["uci"]: move["mark"] for move in probe(saved / "mine.ctg", "")["moves"]}
    assert marked["e2e4"] == "avoid", marked
    run("verify", str(saved / "mine.ctg"))
    # Other formats are those of `tabia convert`.
    for kind in ("bin", "pgn", "csv"):
        assert save_copy(page, "mine.ctg", kind) == converted(saved / "mine.ctg", kind), kind
    # A book of another format, and games, of which an index is made.
    other = folder("other") / "other.bin"
    other.write_bytes(converted(STARTER, "bin"))
    choose(page, other)
    expect(page.locator("#first-book")).to_have_value("other.bin")
    choose(page, SAMPLE)
    page.click("#open-list button:has-text('Index')")
    expect(page.locator("#first-book")).to_have_value(SAMPLE.name)
    expect(page.locator(".book tbody tr[data-uci='e2e4']")).to_have_count(1)
    # A file that is not a book.
    wrong = folder("wrong") / "wrong.ctg"
    wrong.write_bytes(b"not a book")
    choose(page, wrong)
    expect(page.locator("#status")).to_contain_text("wrong.ctg")
    # What needs a program says so.
    page.click("#engine-tab")
    expect(page.locator("#engine-panel")).to_contain_text("tabia explore")


@case(limit=180, browsers=True)
def offline_folder_works_with_files_of_the_user():
    with plain_server() as server, page_of(server) as page:
        works_with_files_of_the_user(page)


@case(limit=180, browsers=True)
def offline_file_works_with_files_of_the_user():
    with plain_server(is_file=True) as server, page_of(server) as page:
        works_with_files_of_the_user(page)


@case(limit=120, browsers=True)
def offline_folder_opens_without_its_server():
    with plain_server() as server, page_of(server) as page:
        page.evaluate("navigator.serviceWorker.ready.then(() => 0)")
        server.end()
        reload(page)
        expect_figures(page, probe(STARTER, ""))
        drag(page, "d2", "d4")
        expect_line(page, "d4")
        reload(page)
        expect_line(page, "d4")
        expect_figures(page, probe(STARTER, "d2d4"))
        # In another language, whose table is another file.
        page.evaluate("localStorage.setItem('language', 'de')")
        reload(page)
        expect(page.locator("#book-tab")).to_have_text("Züge")


@case(limit=120, browsers=True)
def offline_page_begins_with_a_book_of_its_publisher():
    [book, *_] = own_book("a repertoire & more")
    for is_file in (False, True):
        with plain_server(book, is_file=is_file) as server, page_of(server) as page:
            expect(page.locator("#first-book")).to_have_value(book.name)
            expect_figures(page, probe(book, ""))


# Counts the workers that are ended. While `hold` is set, answers of others than the first arrive late.
WORKERS = """(() => {
    const { terminate: end, addEventListener: listen } = Worker.prototype;
    Object.assign(globalThis, { ended: 0, hold: false, held: [], release: () => { hold = false; held.splice(0).forEach((act) => act()); } });
    Worker.prototype.terminate = function () { ended += 1; end.call(this); };
    let first;
    Worker.prototype.addEventListener = function (kind, act) {
        first ??= this;
        const isFirst = first === this;
        listen.call(this, kind, (event) => (!isFirst && hold && event.data.done ? held.push(() => act(event)) : act(event)));
    };
})()"""
# What the bar of an index has shown.
WATCHED = """(() => {
    globalThis.parts = [];
    const bar = document.querySelector("#games-bar");
    new MutationObserver(() => bar.hidden || globalThis.parts.push(bar.value)).observe(bar, { attributes: true });
})()"""


def works_on_during_long_requests(page: Page) -> None:
    page.add_init_script(WORKERS)
    [book, *beside] = own_book("mine")
    reload(page)
    choose(page, book, *beside)
    expect(page.locator("#first-book")).to_have_value(book.name)
    row = page.locator(".book tbody tr[data-uci='e2e4']")
    row.locator("button.move").focus()
    page.keyboard.press("-")
    expect(row).to_have_class(re.compile("avoid"))
    # A list of work that compares many games is stopped: what was changed is there, and can be undone.
    many = folder("many") / "many.pgn"
    many.write_bytes(SAMPLE.read_bytes() * 4)
    page.keyboard.press("w")
    expect(page.locator("#work-stop")).to_be_hidden()
    ended = page.evaluate("ended")
    page.evaluate("hold = true")
    page.set_input_files("#mine-file", str(many))
    expect(page.locator("#work-stop")).to_be_visible()
    drag(page, "d2", "d4")
    expect_line(page, "d4")
    expect_figures(page, probe(STARTER, "d2d4"))
    page.click("#work-stop")
    expect(page.locator("#work-stop")).to_be_hidden()
    page.evaluate("release()")
    assert page.evaluate("ended") == ended + 1
    page.keyboard.press("b")
    page.keyboard.press("ArrowLeft")
    expect(row).to_have_class(re.compile("avoid"))
    page.keyboard.press("Control+z")
    expect(row).not_to_have_class(re.compile("avoid"))
    # An index of the games of another file; meanwhile the page shows its progress, and other positions.
    packed = many.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(many.name, SAMPLE.read_bytes() * 200)
    page.evaluate(WATCHED)
    page.evaluate("hold = true")
    choose(page, packed)
    expect(page.locator("#games-bar")).to_be_visible()
    drag(page, "e2", "e4")
    expect_line(page, "d4", "e4")
    expect_figures(page, probe(STARTER, "e2e4"))
    wait_until(lambda: page.evaluate("parts.some((part) => part > 0)"), 15, lambda: page.evaluate("parts"))
    expect(page.locator("#games-bar")).to_be_visible()
    page.evaluate("release()")
    expect(page.locator("#first-book")).to_have_value(packed.name)
    expect(page.locator("#games-bar")).to_be_hidden()
    # The next list of work knows the index.
    page.keyboard.press("w")
    expect(page.locator("#work-message")).to_contain_text("places")


@case(limit=180, browsers=True)
def offline_folder_works_on_during_long_requests():
    with plain_server() as server, page_of(server) as page:
        works_on_during_long_requests(page)


@case(limit=180, browsers=True)
def offline_file_works_on_during_long_requests():
    with plain_server(is_file=True) as server, page_of(server) as page:
        works_on_during_long_requests(page)


# Twenty answers, by the page's own code.
ANSWERS = """async () => {
    const of = (name) => import(document.querySelector(`link[href$="/${name}.js"]`).href);
    const [{ Cards }, { request }] = [await of("cards"), await of("transport")];
    const [{ deck, name }] = (await (await request("/api/position")).json()).books;
    const cards = new Cards();
    await cards.open(deck, name);
    const key = cards.key(deck, "white", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    for (let number = 0; number < 20; number += 1) cards.answered(key, true, { fen: null, line: [] });
    await cards.sync(deck);
}"""
# Fills the storage of the browser to the last character.
FILL = """() => {
    for (let text = "x".repeat(2 ** 20), count = 0; text; count += 1)
        try { localStorage.setItem(`full-${count}`, text); } catch { text = text.slice(0, text.length >> 1); }
}"""
EVENTS = "Object.keys(localStorage).filter((name) => name.startsWith('training-event-')).length"


@case(limit=120, browsers=True)
def offline_training_in_a_full_storage_is_reported_and_saving_makes_room():
    with plain_server() as server, page_of(server) as page:
        page.evaluate(ANSWERS)
        page.evaluate(FILL)
        reload(page)
        trained = page.locator("#train-cards")
        page.keyboard.press("r")
        expect(trained).to_contain_text("1 positions trained")
        assert page.evaluate(EVENTS) == 20
        page.click("#train-form .main")
        page.click("#train-choices button >> nth=0")
        only = "1 answers last only until this page is closed"
        # The book's move, which the page makes by itself, leaves the message where it is.
        expect(page.locator("#line button")).to_have_count(2)
        expect(page.locator("#status")).to_contain_text(only)
        asks = lambda: not page.evaluate("dispatchEvent(new Event('beforeunload', { cancelable: true }))")
        assert asks()
        page.keyboard.press("Escape")
        expect(trained).to_contain_text(only)
        saved = saved_by(page, lambda: page.click("#train-save"))
        page.click("#train-forget")
        page.click("#train-forget")
        expect(trained).to_contain_text("0 positions trained")
        page.set_input_files("#train-file", str(saved))
        expect(trained).to_contain_text("1 positions trained")
        expect(trained).not_to_contain_text("until this page is closed")
        assert not asks()
        # Forgotten; the position; which move is right there.
        assert page.evaluate(EVENTS) == 3
        reload(page)
        page.keyboard.press("r")
        expect(trained).to_contain_text("1 positions trained")


# A worker made of bytes, as the program of the page is, with the policy by which the page makes that.
KEPT_POLICY = """if (globalThis.trustedTypes) {
    const make = trustedTypes.createPolicy.bind(trustedTypes);
    trustedTypes.createPolicy = (name, rules) => (globalThis.kept = make(name, rules));
}"""
IN_WORKER = """(url) => new Promise((resolve) => {
    const code = `fetch(${JSON.stringify(url)}, { mode: "no-cors" }).then(() => postMessage("sent"), () => postMessage("refused"))`;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    new Worker(globalThis.kept?.createScriptURL(address) ?? address).onmessage = ({ data }) => resolve(data);
})"""
IN_PAGE = "(url) => fetch(url, { mode: 'no-cors' }).then(() => 'sent', () => 'refused')"


@contextlib.contextmanager
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Another server, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()


@case(limit=120, browsers=True)
def offline_page_can_send_nothing_to_another_machine():
    for is_file in (False, True):
        with plain_server(is_file=is_file) as server, elsewhere() as (url, asked), browser() as started:
            page = started.new_page()
            page.add_init_script(KEPT_POLICY)
            open_address(page, server.url)
            assert page.evaluate(IN_PAGE, url) == "refused"
            inside = page.evaluate(IN_WORKER, url)
            assert inside == "refused"
            place = page.evaluate("document.querySelector('meta[http-equiv=Content-Security-Policy]').content")
            assert f"connect-src {chr(39)}{'none' if is_file else 'self'}{chr(39)}" in place, place
            image = page.evaluate("(url) => new Promise((done) => Object.assign(new Image(), { onload: () => done('sent'), onerror: () => done('refused'), src: url + 'image' }))", url)
            assert image == "refused"
            assert asked == [], asked
