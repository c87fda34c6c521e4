"""`tabia explore` in a real browser (Debian's Chromium, without a window)."""

import json
import os
import re
import signal
import subprocess
import time

from playwright.sync_api import Page, expect

from pages import SAMPLE, WITHOUT_SERVER, Connection, book_rows, drag, expect_figures, expect_line, explorer, long_line, marks, open_address, page_of, paste, probe, reload, saved_by, send_10000_requests, square
from paths import POLYGLOT, STARTER, TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR, environment, poll, run, tabia, wait_until
from runner import case


# Requests to the program, as the page counts them.
ASKED = "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => path.startsWith('/api/')).sort().join(' ')"

# A click on a square by script, with the events of a mouse.
CLICKS = """(() => {
    for (const name of %s) {
        const place = document.querySelector(`[data-square="${name}"]`), box = place.getBoundingClientRect();
        const where = { bubbles: true, button: 0, pointerType: 'mouse', clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
        place.dispatchEvent(new PointerEvent('pointerdown', where));
        dispatchEvent(new PointerEvent('pointerup', where));
    }
})()"""


@case(limit=120, browsers=True, smoke=True)
def explorer_moves_by_drag_keyboard_and_clicks_however_fast_show_the_figures_of_probe():
    with explorer() as server, page_of(server) as page:
        # The page contains the answer about the position; a connection for events may not be counted before it ends.
        expected = "/api/events /api/line /api/start /api/training"
        if not WITHOUT_SERVER:
            seen = poll(lambda: page.evaluate(ASKED), lambda seen: seen in (expected, expected.removeprefix("/api/events ")))
            assert seen in (expected, expected.removeprefix("/api/events ")), seen
        expect_figures(page, probe(STARTER, ""))
        drag(page, "e2", "e4")
        expect_line(page, "e4")
        drag(page, "c7", "c5")
        expect_line(page, "e4", "c5")
        drag(page, "g1", "f3")
        expect_line(page, "e4", "c5", "Nf3")
        expect_figures(page, probe(STARTER, "e2e4 c7c5 g1f3"))
        expect(page.locator("#opening")).to_contain_text("B27 Sicilian Defense")
        page.wait_for_url("**/?play=e2e4,c7c5,g1f3")
        # Back to the start by keyboard; then with the cursor on the board.
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        page.locator('[data-square="e1"]').focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(page.locator('[data-square="e2"]')).to_have_attribute("aria-selected", "true")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("e4")
        # A typed move, and one chosen in the book window.
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("m")
        page.keyboard.type("c5")
        page.keyboard.press("Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowDown")
        expect(page.locator("button.move").first).to_be_focused()
        expect(page.locator("button.move").first).to_have_text("Nf3")
        page.keyboard.press("Enter")
        expect(page.locator("#line [aria-current]")).to_have_text("Nf3")
        expect_figures(page, probe(STARTER, "e2e4 c7c5 g1f3"))
        # Clicks all at once: each is for the position after the moves before it.
        open_address(page, server.url)
        page.evaluate(CLICKS % json.dumps(["e2", "e4", "c7", "c5", "g1", "f3"]))
        expect_line(page, "e4", "c5", "Nf3")
        # A key that is held: the same text occurs several times in the line, so the position decides.
        open_address(page, f"{server.url}?play={','.join(long_line(60))}&at=0")
        for _ in range(60):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#line button").last).to_have_attribute("aria-current", "step")
        # From positions not yet cached: always the likeliest move, however slow the answers.
        open_address(page, server.url)
        for _ in range(30):
            page.keyboard.press("ArrowRight")
        expect_line(page, *(point["san"] for point in server.get("api/line")["points"][1:31]))
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        # A step back after a double click, in the same queue, leads to where it began.
        clicks(page, 'tr[data-uci="d2d4"] td.n', 1, 2)
        expect(page.locator("#line [aria-current]")).to_have_text("d4")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        page.keyboard.press("ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("d4")
        # However fast: the table may have changed between the two clicks.
        clicks(page, 'tr[data-uci="d7d5"] td.n', 2)
        page.click('tr[data-uci="g8f6"] td.n')
        expect(page.locator("#line [aria-current]")).to_have_text("Nf6")


@case(limit=150, browsers=True, smoke=True)
def explorer_accepts_clicks_promotions_castling_pasted_games_openings_and_links():
    with explorer() as server, page_of(server) as page:
        page.mouse.click(*square(page, "d2"))
        expect(page.locator(".square.target")).to_have_count(2)
        page.mouse.click(*square(page, "d4"))
        expect_line(page, "d4")
        page.click("#flip")
        expect(page.locator(".square").first).to_have_attribute("data-square", "h1")
        drag(page, "d7", "d5")
        expect_line(page, "d4", "d5")
        page.keyboard.press("v")
        page.fill("#paste-text", "8/P6k/8/8/8/8/8/K7 w - - 0 1")
        page.click("#paste-form .main")
        expect(page.locator(".piece")).to_have_count(3)
        drag(page, "a7", "a8")
        expect(page.locator(".promotion button")).to_have_count(4)
        # The pieces are over the file of the pawn.
        box, of = (page.locator(one).bounding_box() for one in (".promotion", '[data-square="a8"]'))
        assert abs(box["x"] - of["x"]) < 1 and abs(box["y"] + box["height"] - of["y"] - of["height"]) < 1, (box, of)
        page.click('.promotion button[aria-label="knight"]')
        expect_line(page, "a8=N")
        page.keyboard.press("v")
        page.fill("#paste-text", "nonsense")
        page.click("#paste-form .main")
        expect(page.locator("#status")).to_contain_text("neither a FEN nor a game")
        page.fill("#paste-text", '[Event "x"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 {Spanish} *')
        page.click("#paste-form .main")
        expect_line(page, "e4", "e5", "Nf3", "Nc6", "Bb5")
        expect(page.locator("#opening")).to_contain_text("Ruy Lopez")
        expect(page.locator("#books tfoot")).to_contain_text("Position")
        open_address(page, server.url + "?fen=8/8/8/8/8/4k3/8/4K2R+w+K+-+0+40")
        expect(page.locator("#books")).to_contain_text("not in the book")
        page.keyboard.press("m")
        page.keyboard.type("O-O")
        page.keyboard.press("Enter")
        expect_line(page, "O-O")
        open_address(page, server.url + "?fen=1k2r3/8/8/8/8/8/8/5KR1+w+G+-+0+1")
        drag(page, "f1", "g1")
        expect_line(page, "O-O")
        page.keyboard.press("/")
        page.fill("#search-text", "B90")
        page.click("#search-list button >> nth=0")
        expect(page.locator("#opening")).to_contain_text("B90 Sicilian Defense: Najdorf")
        expect(page.locator("#line button")).to_have_count(10)
        page.go_back()
        expect_line(page, "O-O")
        for typed, meant in (("spanisch", "Ruy Lopez"), ("KID", "King's Indian Defense"), ("e4 c5", "Sicilian Defense")):
            page.keyboard.press("/")
            page.fill("#search-text", typed)
            expect(page.locator("#search-list button").first).to_contain_text(meant)
            page.keyboard.press("Enter")
            expect(page.locator("#opening")).to_contain_text(meant)
        # A link has position, side and options.
        open_address(page, server.url + "?play=e2e4,c7c5,g1f3&at=2&flip=1&Book+Variety=20")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        expect(page.locator("#line button.later")).to_have_text("Nf3")
        expect(page.locator(".square").first).to_have_attribute("data-square", "h1")
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Variety=20"))
        page.keyboard.press("ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("Nf3")
        page.go_back()
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        open_address(page, server.url + "?play=d2d4,d7d5,e2e5,g8f6")
        expect(page.locator("#status")).to_contain_text("not legal")
        expect_line(page, "d4", "d5")
        drag(page, "c2", "c4")
        expect_line(page, "d4", "d5", "c4")


@case(limit=120, browsers=True)
def explorer_sliders_change_the_probabilities_as_set_does_and_reasons_are_shown():
    with explorer() as server, page_of(server, "?play=e2e4,c7c5") as page:
        before = book_rows(page)
        page.click("#choice-tab")
        expect(page.locator("#books")).to_be_visible()
        page.locator('input[type="range"][name="Book Variety"]').fill("100")
        page.wait_for_function("(old) => document.querySelector('td.prob .number').dataset.probability != old", arg=str(before[0]["probability"]))
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Variety=100"))
        page.wait_for_url("**Book+Variety=100**")
        page.locator('input[name="Book Minimum Games"]').evaluate("slider => { slider.value = 15; slider.dispatchEvent(new Event('input')); }")
        page.wait_for_function("() => new URLSearchParams(location.search).has('Book Minimum Games')")
        expect(page.locator("#chips .chip")).to_have_count(2)
        games = page.evaluate("new URLSearchParams(location.search).get('Book Minimum Games')")
        page.wait_for_function("() => [...document.querySelectorAll('tbody tr')].some((row) => row.classList.contains('out'))")
        expected = probe(STARTER, "e2e4 c7c5", "Book Variety=100", f"Book Minimum Games={games}")
        page.wait_for_function(
            "(count) => document.querySelectorAll('tbody tr.out').length === count",
            arg=sum(move["probability"] == 0 for move in expected["moves"]),
        )
        expect_figures(page, expected)
        page.select_option('select[name="Book Preset"]', "Optimize")
        expect(page.locator('input[type="range"][name="Book Variety"]')).to_have_value("15")
        expect_figures(page, probe(STARTER, "e2e4 c7c5", "Book Preset=Optimize"))
        page.click("#reset")
        expect(page.locator('input[type="range"][name="Book Variety"]')).to_have_value("50")
        expect_figures(page, probe(STARTER, "e2e4 c7c5"))
        # Why a move is not played is in its cell: reasons that are not clipped.
        reasons = "[...document.querySelectorAll('.reason')].filter((one) => getComputedStyle(one).clipPath === 'none').map((one) => one.textContent)"
        open_address(page, server.url + "?play=e2e4,c7c5")
        assert page.locator("#books tr.out .reason").count() > 2 and page.evaluate(reasons) == []
        # By keyboard: of the selected move.
        page.locator("#books tr.out button.move").first.focus()
        page.wait_for_function(f"() => {reasons}.length === 1 && {reasons}[0].startsWith('not played: ')")
        page.keyboard.press("ArrowUp")
        page.wait_for_function(f"() => {reasons}.length === 0")
        # By finger or mouse: of the dash, which plays nothing.
        page.locator("#books tr.out td.prob").first.click()
        page.wait_for_function(f"() => document.querySelector('#books td.prob.open') && {reasons}.length === 1")
        expect(page.locator("#line button")).to_have_count(2)


@case(limit=150, browsers=True)
def explorer_marks_moves_by_dialog_keys_and_right_button_and_the_adapter_never_plays_red_ones():
    book = copy_starter(folder("explore"))
    before = book.read_bytes()
    chance = lambda: {move["san"]: move["probability"] for move in probe(book, "")["moves"]}
    assert chance()["e4"] > 0.1
    row = 'tr[data-uci="e2e4"]'

    def played() -> set[str]:
        # With a seed, game and position decide the move: the same moves each time.
        sets = ("Book Variety=100", "Book Minimum Share=0", "Book Seed=1")
        adapter = tabia("--book", book, *(word for one in sets for word in ("--set", one)), engine=[TABIA, "engine"])
        adapter.exchange("uci", until="uciok")
        moves = set()
        for _ in range(150):
            moves.add(adapter.exchange("ucinewgame", "position startpos", "go movetime 100", until="bestmove")[-1].split()[1])
        adapter.quit()
        return moves

    with explorer(book) as server, page_of(server) as page:
        # By keyboard alone: choose e4, open the dialog, choose red, close it.
        while page.evaluate("document.activeElement?.dataset?.uci") != "e2e4":
            page.keyboard.press("ArrowDown")
        page.keyboard.press("e")
        expect(page.locator("#edit-dialog")).to_be_visible()
        page.locator('input[name="mark"]:checked').focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator('input[name="mark"][value="avoid"]')).to_be_checked()
        expect(page.locator(f"{row}.avoid .mark.avoid")).to_have_count(1)
        page.keyboard.press("Escape")
        assert chance()["e4"] == 0
        assert "e2e4" not in played()
        # An annotation and a learn value by mouse.
        page.click('button[aria-label="Change d4"]')
        page.check('input[name="annotation"][value="!"]', force=True)
        expect(page.locator('tr[data-uci="d2d4"] .sign')).to_have_text("!")
        page.fill("#edit-learn-value-number", "-40")
        page.press("#edit-learn-value-number", "Tab")
        expect(page.locator('tr[data-uci="d2d4"] td.learn')).to_have_text("−40")
        page.click("#edit-form button.main")
        found = {move["san"]: move for move in probe(book, "")["moves"]}
        assert (found["d4"]["annotation"], found["d4"]["learn_value"]) == ("!", -40)
        expect_figures(page, probe(book, ""))
        page.keyboard.press("Control+z")
        expect(page.locator("#status")).to_have_text("Undone: d4: learn value -40")
        page.keyboard.press("Control+Shift+z")
        expect(page.locator("#status")).to_have_text("Redone: d4: learn value -40")
        expect(page.locator('tr[data-uci="d2d4"] td.learn')).to_have_text("−40")
        page.keyboard.press("Meta+z")
        expect(page.locator("#status")).to_have_text("Undone: d4: learn value -40")
        page.click("#undo")
        expect(page.locator("#status")).to_have_text("Undone: d4: annotation !")
        page.click("#undo")
        expect(page.locator("#status")).to_have_text("Undone: e4: mark avoid")
        expect(page.locator("#undo")).to_be_disabled()
        expect(page.locator(f"{row}.avoid")).to_have_count(0)
        expect_figures(page, probe(book, ""))
        # Ten keys on a slider are undone together.
        page.click('button[aria-label="Change e4"]')
        page.focus("#edit-learn-value")
        for number in range(1, 11):
            page.keyboard.press("ArrowRight")
            expect(page.locator("#status")).to_have_text(f"Saved: e4: learn value {number}")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+z")
        expect(page.locator("#status")).to_have_text("Undone: e4: learn value 10")
        expect(page.locator("#undo")).to_be_disabled()
        assert book.read_bytes() == before
        assert "e2e4" in played()
        # By one key each, and by the right button.
        for key, mark in (("+", "main"), ("-", "avoid"), ("0", "none")):
            page.locator('button.move[data-uci="d2d4"]').focus()
            page.keyboard.press(key)
            expect(page.locator("#status")).to_have_text(f"Saved: d4: mark {mark}")
            assert marks(book)["d2d4"] == mark, key
        page.locator(f"{row} th").click(button="right")
        expect(page.locator(".context button").first).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_have_text("Saved: e4: mark avoid")
        expect(page.locator(".context")).to_have_count(0)
        assert marks(book)["e2e4"] == "avoid"
    # A file that cannot be changed.
    book.chmod(0o444)
    before = book.read_bytes()
    with explorer(book) as server, page_of(server) as page:
        expect(page.locator(".pencil")).to_have_count(0)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("+")
        for place in ("#status", "#locked"):
            expect(page.locator(place)).to_have_text("book.ctg: the file is read-only")
    assert book.read_bytes() == before


@case(limit=90, browsers=True)
def explorer_shows_two_books_in_one_table_an_index_of_games_and_a_warning():
    here = folder("explore")
    other = here / "other.ctg"
    run("build", "-o", str(other), str(SAMPLE))
    # Books have names, so the order of the command line does not matter.
    with explorer(other, STARTER) as server, page_of(server, "?play=e2e4,c7c5&books=tabia.ctg/other.ctg") as page:
        moves = lambda book: {move["uci"]: move for move in probe(book, "e2e4 c7c5")["moves"]}
        first, second = moves(STARTER), moves(other)
        cells = page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll('tr[data-uci]:not(.lone)')].map((row) =>
                [row.dataset.uci, [...row.querySelectorAll('.number')].map((cell) => Number(cell.dataset.probability))]))"""
        )
        assert cells == {uci: [first[uci]["probability"], second[uci]["probability"]] for uci in first.keys() & second.keys()}
        # Moves of only one book are folded unless one of them is important.
        alone = [first[uci] for uci in first.keys() - second.keys()]
        matters = any(move["mark"] != "none" or move["probability"] >= 0.05 for move in alone)
        fold = page.locator(".fold").first
        for is_open in (matters, not matters):
            expect(fold).to_have_attribute("aria-expanded", "true" if is_open else "false")
            rows = page.locator("tbody:has(.fold) + tbody").first.locator("tr.lone:visible")
            expect(rows).to_have_count(len(alone) if is_open else 0)
            fold.click()
        # The last row has the sums of both books; either book can sort the table.
        expect(page.locator("tfoot td.n").nth(1)).to_have_text("{:,}".format(probe(other, "e2e4 c7c5")["games"]).replace(",", "\u202f"))
        page.click("th.n.b button")
        games = sorted((second[uci]["games"] for uci in first.keys() & second.keys()), reverse=True)
        expect(page.locator("tr[data-uci]:not(.lone) td.n.b")).to_have_text([f"{count:,}".replace(",", "\u202f") for count in games])
        colour = lambda selector: page.locator(selector).first.evaluate("cell => getComputedStyle(cell).boxShadow")
        assert colour("td.differs") != colour("td:not(.differs)"), "what differs is coloured"
        page.select_option("#second-book", "")
        expect(page.locator("#books .pair")).to_have_count(0)
        page.wait_for_url("**books=tabia.ctg")
        page.go_back()
        expect(page.locator("#books .pair")).to_have_count(1)
    index = here / "games.tgx"
    assert run("index", "-o", str(index), str(SAMPLE)).returncode == 0
    torn = copy_starter(here, "torn")
    torn.with_suffix(".ctb").unlink()
    with explorer(index, STARTER, torn) as server, page_of(server, "?play=e2e4&books=games.tgx") as page:
        reported = {move["uci"]: str(move["white"] + move["draws"] + move["black"]) for move in server.get("lichess?play=e2e4&moves=100")["moves"]}
        assert len(reported) > 5 and {row["uci"]: row["games"] for row in book_rows(page)} == reported, reported
        # Nothing in it can be changed.
        expect(page.locator("#books .pencil")).to_have_count(0)
        expect(page.locator("#plot .hint")).to_have_text(re.compile(r"^Main line \d+ moves deep: \d"))
        # With a book it is the other column.
        open_address(page, server.url + "?play=e2e4&books=tabia.ctg/games.tgx")
        expect(page.locator('#books .pair tr[data-uci="c7c5"] td.n.b')).to_have_count(1)
        # A warning about a file is a sign beside its name, and no message before it is asked for.
        expect(page.locator(".sign-of:visible")).to_have_count(0)
        open_address(page, server.url + "?books=torn.ctg")
        expect(page.locator("#first-sign")).to_have_attribute("aria-label", re.compile("^Warning about torn.*torn.ctb is missing"))
        expect(page.locator("#status")).to_be_empty()
        page.click("#first-sign")
        expect(page.locator("#status")).to_contain_text("torn.ctb is missing")


@case(limit=60, browsers=True)
def explorer_shows_polyglot_books_too():
    book = folder("explore") / "book.bin"
    made = subprocess.run(
        [POLYGLOT, "make-book", "-pgn", SAMPLE, "-bin", book, "-min-game", "1", "-max-ply", "20"],
        capture_output=True, env=environment(), cwd=book.parent, timeout=30 * TIMEOUT_FACTOR,
    )
    assert book.exists(), made.stdout
    with explorer(book) as server, page_of(server) as page:
        expected = probe(book, "")["moves"]
        assert {row["uci"]: row["probability"] for row in book_rows(page)} == {move["uci"]: move["probability"] for move in expected}
        assert book_rows(page)[0]["games"].replace("\u202f", "") == str(expected[0]["stored_weight"])
        expect(page.locator("th.n")).to_have_text("Weight")
        # Values that the book does not have are not shown.
        expect(page.locator("td.score").first).to_be_hidden()
        expect(page.locator("#plot")).to_contain_text("counts no games")
        assert [move["uci"] for move in server.get("masters")["moves"]][:2] == [move["uci"] for move in expected][:2]
        # Its weights can be changed, but nothing else.
        before = book.read_bytes()
        first = expected[0]
        row = page.locator(f'tr[data-uci="{first["uci"]}"]')
        row.locator("td.edit button").click()
        expect(page.locator("#edit-dialog fieldset:visible")).to_have_count(1)
        expect(page.locator("#edit-weight")).to_have_value(str(first["stored_weight"]))
        page.fill("#edit-weight", "70000")
        page.keyboard.press("Tab")
        expect(row.locator("td.n")).not_to_have_text("70\u202f000")
        page.fill("#edit-weight", "0")
        page.keyboard.press("Tab")
        expect(row).to_have_class(re.compile(r"\bout\b"))
        page.click("#edit-form button.main")
        weights = {move["uci"]: move["stored_weight"] for move in probe(book, "")["moves"]}
        assert weights == {move["uci"]: move["stored_weight"] for move in expected} | {first["uci"]: 0}
        page.click("#line-menu")
        expect(page.locator(".context button").first).to_be_visible()
        expect(page.locator(".context")).not_to_contain_text("Add")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+z")
        expect(row.locator("td.prob .number")).to_have_attribute("data-probability", str(first["probability"]))
        assert book.read_bytes() == before
        page.keyboard.press("Control+Shift+z")
        expect(row).to_have_class(re.compile(r"\bout\b"))


def clicks(page: Page, selector: str, *details: int):
    """Sends clicks by script, each with its number in the row: on a busy machine two mouse clicks may not make a double click."""
    script = "(one, details) => details.forEach((detail) => one.dispatchEvent(new MouseEvent('click', { bubbles: true, detail })))"
    page.locator(selector).first.evaluate(script, details)


@case(limit=120, browsers=True)
def explorer_stores_variations_and_comments_draws_their_arrows_and_copies_them_as_pgn():
    with explorer() as server, page_of(server, "?play=e2e4,e7e5,g1f3&at=1") as page:
        # In the middle of a line another move becomes a variation.
        drag(page, "c7", "c5")
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "c5", "Nf3"])
        page.wait_for_url("**/?play=e2e4,c7c5")
        page.keyboard.press("n")
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
        page.keyboard.press("v")
        page.fill("#paste-text", pgn.replace("(1... e5", "(1... e5 (1... e6 $5)"))
        page.click("#paste-form .main")
        expect(page.locator("#line button")).to_have_text(["e4", "c5!", "e5", "Nf3", "e6!?"])
        page.keyboard.press("Delete")
        expect(page.locator("#line button")).to_have_text(["e4", "e5", "e6!?", "Nf3"])
        page.keyboard.press("v")
        page.fill("#paste-text", "1. e4 c5 2. Nf6 d6")
        page.click("#paste-form .main")
        expect(page.locator("#status")).to_contain_text("2.Nf6 is not legal")
        expect_line(page, "e4", "c5")
        page.keyboard.press("Escape")
        # Commands in comments are drawn and not printed.
        paste(page, "1. e4 {[%clk 0:59:55] [%eval 0.3]} c5 {[%clk 0:59:40]} 2. Nf3 {[%cal Gd2d4,Rf3d4][%csl Yd4] The open way} d6 {[%eval -1.5]} *")
        expect_line(page, "e4", "c5", "Nf3", "d6")
        assert "[%" not in page.locator("#line").text_content()
        expect(page.locator("#line .clock")).to_have_text(["59:55", "59:40"])
        expect(page.locator("#line .remark")).to_have_text("The open way")
        # Two values along the line, shown or not yet.
        expect(page.locator("#plot .value")).to_have_count(2)
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".noted [data-arrow]")).to_have_count(3)
        expect(page.locator(".noted .red [data-arrow=f3d4]")).to_have_count(1)
        expect(page.locator("#plot .value")).to_have_count(2)
        # A comment is changed without them.
        page.keyboard.press("n")
        expect(page.locator("#note-text")).to_have_value("The open way")
        page.fill("#note-text", "Open")
        page.click("#note-form .main")
        expect(page.locator("#line .remark")).to_have_text("Open")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".noted [data-arrow]")).to_have_count(0)
        page.keyboard.press("ArrowRight")
        expect(page.locator(".noted circle")).to_have_count(1)


@case(limit=120)
def explorer_memory_does_not_grow_with_requests_and_10000_at_once_end():
    with explorer() as server:
        get = Connection(server).get
        targets, line = [], []
        while len(targets) < 40:
            moves = get("/api/position?play=" + ",".join(line))["books"][0]["moves"]
            targets.append("/api/position?play=" + ",".join(line))
            line = line + [moves[len(targets) % len(moves)]["uci"]] if moves else []
        for target in targets * 5:
            get(target)
        memory, cpu, start = server.memory_kb(), server.processor_seconds(), time.monotonic()
        count = 0
        for _ in range(100):
            for target in targets:
                get(target)
                count += 1
        spent, cpu = time.monotonic() - start, server.processor_seconds() - cpu
        after = poll(server.memory_kb, lambda now: now < memory + 4000, 2)
        assert after < memory + 4000, (memory, after)
        reported = send_10000_requests(server, "/api/position?play=e2e4")
        assert server.get("api/position")["books"][0]["in_book"]
        return f"{count / spent:.0f} a second, {1000 * cpu / count:.2f} ms of a processor each; {reported}"


@case()
def explorer_has_help_and_refuses_files_that_it_cannot_open():
    assert "--read-only" in run("explore", "--help").stdout
    missing = run("explore", "--no-open", "nowhere.ctg")
    assert missing.returncode == 2 and "nowhere.ctg" in missing.stderr
    # The browser is the one with which the desktop opens addresses.
    here = folder("explore")
    opened = here / "opened"
    (here / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    (here / "xdg-open").chmod(0o755)
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen([TABIA, "explore"], stdout=subprocess.PIPE, env={**environment(), "PATH": path}, text=True)
    url = process.stdout.readline().strip()
    wait_until(opened.exists, 15, lambda: "no browser was opened")
    assert opened.read_text() == url
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20 * TIMEOUT_FACTOR) == 0
    with explorer("--read-only") as server:
        assert server.get("api/start")["read_only"] is True
        taken = run("explore", "--no-open", "--port", str(server.port))
        assert taken.returncode == 2 and str(server.port) in taken.stderr
