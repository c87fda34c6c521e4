"""The page of `tabia explore`: marks by key and right button, several windows, the list of moves."""

import random

import chess
import chess.pgn

from case_explore_changes import window
from pages import browser, explorer, long_line, marks, open_address, paste
from paths import copy_starter, folder
from procs import poll
from runner import case
from playwright.sync_api import expect


@case(limit=180, browsers=True)
def explorer_updates_eight_windows_and_overwrites_nothing():
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
        # Two windows with the same dialog: only one change is made.
        first, second = pages[4], pages[6]
        expect(first.locator('tr[data-uci="d2d4"].avoid')).to_have_count(1)
        for page in (second, first):
            page.click('button[aria-label="Change d4"]')
        first.check('input[name="mark"][value="main"]', force=True)
        expect(first.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # The other tab has received the change, but its dialog was opened with the old
        # mark, so a change there must be a conflict.
        expect(second.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # `click` instead of `check`: the refusal may already have restored the old mark.
        second.click('input[name="mark"][value="none"]', force=True)
        expect(second.locator("#status")).to_contain_text("its mark is now main")
        assert marks(book)["d2d4"] == "main"
        # Each tab undoes only its own changes.
        second.keyboard.press("Escape")
        expect(second.locator("#undo")).to_be_disabled()
        # A page in the background has no focus.
        first.bring_to_front()
        first.keyboard.press("Escape")
        expect(first.locator('button.move[data-uci="d2d4"]')).to_be_focused()
        first.keyboard.press("Control+z")
        expect(first.locator("#status")).to_have_text("Undone: d4: mark main")
        expect(second.locator('tr[data-uci="d2d4"].main')).to_have_count(0)


# Width of the line of moves and of its box, number of its rows, and how far its parts extend beyond the box.
LINE = """return (() => {
    const box = document.querySelector('#line'), inner = box.getBoundingClientRect();
    const parts = [...box.children].map((one) => one.getBoundingClientRect());
    return [box.scrollWidth, box.clientWidth, new Set(parts.map((one) => Math.round(one.top))).size, Math.max(...parts.map((one) => one.right - inner.right))];
})()"""


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
def explorer_lists_moves_in_rows_and_rebuilds_nothing():
    line = ",".join(long_line(120))
    with explorer() as server, window() as shown:
        page = shown.page
        for width, height in ((1366, 768), (1920, 1080)):
            shown.open(f"{server.url}?play={line}")
            shown.size(width, height)
            fits = lambda now: now[0] <= now[1] and now[2] > 5 and now[3] <= 0
            seen = poll(lambda: shown.run(LINE), fits)
            assert fits(seen), f"{width}x{height}: {seen}"
            # A number stays with its move, and the last move is visible.
            parted = shown.run("[...document.querySelectorAll('#line .ply')].filter((one) => one.getClientRects().length > 1 || one.offsetHeight > 40).length")
            assert parted == 0, f"{parted} moves are parted"
            shown.wait_for("(() => { const box = document.querySelector('#line').getBoundingClientRect(), now = document.querySelector('#line [aria-current]').getBoundingClientRect(); return now.top >= box.top - 1 && now.bottom <= box.bottom + 1; })()")
        # On a phone it is one row, which scrolls.
        shown.open(f"{server.url}?play={line}")
        shown.size(360, 740)
        one_row = lambda now: now[2] == 1 and now[0] > now[1]
        seen = poll(lambda: shown.run(LINE), one_row)
        assert one_row(seen), f"{seen}"
        # A game with variations.
        shown.size(1366, 768)
        game = '[Event "Open"]\n[White "A, B"]\n[Black "C, D"]\n[WhiteElo "2500"]\n[Date "2024.05.??"]\n[Result "1-0"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 1-0\n'
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
        # A step through 3000 moves changes three of them.
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
