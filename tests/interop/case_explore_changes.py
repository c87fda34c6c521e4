"""The page of `tabia explore` in Chromium and Firefox: how changes and deletions, here and in other programs, are shown."""

import contextlib
import functools
import json
from pathlib import Path
from typing import Any, Iterator

from pages import SAMPLE, SIZES, browser, explorer, long_line, marks, open_address, probe
from paths import copy_starter, folder
from procs import poll, run, wait_until
from runner import case


class Window:
    """A page in either browser."""

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
def window(name: str) -> Iterator[Window]:
    with browser(name) as started:
        yield Window(started.new_context(viewport={"width": 1366, "height": 768}))


BROWSERS = [(name, functools.partial(window, name)) for name in ("Chromium", "Firefox")]


def expect_status(page: Any, text: str) -> None:
    """Waits until the page contains this text."""
    page.wait_for(f"document.querySelector('#status').textContent.includes({json.dumps(text)})")


# Width of the line of moves and of its box, number of its rows, and how far its parts extend beyond the box.
LINE = """return (() => {
    const box = document.querySelector('#line'), inner = box.getBoundingClientRect();
    const parts = [...box.children].map((one) => one.getBoundingClientRect());
    return [box.scrollWidth, box.clientWidth, new Set(parts.map((one) => Math.round(one.top))).size, Math.max(...parts.map((one) => one.right - inner.right))];
})()"""


@case(limit=240)
def explorer_wraps_the_line_of_moves_in_both_browsers():
    line = ",".join(long_line(120))
    with explorer() as server:
        for name, started in BROWSERS:
            with started() as page:
                for width, height in ((1366, 768), (1920, 1080)):
                    page.open(f"{server.url}?play={line}")
                    page.size(width, height)
                    fits = lambda now: now[0] <= now[1] and now[2] > 5 and now[3] <= 0
                    seen = poll(lambda: page.run(LINE), fits)
                    assert fits(seen), f"{name} {width}x{height}: {seen}"
                    # A number stays with its move, and the last move is visible.
                    parted = page.run("[...document.querySelectorAll('#line .ply')].filter((one) => one.getClientRects().length > 1 || one.offsetHeight > 40).length")
                    assert parted == 0, f"{name}: {parted} moves are parted"
                    page.wait_for("(() => { const box = document.querySelector('#line').getBoundingClientRect(), now = document.querySelector('#line [aria-current]').getBoundingClientRect(); return now.top >= box.top - 1 && now.bottom <= box.bottom + 1; })()")
                # On a phone it is one row, which scrolls.
                page.open(f"{server.url}?play={line}")
                page.size(360, 740)
                one_row = lambda now: now[2] == 1 and now[0] > now[1]
                seen = poll(lambda: page.run(LINE), one_row)
                assert one_row(seen), f"{name}: {seen}"


@case(limit=240)
def explorer_shows_the_present_value_after_a_refused_change():
    for name, started in BROWSERS:
        book = copy_starter(folder("explore"))
        with explorer(book) as server, started() as page:
            page.open(server.url)
            page.click('tr[data-uci="d2d4"] td.edit button')
            page.wait_for("document.querySelector('#edit-dialog').open")
            assert run("mark", str(book), "--line", "d4", "main", "--factor", "30").returncode == 0
            page.click('input[name="mark"][value="avoid"]')
            expect_status(page, "its mark is main now")
            assert marks(book)["d2d4"] == "main", name
            # Dialog and table agree with the book, and another change is possible.
            page.wait_for("document.querySelector('input[name=\"mark\"]:checked').value === 'main' && document.querySelector('#edit-factor-number').value === '30'")
            page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"].main')")
            page.click('input[name="mark"][value="avoid"]')
            expect_status(page, "Saved: d4: mark avoid")
            page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"].avoid')")
            assert marks(book)["d2d4"] == "avoid", name
            # A deleted move cannot be changed.
            assert run("prune", str(book), "-o", str(book), "-f", "--line", "d4").returncode == 0
            page.click('input[name="mark"][value="none"]')
            page.wait_for("!document.querySelector('dialog[open]')")
            expect_status(page, "d4 is not in the book; nothing was changed")


@case(limit=240)
def explorer_shows_changes_by_others():
    for name, started in BROWSERS:
        here = folder("explore")
        book, games = copy_starter(here), here / "games.pgn"
        games.write_text('[White "Me"]\n[Black "You"]\n[Result "0-1"]\n\n1. e4 c5 2. Nf3 d6 0-1\n' * 30)
        with explorer(book) as server, started() as page:
            page.open(server.url)
            for value in ("main", "avoid"):
                assert run("mark", str(book), "--line", "d4", value).returncode == 0
                page.wait_for(f"document.querySelector('tr[data-uci=\"d2d4\"].{value}')")
            # `tabia learn`, and another book at the same path.
            assert run("learn", str(book), str(games), "--player", "Me").returncode == 0
            learned = {move["uci"]: move["factor"] for move in probe(book, "")["moves"]}["e2e4"]
            assert learned < 0, learned
            page.wait_for(f"document.querySelector('tr[data-uci=\"e2e4\"] td.fact').textContent === '−{-learned}'")
            assert run("prune", str(book), "-o", str(book), "-f", "--line", "d4").returncode == 0
            page.wait_for("!document.querySelector('tr[data-uci=\"d2d4\"]:not(.transposition)')")


def size_of(book: object) -> int:
    return json.loads(run("info", str(book), "--json").stdout)["positions"]


