"""The line of moves on the page of `tabia explore`: variations, comments, rows."""

import random

import chess
import chess.pgn
from playwright.sync_api import expect

from pages import drag, expect_line, expect_status, explorer, holds, load_text, long_line, open_address, page_of, paste, press, reload, saved_by
from procs import poll
from runner import case

# Width of the line of moves and of its box, number of its rows, and how far its parts extend beyond the box.
LINE = """(() => {
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


@case(limit=300, browsers=True)
def explorer_lists_a_line_with_variations_and_comments_in_rows_saves_it_as_pgn_and_rebuilds_nothing():
    with explorer() as server, page_of(server, "?play=e2e4,e7e5,g1f3&at=1") as page:
        # In the middle of a line another move becomes a variation.
        drag(page, "c7", "c5")
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "c5", "Nf3"])
        page.wait_for_url("**/?play=e2e4,c7c5")
        press(page, "n")
        page.fill("#note-text", "fights at once")
        page.select_option("#note-signs", "1")
        page.click("#note-form .main")
        expect(page.locator("#line .remark")).to_have_text("fights at once")
        page.click("#line-menu")
        page.click("text=Make its line the main line")
        expect(page.locator("#line button")).to_have_text(["e4", "c5!", "e5", "Nf3"])
        page.click("#menu")
        pgn = saved_by(page, lambda: page.click("button:visible:has-text('Save PGN')")).read_text()
        assert "1. e4 c5 $1 {fights at once} (1... e5 2. Nf3) *" in pgn, pgn
        reload(page)
        expect(page.locator("#line button")).to_have_text(["e4", "c5!", "e5", "Nf3"])
        # As in browsers where a reload starts a new process.
        page.evaluate("addEventListener('pagehide', () => history.replaceState(null, ''))")
        reload(page)
        expect(page.locator("#line button")).to_have_text(["e4", "c5!", "e5", "Nf3"])
        load_text(page, pgn.replace("(1... e5", "(1... e5 (1... e6 $5)"))
        expect(page.locator("#line button")).to_have_text(["e4", "c5!", "e5", "Nf3", "e6!?"])
        press(page, "Delete")
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "e6!?", "Nf3"])
        load_text(page, "1. e4 c5 2. Nf6 d6")
        expect_status(page, "2.Nf6 is not legal")
        expect_line(page, "e4", "c5")
        press(page, "Escape")
        # Commands in comments are drawn and not printed.
        paste(page, "1. e4 {[%clk 0:59:55] [%eval 0.3]} c5 {[%clk 0:59:40]} 2. Nf3 {[%cal Gd2d4,Rf3d4][%csl Yd4] The open way} d6 {[%eval -1.5]} *")
        expect_line(page, "e4", "c5", "Nf3", "d6")
        assert "[%" not in page.locator("#line").text_content()
        expect(page.locator("#line .clock")).to_have_text(["59:55", "59:40"])
        expect(page.locator("#line .remark")).to_have_text("The open way")
        # Two values along the line, shown or not yet.
        expect(page.locator("#plot .value")).to_have_count(2)
        press(page, "ArrowLeft")
        expect(page.locator(".noted [data-arrow]")).to_have_count(3)
        expect(page.locator(".noted .red [data-arrow=f3d4]")).to_have_count(1)
        expect(page.locator("#plot .value")).to_have_count(2)
        # A comment is changed without them.
        press(page, "n")
        expect(page.locator("#note-text")).to_have_value("The open way")
        page.fill("#note-text", "Open")
        page.click("#note-form .main")
        expect(page.locator("#line .remark")).to_have_text("Open")
        press(page, "ArrowLeft")
        expect(page.locator(".noted [data-arrow]")).to_have_count(0)
        press(page, "ArrowRight")
        expect(page.locator(".noted circle")).to_have_count(1)
        # A long line.
        address = f"{server.url}?play={','.join(long_line(120))}"
        for width, height in ((1366, 768), (1920, 1080)):
            open_address(page, address)
            page.set_viewport_size({"width": width, "height": height})
            fits = lambda now: now[0] <= now[1] and now[2] > 5 and now[3] <= 0
            seen = poll(lambda: page.evaluate(LINE), fits)
            assert fits(seen), f"{width}x{height}: {seen}"
            # A number stays with its move, and the last move is visible.
            parted = page.evaluate("[...document.querySelectorAll('#line .ply')].filter((one) => one.getClientRects().length > 1 || one.offsetHeight > 40).length")
            assert parted == 0, f"{parted} moves are parted"
            holds(page, "(() => { const box = document.querySelector('#line').getBoundingClientRect(), now = document.querySelector('#line [aria-current]').getBoundingClientRect(); return now.top >= box.top - 1 && now.bottom <= box.bottom + 1; })()")
        # On a phone it is one row, which scrolls.
        open_address(page, address)
        page.set_viewport_size({"width": 360, "height": 740})
        one_row = lambda now: now[2] == 1 and now[0] > now[1]
        seen = poll(lambda: page.evaluate(LINE), one_row)
        assert one_row(seen), f"{seen}"
        # A game with variations.
        page.set_viewport_size({"width": 1366, "height": 768})
        game = '[Event "Open"]\n[White "A, B"]\n[Black "C, D"]\n[WhiteElo "2500"]\n[Date "2024.05.??"]\n[Result "1-0"]\n\n1. e4 e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 1-0\n'
        paste(page, game)
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "c5", "Nf3", "Nc3", "Nf3"])
        expect(page.locator("#line .game")).to_have_text("A, B 2500 – C, D 1-0 · Open · 2024.05")
        expect(page.locator("#line > .variation .aside button")).to_have_text(["Nc3"])
        # A step changes only the highlighting; no element is replaced.
        first = page.locator("#line button").first.element_handle()
        press(page, "Home")
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
            press(page, "ArrowLeft")
            expect(page.locator("#line [aria-current]")).not_to_have_attribute("data-id", before)
        changes = page.evaluate("changes")
        # Two moves that gain or lose `aria-current`, and one that is later.
        assert set(changes) == {"attributes"} and len(changes) <= 5 * 3, changes
