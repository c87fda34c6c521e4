"""The page of `tabia explore`: how books are changed, and how changes here, in other windows and in other programs are shown."""

import json
import re
import subprocess

from playwright.sync_api import expect

from pages import SAMPLE, book_rows, browser, drag, expect_figures, expect_status, explorer, is_firefox, load_text, marks, on_paper, open_address, page_of, press, probe
from paths import POLYGLOT, TABIA, copy_starter, folder
from procs import TIMEOUT_FACTOR, environment, run_ok, tabia, wait_until
from runner import case


@case(limit=330, browsers=True)
def explorer_changes_either_of_two_books_and_weights_and_the_adapter_never_plays_red_moves():
    here = folder("explore")
    weights, one, two = here / "weights.bin", copy_starter(here, "one"), copy_starter(here, "two")
    made = subprocess.run(
        [POLYGLOT, "make-book", "-pgn", SAMPLE, "-bin", weights, "-min-game", "1", "-max-ply", "20"],
        capture_output=True, env=environment(), cwd=here, timeout=30 * TIMEOUT_FACTOR,
    )
    assert weights.exists(), made.stdout
    before = one.read_bytes()
    chance = lambda: {move["san"]: move["probability"] for move in probe(one, "")["moves"]}
    assert chance()["e4"] > 0.1
    row = 'tr[data-uci="e2e4"]'

    def played() -> set[str]:
        # With a seed, game and position decide the move: the same moves each time.
        sets = ("Book Variety=100", "Book Minimum Share=0", "Book Seed=1")
        adapter = tabia("--book", one, *(word for one in sets for word in ("--set", one)), engine=[TABIA, "engine"])
        adapter.exchange("uci", until="uciok")
        moves = set()
        for _ in range(150):
            moves.add(adapter.exchange("ucinewgame", "position startpos", "go movetime 100", until="bestmove")[-1].split()[1])
        adapter.quit()
        return moves

    with explorer(weights, one, two) as server, page_of(server, "?play=e2e4&books=1/2") as page:
        # By keyboard alone: from the move to its two pencils; E uses the one with the focus.
        move = page.locator('tr[data-uci="e7e5"] button.move')
        move.focus()
        for steps, key, book in ((0, "e", one), (1, "Enter", one), (2, "Enter", two), (2, "e", two)):
            press(page, *("Tab",) * steps, key)
            expect(page.locator("#edit-title")).to_have_text(f"e5 in {book.name}")
            expect(page.locator("#edit-dialog")).to_be_visible()
            press(page, "Escape")
            # The focus returns a moment after the dialog has closed.
            expect(move).to_be_focused()
        # The change and its undo affect only that book.
        stored = marks(one, "e2e4")
        page.locator('tr[data-uci="e7e5"] .pencil').nth(1).click()
        page.locator('input[name="mark"][value="avoid"]').check(force=True)
        expect(page.locator('tr[data-uci="e7e5"] .other')).to_be_attached()
        assert (marks(one, "e2e4"), marks(two, "e2e4")["e7e5"]) == (stored, "avoid")
        press(page, "Escape")
        page.click("#undo")
        expect(page.locator('tr[data-uci="e7e5"] .other')).to_have_count(0)
        assert marks(two, "e2e4") == stored
        # On a phone.
        phone = page.context.browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True).new_page()
        open_address(phone, server.url + "?play=e2e4&books=1/2")
        pencil = phone.locator('tr[data-uci="e7e5"] .pencil').nth(1)
        expect(pencil).to_have_attribute("aria-label", f"Change e5 in {two.name}")
        pencil.click() if is_firefox(phone) else pencil.tap()
        expect(phone.locator("#edit-title")).to_have_text(f"e5 in {two.name}")
        expect(phone.locator("#edit-dialog")).to_be_visible()
        press(phone, "Escape")
        expect(phone.locator("dialog[open]")).to_have_count(0)
        # A click beside it plays the move. (The driver can tap only in Chromium.)
        phone.locator('tr[data-uci="e7e5"] td.n').first.click()
        expect(phone.locator("#line button")).to_have_text(["e4", "e5"])
        phone.context.close()

        # One book, by keyboard alone: choose e4, open the dialog, choose red, close it.
        open_address(page, server.url + "?books=1")
        while page.evaluate("document.activeElement?.dataset?.uci") != "e2e4":
            press(page, "ArrowDown")
        press(page, "e")
        expect(page.locator("#edit-dialog")).to_be_visible()
        page.locator('input[name="mark"]:checked').focus()
        press(page, "ArrowLeft")
        expect(page.locator('input[name="mark"][value="avoid"]')).to_be_checked()
        expect(page.locator(f"{row}.avoid .mark.avoid")).to_have_count(1)
        press(page, "Escape")
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
        found = {move["san"]: move for move in probe(one, "")["moves"]}
        assert (found["d4"]["annotation"], found["d4"]["learn_value"]) == ("!", -40)
        expect_figures(page, probe(one, ""))
        press(page, "Control+z")
        expect(page.locator("#status")).to_have_text("Undone: d4: learn value -40")
        press(page, "Control+Shift+z")
        expect(page.locator("#status")).to_have_text("Redone: d4: learn value -40")
        expect(page.locator('tr[data-uci="d2d4"] td.learn')).to_have_text("−40")
        press(page, "Meta+z")
        expect(page.locator("#status")).to_have_text("Undone: d4: learn value -40")
        for reported in ("d4: annotation !", "e4: mark avoid"):
            page.click("#undo")
            expect(page.locator("#status")).to_have_text(f"Undone: {reported}")
        expect(page.locator("#undo")).to_be_disabled()
        expect(page.locator(f"{row}.avoid")).to_have_count(0)
        expect_figures(page, probe(one, ""))
        # Ten keys on a slider are undone together.
        page.click('button[aria-label="Change e4"]')
        page.focus("#edit-learn-value")
        for number in range(1, 11):
            press(page, "ArrowRight")
            expect(page.locator("#status")).to_have_text(f"Saved: e4: learn value {number}")
        press(page, "Escape", "Control+z")
        expect(page.locator("#status")).to_have_text("Undone: e4: learn value 10")
        expect(page.locator("#undo")).to_be_disabled()
        assert one.read_bytes() == before
        assert "e2e4" in played()
        # By one key each, and by the right button.
        for key, value in (("+", "main"), ("-", "avoid"), ("0", "none")):
            page.locator('button.move[data-uci="d2d4"]').focus()
            press(page, key)
            expect(page.locator("#status")).to_have_text(f"Saved: d4: mark {value}")
            assert marks(one)["d2d4"] == value, key
        page.locator(f"{row} th").click(button="right")
        expect(page.locator(".context button").first).to_be_focused()
        press(page, "ArrowDown", "Enter")
        expect(page.locator("#status")).to_have_text("Saved: e4: mark avoid")
        expect(page.locator(".context")).to_have_count(0)
        assert marks(one)["e2e4"] == "avoid"

        # A Polyglot book has weights.
        open_address(page, server.url + "?books=0")
        expected = probe(weights, "")["moves"]
        assert {shown["uci"]: shown["probability"] for shown in book_rows(page)} == {move["uci"]: move["probability"] for move in expected}
        assert book_rows(page)[0]["games"].replace("\u202f", "") == str(expected[0]["stored_weight"])
        expect(page.locator("th.n")).to_have_text("Weight")
        # Values that the book does not have are not shown.
        expect(page.locator("td.score").first).to_be_hidden()
        expect(page.locator("#plot")).to_contain_text("counts no games")
        assert [move["uci"] for move in server.get("masters")["moves"]][:2] == [move["uci"] for move in expected][:2]
        # They can be changed, but nothing else.
        before, first = weights.read_bytes(), expected[0]
        of_first = page.locator(f'tr[data-uci="{first["uci"]}"]')
        of_first.locator("td.edit button").click()
        expect(page.locator("#edit-dialog fieldset:visible")).to_have_count(1)
        expect(page.locator("#edit-weight")).to_have_value(str(first["stored_weight"]))
        page.fill("#edit-weight", "70000")
        press(page, "Tab")
        expect(of_first.locator("td.n")).not_to_have_text("70\u202f000")
        page.fill("#edit-weight", "0")
        press(page, "Tab")
        expect(of_first).to_have_class(re.compile(r"\bout\b"))
        page.click("#edit-form button.main")
        assert {move["uci"]: move["stored_weight"] for move in probe(weights, "")["moves"]} == {move["uci"]: move["stored_weight"] for move in expected} | {first["uci"]: 0}
        page.click("#line-menu")
        expect(page.locator(".context button").first).to_be_visible()
        expect(page.locator(".context")).not_to_contain_text("Add")
        press(page, "Escape", "Control+z")
        expect(of_first.locator("td.prob .number")).to_have_attribute("data-probability", str(first["probability"]))
        assert weights.read_bytes() == before
        press(page, "Control+Shift+z")
        expect(of_first).to_have_class(re.compile(r"\bout\b"))
    # A file that cannot be changed.
    one.chmod(0o444)
    before = one.read_bytes()
    with explorer(one) as server, page_of(server) as page:
        expect(page.locator(".pencil")).to_have_count(0)
        press(page, "ArrowDown", "+")
        for place in ("#status", "#locked"):
            expect(page.locator(place)).to_have_text("one.ctg: the file is read-only")
    assert one.read_bytes() == before