@case(limit=300)
def explorer_asks_before_it_deletes_and_can_undo_it():
    for name, started in BROWSERS:
        here = folder("explore")
        book = copy_starter(here)
        before, all_positions = book.read_bytes(), size_of(book)
        with explorer(book) as server, started() as page:
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
            page.click("#removal-begin:not(:disabled)")
            # It shows its progress; the page is closed meanwhile.
            page.wait_for("document.querySelector('#removal-progress').checkVisibility() && document.querySelector('#removal-begin').disabled")
            wait_until(lambda: any(one.name.startswith(".tabia-") for one in here.iterdir()), 20, lambda: list(here.iterdir()))
            page.open(server.url + "?play=d2d4")
            page.wait_for("!document.querySelector('#undo').disabled && document.querySelector('#undo').title.includes('deleted 1.e4')")
            assert all_positions - size_of(book) == counted > 1000, (name, reported)
            page.keys("Home")
            page.wait_for("document.querySelector('tr[data-uci=\"d2d4\"]') && !document.querySelector('tr[data-uci=\"e2e4\"]:not(.transposition)')")
            page.click("#undo")
            expect_status(page, "Taken back: deleted 1.e4")
            page.wait_for("document.querySelector('tr[data-uci=\"e2e4\"]:not(.transposition)')")
            assert book.read_bytes() == before, name


@case(limit=240)
def explorer_shows_a_games_index_alone_as_it_shows_a_book():
    here = folder("explore")
    games = here / "games.tgx"
    assert run("index", "-o", str(games), str(SAMPLE)).returncode == 0
    with explorer(games) as server:
        reported = server.get("lichess?play=e2e4&moves=100")
        results = [[move["uci"], move["white"] + move["draws"] + move["black"]] for move in reported["moves"]]
        assert len(results) > 5
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url + "?play=e2e4")
                shown = page.run("[...document.querySelectorAll('#books tr[data-uci]')].map((row) => [row.dataset.uci, Number(row.querySelector('td.n').textContent.replace(/\\s/g, ''))])")
                assert sorted(shown) == sorted(results), (name, shown, results)
                assert page.run("[...document.querySelectorAll('#first-book option')].map((one) => one.textContent)") == ["games.tgx"]
                # Nothing in it can be changed.
                assert not page.run("document.querySelector('#books .pencil')")
                assert page.run("document.querySelector('#undo').hidden")
                page.wait_for("/^Main line \\d+ moves deep: \\d/.test(document.querySelector('#plot .hint').textContent)")
    # With a book it is the other column.
    book = copy_starter(here)
    with explorer(games, book) as server, window("Firefox") as page:
        page.open(server.url + "?play=e2e4&books=book.ctg/games.tgx")
        page.wait_for("document.querySelector('#books .pair tr[data-uci=\"c7c5\"] td.n.b')")
        assert [one["name"] for one in server.get("api/start")["books"]] == ["book.ctg", "games.tgx"]


# By language: the decimal separator, and the label of Undo.
LANGUAGES = {"en": (".", "Undo"), "de": (",", "Rückgängig"), "es": (",", "Deshacer"), "fr": (",", "Annuler"), "ru": (",", "Отменить")}


@case(limit=240)
def explorer_writes_numbers_in_the_style_of_its_language():
    here = folder("explore")
    book = copy_starter(here)
    evaluations = here / "values.epd"
    evaluations.write_text("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - ce -35;\n")
    assert run("evaluate", str(book), "--import", str(evaluations)).returncode == 0
    with explorer(book) as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url)
                for language, (sign, undo) in LANGUAGES.items():
                    page.run(f"localStorage.setItem('language', '{language}')")
                    page.open(server.url)
                    where = f"{name} {language}"
                    assert page.run("document.documentElement.lang") == language, where
                    cells = page.run("['score', 'prob .number', 'eval'].map((kind) => document.querySelector('tr[data-uci=\"e2e4\"] td.' + kind).textContent)")
                    assert [text.count(sign) for text in cells] == [1, 1, 1], (where, cells)
                    assert cells[2] == f"+0{sign}35", (where, cells)
                    other = "," if sign == "." else "."
                    assert other not in page.run("document.querySelector('#books tfoot').textContent + document.querySelector('#books tbody td.score').textContent"), where
                    assert page.run("document.querySelector('#undo').textContent") == undo, where


# Pencils of two books that overlap the number beside them.
OVER = """return (() => {
    const box = (node) => { const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect(); };
    return [...document.querySelectorAll('.pair td.prob:has(.pencil)')].map((cell) => [box(cell.querySelector('.pencil')), box(cell.querySelector('.number'))])
        .filter(([a, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5).length;
})()"""


@case(limit=300)
def explorer_edit_buttons_cover_no_number():
    here = folder("explore")
    books = [here / "one.ctg", here / "two.ctg"]
    games = here / "games.pgn"
    games.write_text("1. e4 c5 2. Nf3 d6 1-0\n")
    for book in books:
        assert run("build", "-o", str(book), str(games)).returncode == 0
    with explorer(*books) as server:
        for name, started in BROWSERS:
            with started() as page:
                for width, height in SIZES:
                    page.open(server.url + "?books=0/1")
                    page.size(width, height)
                    numbers = page.run("[...document.querySelectorAll('.pair td.prob .number')].map((one) => one.textContent)")
                    assert [text.strip("\u202f%") for text in numbers] == ["100.0", "100.0"], numbers
                    over = poll(lambda: page.run(OVER), lambda over: over == 0, 2)
                    assert over == 0, f"{name} {width}x{height}: {over} pencils lie over a number"
