"""The page of `tabia explore` with fast input, in Chromium and Firefox: clicks, keys, the right button, several windows."""

import json
import random

import chess
import chess.pgn

from case_explore_changes import BROWSERS, expect_status
from pages import browser, explorer, marks, open_address, paste
from paths import copy_starter, folder
from procs import poll
from runner import case
from playwright.sync_api import expect

# Requests to the program, as the page counts them.
ASKED = "return performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => path.startsWith('/api/')).sort().join(' ')"

# A click on a square by script, with the events of a mouse.
CLICKS = """return (() => {
    for (const name of %s) {
        const place = document.querySelector(`[data-square="${name}"]`), box = place.getBoundingClientRect();
        const where = { bubbles: true, button: 0, pointerType: 'mouse', clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
        place.dispatchEvent(new PointerEvent('pointerdown', where));
        dispatchEvent(new PointerEvent('pointerup', where));
    }
})()"""


def line(page) -> list[str]:
    return page.run("return [...document.querySelectorAll('#line button')].map((one) => one.textContent)")


@case(limit=240)
def explorer_sends_one_request_at_first_and_loses_no_click():
    with explorer() as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url)
                expected = "/api/events /api/line /api/start"
                # The page contains the answer about the position; a connection for events may not be counted before it ends.
                seen = poll(lambda: page.run(ASKED), lambda seen: seen in (expected, expected.removeprefix("/api/events ")))
                assert seen in (expected, expected.removeprefix("/api/events ")), f"{name}: {seen}"
                # All at once: each click is for the position after the moves before it.
                page.run(CLICKS % json.dumps(["e2", "e4", "c7", "c5", "g1", "f3"]))
                made = poll(lambda: line(page), lambda made: len(made) == 3)
                assert made == ["e4", "c5", "Nf3"], f"{name}: {made}"


@case(limit=240)
def explorer_marks_by_one_key_and_by_the_right_button():
    for name, started in BROWSERS:
        book = copy_starter(folder("explore"))
        with explorer(book) as server, started() as page:
            page.open(server.url)
            focus = "document.querySelector('button.move[data-uci=\"d2d4\"]').focus()"
            for key, mark in (("+", "main"), ("-", "avoid"), ("0", "none")):
                page.run(f"return {focus}")
                page.keys(key)
                expect_status(page, f"d4: mark {mark}")
                assert marks(book)["d2d4"] == mark, (name, key)
            page.run("return document.querySelector('tr[data-uci=\"e2e4\"] th').dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: 700, clientY: 300 }))")
            page.wait_for("document.activeElement.matches('.context button')")
            page.keys("ArrowDown", "Enter")
            expect_status(page, "e4: mark avoid")
            assert marks(book)["e2e4"] == "avoid", name
            page.wait_for("!document.querySelector('.context')")


@case(limit=120, browsers=True)
def explorer_shows_why_a_file_cannot_be_changed():
    book = copy_starter(folder("explore"))
    book.chmod(0o444)
    with explorer(book) as server, browser() as started:
        page = started.new_page()
        open_address(page, server.url)
        expect(page.locator(".pencil")).to_have_count(0)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("+")
        expect(page.locator("#status")).to_have_text("book.ctg: the file is read-only")
        expect(page.locator("#locked")).to_have_text("book.ctg: the file is read-only")
    assert marks(book) == marks(copy_starter(folder("explore")))


@case(limit=180, browsers=True)
def explorer_updates_eight_windows_over_one_connection():
    book = copy_starter(folder("explore"))
    with explorer(book) as server, browser() as started:
        context = started.new_context()
        pages = [context.new_page() for _ in range(8)]
        for page in pages:
            open_address(page, server.url)
        # A browser opens six connections to a server: the last window works like the first.
        page.locator('tr[data-uci="e2e4"] button.move').click()
        expect(page.locator("#line button")).to_have_text(["e4"])
        pages[0].locator('button.move[data-uci="d2d4"]').focus()
        pages[0].keyboard.press("+")
        for one in pages[:-1]:
            expect(one.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # The window with the connection for events is closed: another takes over.
        for gone in pages[:4]:
            gone.close()
        pages[5].locator('button.move[data-uci="d2d4"]').focus()
        pages[5].keyboard.press("-")
        expect(pages[6].locator('tr[data-uci="d2d4"].avoid')).to_have_count(1)


@case(limit=120, browsers=True)
def explorer_draws_variations_of_a_game_under_its_header():
    game = '[Event "Open"]\n[White "A, B"]\n[Black "C, D"]\n[WhiteElo "2500"]\n[Date "2024.05.??"]\n[Result "1-0"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 1-0\n'
    with explorer() as server, browser() as started:
        page = started.new_context(viewport={"width": 1366, "height": 768}).new_page()
        open_address(page, server.url)
        paste(page, game)
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "c5", "Nf3", "Nc3", "Nf3"])
        expect(page.locator("#line .game")).to_have_text("A, B 2500 – C, D 1-0 · Open · 2024.05")
        expect(page.locator("#line > .variation .aside button")).to_have_text(["Nc3"])
        # A step changes only the highlighting; no element is replaced.
        first = page.locator("#line button").first.element_handle()
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        assert first.evaluate("(one) => one.isConnected && one.classList.contains('later')")
        # The right button on a move: its line becomes the main line.
        page.locator("#line button").nth(2).click(button="right")
        page.locator(".context button").first.click()
        expect(page.locator("#line button")).to_have_text(["e4", "c5", "e5", "Nf3", "Nf3", "Nc3"])


def repertoire(moves: int) -> str:
    """Makes a game with this many moves in its variations, the same each time."""
    game, rng, count = chess.pgn.Game(), random.Random(28), 0
    while count < moves:
        node = game
        for _ in range(30):
            move = rng.choice(list(node.board().legal_moves)[:3])
            count += not node.has_variation(move)
            node = node.variation(move) if node.has_variation(move) else node.add_variation(move)
            if node.board().is_game_over():
                break
    return str(game)


@case(limit=180, browsers=True)
def explorer_rebuilds_no_elements_when_a_user_steps_through_3000_moves():
    with explorer() as server, browser() as started:
        page = started.new_context(viewport={"width": 1366, "height": 768}).new_page()
        open_address(page, server.url)
        paste(page, repertoire(3000))
        page.wait_for_function("() => document.querySelectorAll('#line button').length >= 3000")
        page.evaluate(
            """() => {
                window.changes = [];
                const watch = new MutationObserver((list) => changes.push(...list.map((one) => one.type)));
                watch.observe(document.querySelector('#line'), { childList: true, subtree: true, attributes: true });
            }"""
        )
        for _ in range(5):
            before = page.locator("#line [aria-current]").get_attribute("data-id")
            page.keyboard.press("ArrowLeft")
            expect(page.locator("#line [aria-current]")).not_to_have_attribute("data-id", before)
        changes = page.evaluate("changes")
        # Two moves that gain or lose `aria-current`, and one that is later.
        assert set(changes) == {"attributes"} and len(changes) <= 5 * 3, changes


@case(limit=90, browsers=True)
def explorer_search_finds_moves_openings_and_positions():
    with explorer() as server, browser() as started:
        page = started.new_page()
        open_address(page, server.url)
        for typed, meant in (("spanisch", "Ruy Lopez"), ("KID", "King's Indian Defense"), ("e4 c5", "Sicilian Defense")):
            page.keyboard.press("/")
            page.fill("#search-text", typed)
            expect(page.locator("#search-list button").first).to_contain_text(meant)
            page.keyboard.press("Enter")
            expect(page.locator("#opening")).to_contain_text(meant)