@case(limit=300, browsers=True)
def explorer_shows_changes_of_others_in_eight_windows_and_overwrites_none():
    here = folder("explore")
    book, games = copy_starter(here), here / "games.pgn"
    games.write_text('[White "Me"]\n[Black "You"]\n[Result "0-1"]\n\n1. e4 c5 2. Nf3 d6 0-1\n' * 30)
    with explorer(book) as server, browser() as started:
        context = started.new_context()
        pages = [context.new_page() for _ in range(8)]
        for page in pages:
            open_address(page, server.url)
        # A browser opens six connections to a server: the last window works like the first.
        page.locator('tr[data-uci="e2e4"] button.move').click()
        expect(page.locator("#line button")).to_have_text(["e4"])
        pages[0].locator('button.move[data-uci="d2d4"]').focus()
        press(pages[0], "+")
        for one in pages[:-1]:
            expect(one.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # The window with the connection for events is closed: another takes over.
        for gone in pages[:4]:
            gone.close()
        pages[5].locator('button.move[data-uci="d2d4"]').focus()
        press(pages[5], "-")
        expect(pages[6].locator('tr[data-uci="d2d4"].avoid')).to_have_count(1)
        # Two windows with the same dialog: only one change is made.
        page, second = pages[4], pages[6]
        expect(page.locator('tr[data-uci="d2d4"].avoid')).to_have_count(1)
        for one in (second, page):
            one.click('button[aria-label="Change d4"]')
        page.check('input[name="mark"][value="main"]', force=True)
        expect(page.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # The other tab has received the change, but its dialog was opened with the old
        # mark, so a change there must be a conflict.
        expect(second.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        # `click` instead of `check`: the refusal may already have restored the old mark.
        second.click('input[name="mark"][value="none"]', force=True)
        expect_status(second, "its mark is now main")
        assert marks(book)["d2d4"] == "main"
        # Each tab undoes only its own changes.
        press(second, "Escape")
        expect(second.locator("#undo")).to_be_disabled()
        # A page in the background has no focus.
        page.bring_to_front()
        press(page, "Escape")
        expect(page.locator('button.move[data-uci="d2d4"]')).to_be_focused()
        press(page, "Control+z")
        expect(page.locator("#status")).to_have_text("Undone: d4: mark main")
        expect(second.locator('tr[data-uci="d2d4"].main')).to_have_count(0)
        # Another program, while a dialog is open.
        page.click('tr[data-uci="d2d4"] td.edit button')
        expect(page.locator("#edit-dialog")).to_be_visible()
        run_ok("mark", book, "--line", "d4", "main", "--learn-value", "30")
        page.click('input[name="mark"][value="none"]', force=True)
        expect_status(page, "its mark is now main")
        assert marks(book)["d2d4"] == "main"
        # Dialog and table agree with the book, and another change is possible.
        expect(page.locator('input[name="mark"][value="main"]')).to_be_checked()
        expect(page.locator("#edit-learn-value-number")).to_have_value("30")
        expect(page.locator('tr[data-uci="d2d4"].main')).to_have_count(1)
        page.click('input[name="mark"][value="avoid"]', force=True)
        expect_status(page, "Saved: d4: mark avoid")
        expect(page.locator('tr[data-uci="d2d4"].avoid')).to_have_count(1)
        assert marks(book)["d2d4"] == "avoid"
        # A deleted move cannot be changed.
        run_ok("prune", book, "-o", book, "-f", "--line", "d4")
        page.click('input[name="mark"][value="none"]', force=True)
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect_status(page, "d4 is not in the book; nothing was changed")
        # Without a dialog.
        for value in ("main", "avoid"):
            run_ok("mark", book, "--line", "Nf3", value)
            expect(page.locator(f'tr[data-uci="g1f3"].{value}')).to_have_count(1)
        # `tabia learn`, and another book at the same path.
        run_ok("learn", book, games, "--player", "Me")
        learned = {move["uci"]: move["learn_value"] for move in probe(book, "")["moves"]}["e2e4"]
        assert learned < 0, learned
        expect(page.locator('tr[data-uci="e2e4"] td.learn')).to_have_text(f"−{-learned}")
        run_ok("prune", book, "-o", book, "-f", "--line", "Nf3")
        expect(page.locator('tr[data-uci="g1f3"]:not(.transposition)')).to_have_count(0)


@case(limit=300, browsers=True, smoke=True)
def explorer_adds_lines_asks_before_it_deletes_and_undoes_both():
    here = folder("explore")
    book = copy_starter(here)
    before = book.read_bytes()
    has = lambda moves, uci: uci in [move["uci"] for move in probe(book, moves)["moves"] if not move["transposition"]]
    size = lambda: json.loads(run_ok("info", book, "--json").stdout)["positions"]
    with explorer(book) as server, page_of(server) as page:
        # There is nothing to change on paper.
        expect(page.locator(".pencil").first).to_be_visible()
        on_paper(page, True)
        expect(page.locator(".pencil").first).to_be_hidden()
        on_paper(page, False)
        drag(page, "h2", "h4")
        expect(page.locator("#books")).to_contain_text("not in the book")
        page.click("#books .add")
        expect_status(page, "added 1.h4")
        expect(page.locator("#books")).to_contain_text("ends here")
        assert has("", "h2h4")
        # A pasted game with a variation and annotations.
        load_text(page, "1. a4 a5! (1... h5 2. h4?) 2. Ra3 *")
        expect(page.locator("#line button")).to_have_count(5)
        page.click("#line-menu")
        page.click("text=Add all lines to the book")
        expect_status(page, "added 2 lines")
        assert has("a2a4 a7a5", "a1a3") and has("a2a4 h7h5", "h2h4")
        assert {move["uci"]: move["annotation"] for move in probe(book, "a2a4")["moves"]}["a7a5"] == "!"
        # Marks for White's moves of the line.
        page.click("#line-menu")
        page.click("text=Mark the whole line…")
        page.select_option("#line-side", "white")
        page.click("#line-form .main")
        expect(page.locator("#line-dialog")).to_be_hidden()
        assert (marks(book)["a2a4"], marks(book, "a2a4")["a7a5"], marks(book, "a2a4 a7a5")["a1a3"]) == ("main", "none", "main")
        # A commentary, and two ways to delete.
        open_address(page, server.url + "?play=e2e4")
        page.click('button[aria-label="Change c5"]')
        page.select_option("#edit-commentary", "13")
        expect_status(page, "commentary")
        assert {move["uci"]: move["commentary"] for move in probe(book, "e2e4")["moves"]}["c7c5"] == 13
        page.click("#remove-below")
        expect(page.locator("#edit-dialog")).to_be_hidden()
        page.click("#removal-begin")
        expect_status(page, "deleted all after 1.e4 c5")
        assert has("e2e4", "c7c5") and not has("e2e4 c7c5", "g1f3")
        page.click('button[aria-label="Change e5"]')
        page.click("#remove-move")
        expect(page.locator("#edit-dialog")).to_be_hidden()
        page.click("#removal-begin")
        expect(page.locator('tr[data-uci="e7e5"]:not(.transposition)')).to_have_count(0)
        assert not has("e2e4", "e7e5")
        # Undo restores every byte, even after a reload.
        for reported in ("deleted 1.e4 e5", "deleted all after", "c5: commentary"):
            press(page, "Control+z")
            expect_status(page, f"Undone: {reported}")
        assert has("e2e4 c7c5", "g1f3") and has("e2e4", "e7e5")
        press(page, "Control+Shift+z")
        expect_status(page, "Redone")
        for reported in ("c5: commentary", "1.a4 a5 2.Ra3: mark main", "added 2 lines", "added 1.h4"):
            press(page, "Control+z")
            expect_status(page, f"Undone: {reported}")
        assert book.read_bytes() == before
        # It says how much it would delete.
        all_positions, first, begin = size(), page.locator('tr[data-uci="e2e4"]:not(.transposition)'), page.locator("#removal-begin")
        open_address(page, server.url)
        first.locator("td.edit button").click()
        page.click("#remove-move")
        expect(page.locator("#removal-dialog")).to_be_visible()
        expect(page.locator("#edit-dialog")).to_be_hidden()
        expect(begin).to_be_enabled()
        reported = page.locator("#removal-message").text_content()
        expect(page.locator("#removal-title")).to_have_text("Delete e4 in book.ctg")
        # Cancelling changes nothing.
        press(page, "Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert book.read_bytes() == before
        first.locator("td.edit button").click()
        page.click("#remove-move")
        expect(begin).to_be_enabled()
        # It shows its progress until it is answered; the page is left when the request has arrived.
        with server.paused():
            begin.click()
            expect(page.locator("#removal-progress")).to_be_visible()
            expect(begin).to_be_disabled()
        begun = lambda: book.read_bytes() != before or any(one.name.startswith(".tabia-") for one in here.iterdir())
        wait_until(begun, 20, lambda: list(here.iterdir()))
        # A page that is opened when all is done knows it from the start.
        for other in ("d2d4", "c2c4"):
            open_address(page, f"{server.url}?play={other}")
            expect(page.locator("#undo")).to_be_enabled()
            expect(page.locator("#undo")).to_have_attribute("title", re.compile(re.escape("deleted 1.e4")))
        assert all_positions - size() == int("".join(one for one in reported if one.isdigit())) > 1000, reported
        press(page, "Home")
        expect(page.locator('tr[data-uci="d2d4"]')).to_have_count(1)
        expect(first).to_have_count(0)
        page.click("#undo")
        expect_status(page, "Undone: deleted 1.e4")
        expect(first).to_have_count(1)
        assert book.read_bytes() == before
    assert json.loads(run_ok("verify", book, "--json").stdout)["problems"] == []
