"""The page of `tabia explore`: how changes and deletions, here and in other programs, are shown."""

import contextlib
import json
from pathlib import Path
from typing import Any, Iterator

from pages import browser, explorer, marks, open_address, probe
from paths import copy_starter, folder
from procs import run, wait_until
from runner import case


class Window:
    """A page, with short names for what the cases do."""

    def __init__(self, context: Any):
        self.page = context.new_page()

    def open(self, url: str) -> None:
        open_address(self.page, url)

    def run(self, script: str) -> Any:
        return self.page.evaluate(script.removeprefix("return "))

    def wait_for(self, condition: str) -> None:
        self.page.wait_for_function(f"() => {{ try {{ return Boolean({condition}); }} catch {{ return false; }} }}")

    def click(self, selector: str) -> None:
        # A radio button lies below its label.
        self.page.locator(selector).first.click(force="input" in selector)

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    def size(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def picture(self, path: Path) -> None:
        self.page.screenshot(path=path)


@contextlib.contextmanager
def window() -> Iterator[Window]:
    """A window of the case's browser."""
    with browser() as started:
        yield Window(started.new_context(viewport={"width": 1366, "height": 768}))


def expect_status(page: Any, text: str) -> None:
    """Waits until the page contains this text."""
    page.wait_for(f"document.querySelector('#status').textContent.includes({json.dumps(text)})")


@case(limit=120, browsers=True)
def explorer_shows_changes_by_others_and_overwrites_none():
    here = folder("explore")
    book, games = copy_starter(here), here / "games.pgn"
    games.write_text('[White "Me"]\n[Black "You"]\n[Result "0-1"]\n\n1. e4 c5 2. Nf3 d6 0-1\n' * 30)
    with explorer(book) as server, window() as page:
        page.open(server.url)
        page.click('tr[data-uci="d2d4"] td.edit button')
        page.wait_for("document.querySelector('#edit-dialog').open")
        assert run("mark", str(book), "--line", "d4", "main", "--learn-value", "30").returncode == 0
        page.click('input[name="mark"][value="avoid"]')
        expect_status(page, "its mark is now main")
        assert marks(book)["d2d4"] == "main"
        # Dialog and table agree with the book, and another change is possible.
        page.wait_for("document.querySelector('input[name=\"mark\"]:checked').value === 'main' && document.querySelector('#edit-learn-value-number').value === '30'")
        page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"].main')")
        page.click('input[name="mark"][value="avoid"]')
        expect_status(page, "Saved: d4: mark avoid")
        page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"].avoid')")
        assert marks(book)["d2d4"] == "avoid"
        # A deleted move cannot be changed.
        assert run("prune", str(book), "-o", str(book), "-f", "--line", "d4").returncode == 0
        page.click('input[name="mark"][value="none"]')
        page.wait_for("!document.querySelector('dialog[open]')")
        expect_status(page, "d4 is not in the book; nothing was changed")
        # Without a dialog.
        for value in ("main", "avoid"):
            assert run("mark", str(book), "--line", "Nf3", value).returncode == 0
            page.wait_for(f"document.querySelector('tr[data-uci=\"g1f3\"].{value}')")
        # `tabia learn`, and another book at the same path.
        assert run("learn", str(book), str(games), "--player", "Me").returncode == 0
        learned = {move["uci"]: move["learn_value"] for move in probe(book, "")["moves"]}["e2e4"]
        assert learned < 0, learned
        page.wait_for(f"document.querySelector('tr[data-uci=\"e2e4\"] td.learn').textContent === '−{-learned}'")
        assert run("prune", str(book), "-o", str(book), "-f", "--line", "Nf3").returncode == 0
        page.wait_for("!document.querySelector('tr[data-uci=\"g1f3\"]:not(.transposition)')")


def size_of(book: object) -> int:
    return json.loads(run("info", str(book), "--json").stdout)["positions"]


@case(limit=150, browsers=True, smoke=True)
def explorer_asks_before_it_deletes_and_can_undo_it():
    here = folder("explore")
    book = copy_starter(here)
    before, all_positions = book.read_bytes(), size_of(book)
    with explorer(book) as server, window() as page:
        page.open(server.url)
        page.click('tr[data-uci="e2e4"] td.edit button')
        page.click("#remove-move")
        page.wait_for("document.querySelector('#removal-dialog').open && !document.querySelector('#edit-dialog').open")
        page.wait_for("!document.querySelector('#removal-begin').disabled")
        reported = page.run("document.querySelector('#removal-message').textContent")
        counted = int("".join(one for one in reported if one.isdigit()))
        assert page.run("document.querySelector('#removal-title').textContent") == "Delete e4 in book.ctg"
        # Cancelling changes nothing.
        page.keys("Escape")
        page.wait_for("!document.querySelector('dialog[open]')")
        assert book.read_bytes() == before
        page.click('tr[data-uci="e2e4"] td.edit button')
        page.click("#remove-move")
        page.wait_for("!document.querySelector('#removal-begin').disabled")
        # It shows its progress until it is answered; the page is left when the request has arrived.
        with server.paused():
            page.click("#removal-begin")
            page.wait_for("document.querySelector('#removal-progress').checkVisibility() && document.querySelector('#removal-begin').disabled")
        begun = lambda: book.read_bytes() != before or any(one.name.startswith(".tabia-") for one in here.iterdir())
        wait_until(begun, 20, lambda: list(here.iterdir()))
        undoable = "!document.querySelector('#undo').disabled && document.querySelector('#undo').title.includes('deleted 1.e4')"
        page.open(server.url + "?play=d2d4")
        page.wait_for(undoable)
        # A page that is opened when all is done knows it from the start.
        page.open(server.url + "?play=c2c4")
        page.wait_for(undoable)
        assert all_positions - size_of(book) == counted > 1000, reported
        page.keys("Home")
        page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"]') && !document.querySelector('tr[data-uci=\"e2e4\"]:not(.transposition)')")
        page.click("#undo")
        expect_status(page, "Undone: deleted 1.e4")
        page.wait_for("document.querySelector('tr[data-uci=\"e2e4\"]:not(.transposition)')")
        assert book.read_bytes() == before
