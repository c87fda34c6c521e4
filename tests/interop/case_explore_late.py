"""The page of `tabia explore` when answers come late, in another order, after the page has changed, or not at all."""

import contextlib
import json
import random
import threading
import urllib.request
from collections import Counter
from typing import Iterator

from playwright.sync_api import Page, Route, expect

from pages import MODULE, Server, build, drag, events, expect_line, explorer, fixed_port, index, mark, marks, open_address, page_of, paste, press, reload, square
from paths import copy_starter, folder
from procs import TIMEOUT_FACTOR, wait_until
from runner import case


@contextlib.contextmanager
def intercepted_page(server: Server, address: str = "") -> Iterator[Page]:
    """A page whose requests all pass through the driver, because adding an interception later takes the browser a moment."""
    with page_of(server, address) as page:
        page.route("**/*", lambda route: route.continue_())
        reload(page)
        yield page


@contextlib.contextmanager
def delayed(page: Page, what: str) -> Iterator[list[Route]]:
    """Delays requests until they are released, at the latest at the end."""
    routes: list[Route] = []
    is_delaying = True
    page.route(what, lambda route: routes.append(route) if is_delaying else route.continue_())
    yield routes
    is_delaying = False
    for route in routes:
        route.continue_()
    page.unroute(what)


def wait_for_delayed(page: Page, routes: list[Route], count: int) -> None:
    """Waits until this many requests are delayed."""
    # Only such a wait lets the browser's driver report requests.
    wait_until(lambda: page.wait_for_timeout(10) or len(routes) == count, 15, lambda: routes)


# Presses a key, and tells what the board has one frame later.
PRESS = """([key, square]) => new Promise((resolve) => {
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    requestAnimationFrame(() => resolve(document.querySelector(`[data-square=${square}] .piece`)?.dataset.letter ?? null));
})"""

# Plays a move by two clicks, and tells what the board has one frame later.
MOVE = """([from, to]) => new Promise((resolve) => {
    for (const name of [from, to]) {
        const square = document.querySelector(`[data-square=${name}]`);
        for (const kind of ['pointerdown', 'pointerup']) square.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0 }));
    }
    requestAnimationFrame(() => resolve(document.querySelector(`[data-square=${to}] .piece`)?.dataset.letter ?? null));
})"""

# A session of some answers, by the page's own code. The positions are those after one move of White and one of Black.
SESSION = """async ([deck, tab, session]) => {
    await Promise.race([window.cards.open(deck, "book"), new Promise((resolve) => setTimeout(resolve, 50))]);
    const given = [];
    for (let number = 0; number < 3; number += 1) {
        const [from, to] = [(session + number) % 8, (tab * 3 + number) % 8].map((file) => "abcdefgh"[file]);
        const line = [`${from}2${from}3`, `${to}7${to}6`].map((uci) => ({ uci, san: uci }));
        const pawns = (file, letter, at) => [...letter.repeat(8)].map((one, index) => (index === file.charCodeAt(0) - 97) === at ? one : " ").join("");
        const row = (text) => text.replace(/ +/g, (gap) => gap.length);
        const fen = `rnbqkbnr/${row(pawns(to, "p", false))}/${row(pawns(to, "p", true))}/8/8/${row(pawns(from, "P", true))}/${row(pawns(from, "P", false))}/RNBQKBNR w KQkq - 0 2`;
        const key = window.cards.key(deck, "white", fen);
        const right = (session + number) % 4 > 0;
        window.cards.answered(key, right, { fen: null, line });
        given.push([fen.split(" ").slice(0, 4).join(" "), right]);
        await new Promise((resolve) => setTimeout(resolve, 5 + 40 * Math.random()));
    }
    return given;
}"""

BEGIN = f"async () => {{ const {{ Cards }} = await {MODULE % 'cards'}; window.cards = new Cards(); window.cards.sendWaiting(); return true; }}"

WAITING = "Object.keys(localStorage).filter((name) => name.startsWith('training-event-')).length"


@case(limit=210, browsers=True, smoke=True)
def explorer_moves_pieces_before_the_program_answers_and_shows_the_last_request_even_if_earlier_answers_are_late():
    with explorer() as server, intercepted_page(server) as page:
        # Two texts; the first is read last.
        with delayed(page, "**/api/read") as routes:
            paste(page, "1. e4 e5")
            wait_for_delayed(page, routes, 1)
            paste(page, "1. d4 d5 2. c4")
            wait_for_delayed(page, routes, 2)
            with page.expect_response("**/api/read"):
                routes.pop().continue_()
            expect_line(page, "d4", "d5", "c4")
        press(page, "ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_text("d5")
        expect(page.locator("#line button")).to_have_text(["d4", "d5", "c4"])
        # Enter selects the opening that was typed, not one of an older list.
        press(page, "/")
        page.fill("#search-text", "B90")
        expect(page.locator("#search-list button").first).to_contain_text("Najdorf")
        with delayed(page, "**/api/openings*") as routes:
            page.fill("#search-text", "caro-kann defense")
            # Firefox types it letter by letter; only such a wait lets the driver report requests.
            wait_until(lambda: page.wait_for_timeout(10) or any("defense" in route.request.url for route in routes), 15, lambda: routes)
            press(page, "Enter")
        expect(page.locator("#opening")).to_contain_text("Caro-Kann")
        # Each move typed is for the position after the move typed before it.
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        with delayed(page, "**/api/position*") as routes:
            press(page, "m")
            for text in ("Nf3", "d5", "g3"):
                page.keyboard.type(text)
                press(page, "Enter")
            wait_for_delayed(page, routes, 3)
        expect(page.locator("#line [aria-current]")).to_have_text("g3")
        # Going back before a step's answer has come leads to the position before it.
        open_address(page, server.url + "?play=e2e4,c7c5&at=0")
        press(page, "End")
        expect_line(page, "e4", "c5")
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        with delayed(page, "**/api/position*") as routes:
            press(page, "ArrowRight")
            wait_for_delayed(page, routes, 1)
            page.evaluate("new Promise((done) => { addEventListener('popstate', done); history.back(); })")
            expect(page.locator("#line [aria-current]")).to_have_count(0)
        page.wait_for_url("**/?play=e2e4,c7c5&at=0")
        page.go_forward()
        expect(page.locator("#line [aria-current]")).to_have_text("e4")
        page.wait_for_url("**/?play=e2e4,c7c5&at=1")
        # The page is seen when its first table is complete, and whatever is seen works.
        for what in ("**/main.js", "**/table.js"):
            with delayed(page, what) as routes:
                page.goto(server.url + "?play=e2e4,c7c5", wait_until="commit")
                wait_for_delayed(page, routes, 1)
                assert not page.locator("header").is_visible(), what
                assert page.locator("#books tr").count() == 0, what
            expect(page.locator("header")).to_be_visible()
            page.click('#books tr[data-uci="g1f3"]')
            expect_line(page, "e4", "c5", "Nf3")
        # Moves by the rules of chess, and steps from answers that have come.
        open_address(page, server.url)
        pending = page.locator("#books.pending")
        rows = page.locator("#books tr[data-uci]")
        with delayed(page, "**/api/position*") as routes:
            # However long the answers take: each move is there within a frame, also one that no answer has brought.
            for move, piece in ((["e2", "e4"], "P"), (["a7", "a6"], "p"), (["g1", "f3"], "N")):
                assert page.evaluate(MOVE, move) == piece, move
            expect(page.locator("#line button")).to_have_text(["e4", "a6", "Nf3"])
            # The figures of the last position can neither be clicked nor changed.
            expect(pending).to_have_count(1)
            page.evaluate("document.querySelector('#books tr[data-uci] button.move').click()")
            expect(page.locator("#line button")).to_have_count(3)
            wait_for_delayed(page, routes, 3)
            # A late answer for an earlier position shows nothing.
            with page.expect_response("**/api/position*"):
                routes.pop(0).continue_()
            # No event tells that nothing is shown.
            page.wait_for_timeout(100)
            expect(pending).to_have_count(1)
            with page.expect_response("**/api/position*"):
                routes.pop(1).continue_()
            expect(pending).to_have_count(0)
            expect(page.locator("#to-move")).to_have_text("Black to move, move 2")
            # Back to where an answer has come since: the whole page within a frame, without a request.
            before = len(routes)
            page.evaluate(PRESS, ["ArrowLeft", "g1"])
            assert page.evaluate(PRESS, ["ArrowLeft", "a7"]) == "p"
            expect(pending).to_have_count(0)
            assert rows.first.get_attribute("data-uci") and len(routes) == before
            # The start, which came with the page; and forward again.
            assert page.evaluate(PRESS, ["Home", "e2"]) == "P"
            expect(pending).to_have_count(0)
            assert page.evaluate(PRESS, ["ArrowRight", "e4"]) == "P"
            assert page.evaluate(PRESS, ["End", "f3"]) == "N"
            expect(pending).to_have_count(0)
        # A step that only an answer can tell waits for it.
        with delayed(page, "**/api/position*") as routes:
            press(page, "Home")
            expect(page.locator("#line [aria-current]")).to_have_count(0)
            page.evaluate(MOVE, ["c2", "c4"])
            press(page, "ArrowRight")
            wait_for_delayed(page, routes, 1)
            expect(page.locator("#line [aria-current]")).to_have_text("c4")
        expect(page.locator("#line [aria-current]")).not_to_have_text("c4")
        expect(pending).to_have_count(0)


@case(limit=360, browsers=True)
def explorer_changes_a_book_in_the_order_of_the_requests_and_keeps_lists_and_unfinished_input():
    here = folder("explore")
    book = copy_starter(here)
    before = book.read_bytes()
    repertoire = build(here / "repertoire.ctg", "1. e4 c5 2. Nf3 d6 1-0\n\n1. e4 e5 2. Nf3 Nc6 1/2-1/2\n")
    game = lambda white, moves: f'[Event "Club"]\n[White "{white}"]\n[Black "B"]\n[Result "1-0"]\n\n{moves} 1-0\n\n'
    one, two = here / "one.pgn", here / "two.pgn"
    one.write_text(game("Kasparov", "1. d4 d5") + 3 * game("Kasparov, Garry", "1. e4 e5 2. Nf3") + 2 * game("Other", "1. e4 c5 2. Nf3"))
    two.write_text(30 * game("Another", "1. e4 e6 2. d4"))
    indexes = [index(one.with_suffix(".tgx"), one), index(two.with_suffix(".tgx"), two)]
    with explorer(book, repertoire, *indexes) as server, intercepted_page(server, "?play=d2d4") as page:
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        mark(page, "Nf3", "main")
        expect(page.locator('tr[data-uci="g1f3"].main')).to_have_count(1)
        press(page, "Escape")
        expect(page.locator('button.move[data-uci="g1f3"]')).to_be_focused()
        # Undo reverts the last change, even if it is not written yet; then the change before it.
        with delayed(page, "**/api/edit") as routes:
            mark(page, "e4", "avoid")
            wait_for_delayed(page, routes, 1)
            press(page, "Escape", "Control+z")
        expect(page.locator("#status")).to_have_text("Undone: e4: mark avoid")
        assert (marks(book, "")["g1f3"], marks(book, "")["e2e4"]) == ("main", "none")
        # Two changes of the same kind, the second before the first is written: neither is a conflict.
        with delayed(page, "**/api/edit") as routes:
            mark(page, "e4", "avoid")
            wait_for_delayed(page, routes, 1)
            page.check('input[name="mark"][value="main"]', force=True)
        expect(page.locator('tr[data-uci="e2e4"].main')).to_have_count(1)
        expect(page.locator("#status")).to_have_text("Saved: e4: mark main")
        press(page, "Escape")
        expect(page.locator('button.move[data-uci="e2e4"]')).to_be_focused()
        for reported in ("e4: mark main", "e4: mark avoid", "Nf3: mark main"):
            press(page, "Control+z")
            expect(page.locator("#status")).to_have_text(f"Undone: {reported}")
        assert book.read_bytes() == before
        # A dialog changes the move for which it was opened, even if the page shows another position by then.
        open_address(page, server.url + "?play=d2d4")
        page.click('tr[data-uci="g8f6"] td.n')
        expect_line(page, "d4", "Nf6")
        page.click('button[aria-label="Change Nf3"]')
        page.go_back()
        expect(page.locator("#line [aria-current]")).to_have_text("d4")
        page.check('input[name="mark"][value="main"]', force=True)
        expect(page.locator("#status")).to_have_text("Saved: Nf3: mark main")
        assert marks(book, "d2d4 g8f6")["g1f3"] == "main"
        # What is unfinished stays when another page changes the book.
        open_address(page, server.url + "?play=e2e4,c7c5&books=1")
        # In a separate window, because a hidden page is slow.
        other = page.context.browser.new_context().new_page()
        open_address(other, server.url + "?play=e2e4,c7c5&books=1")
        mark(other, "Nf3", "main")

        def changes(value: str) -> None:
            """The other page marks a move, and this one has received the change."""
            other.check(f'input[name="mark"][value="{value}"]', force=True)
            expect(page.locator('tr[data-uci="g1f3"] .mark')).to_have_class(f"mark {value}" if value != "none" else "mark")

        changes("avoid")
        # The user's arrow, the one of the row under the pointer, and the piece being dragged.
        page.mouse.move(*square(page, "a2"))
        page.mouse.down(button="right")
        page.mouse.move(*square(page, "a4"))
        page.mouse.up(button="right")
        page.hover('tr[data-uci="g1f3"] td.n')
        arrows = (page.locator('.own [data-arrow="a2a4"]'), page.locator('.pointed [data-arrow="g1f3"]'))
        for arrow in arrows:
            expect(arrow).to_have_count(1)
        changes("main")
        for arrow in arrows:
            expect(arrow).to_have_count(1)
        page.mouse.move(*square(page, "g1"))
        page.mouse.down()
        page.mouse.move(*square(page, "f3"), steps=3)
        changes("none")
        page.mouse.up()
        expect_line(page, "e4", "c5", "Nf3")
        # A missed training move stays missed, and its message stays.
        press(page, "Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        press(page, "r")
        page.uncheck("#train-learn")
        page.click("#train-form .main")
        expect(page.locator("#train-message")).to_have_text("Your move as White.")
        drag(page, "d2", "d4")
        expect(page.locator("#train-message")).to_contain_text("d4 is not the move")
        open_address(other, server.url + "?books=1")
        mark(other, "e4", "main")
        expect(page.locator('tr[data-uci="e2e4"] .mark')).to_have_class("mark main")
        expect(page.locator("#train-message")).to_contain_text("d4 is not the move")
        drag(page, "e2", "e4")
        expect(page.locator("#line button")).to_have_count(2)
        expect(page.locator("#train-score")).to_have_text("0 right, 1 missed, 1 to come again")
        # Games are listed of the shown index.
        open_address(page, server.url + "?books=2")
        press(page, "i")
        games = page.locator("#games-list li")
        expect(games).to_have_count(6)
        # A name means all its spellings; one of them can be chosen.
        page.click("#games-more summary")
        page.fill("#games-player", "kasparov")
        press(page, "Enter")
        expect(games).to_have_count(4)
        chips = page.locator("#games-players button")
        expect(chips).to_have_text(["All 2 spellings · 4 games", "Kasparov, Garry · 3 games", "Kasparov · 1 game"])
        pressed = page.locator("#games-players [aria-pressed=true]")
        expect(pressed).to_have_text(["All 2 spellings · 4 games"])
        chips.nth(2).click()
        expect(games).to_have_count(1)
        expect(pressed).to_have_text(["Kasparov · 1 game"])
        chips.nth(0).click()
        expect(games).to_have_count(4)
        page.fill("#games-player", "")
        press(page, "Enter")
        expect(games).to_have_count(6)
        # What is typed while an answer is on its way stays, in this field and in others.
        with delayed(page, "**/api/position*") as routes:
            page.select_option("#games-result", "1-0")
            wait_for_delayed(page, routes, 1)
            page.locator("#games-player").press_sequentially("Oth")
        page.wait_for_selector("#games-chips .chip", state="attached")
        expect(page.locator("#games-player")).to_have_value("Oth")
        press(page, "Enter")
        expect(page.locator("#games-none")).to_have_text("There is no game with this position under these filters.")
        page.fill("#games-player", "")
        press(page, "Enter")
        expect(games).to_have_count(6)
        # The list and the mark of the open game stay while it is stepped through.
        page.locator("#games-list button", has_text="Other").first.click()
        current = page.locator("#games-list [aria-current=true]")
        expect(current).to_have_count(1)
        expect(page.locator("#line button")).to_have_text(["e4", "c5", "Nf3"])
        for move in ("e4", "c5"):
            press(page, "ArrowRight")
            expect(page.locator("#line [aria-current]")).to_have_text(move)
        # Requests of a list begin a moment after a step.
        page.wait_for_timeout(500)
        expect(games).to_have_count(6)
        expect(current).to_have_count(1)
        # Until another one is wanted.
        page.click("#games-here")
        expect(games).to_have_count(2)
        expect(current).to_have_count(1)


@case(limit=500, browsers=True)
def explorer_works_on_with_a_restarted_program_steps_without_one_and_loses_no_answer_of_three_tabs_while_it_is_killed():
    book = copy_starter(folder("explore"))
    server = Server(book, "--port", fixed_port())
    with page_of(server) as page:
        pending = page.locator("#books.pending")
        page.evaluate(MOVE, ["e2", "e4"])
        expect(pending).to_have_count(0)
        # Meanwhile the page requests only the event stream, which reconnects by itself.
        with page.expect_response("**/api/events"):
            server.end()
            server = Server(book, "--port", server.port)
        mark(page, "e5", "avoid")
        expect(page.locator("#status")).to_have_text("Saved: e5: mark avoid")
        assert marks(book, "e2e4")["e7e5"] == "avoid"
        press(page, "Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        page.evaluate(MOVE, ["e7", "e5"])
        expect(pending).to_have_count(0)
        server.kill()
        assert page.evaluate(PRESS, ["ArrowLeft", "e7"]) == "p"
        assert page.evaluate(PRESS, ["ArrowRight", "e5"]) == "p"
        assert page.evaluate(MOVE, ["g1", "f3"]) == "N"
        expect(page.locator("#gone")).to_be_visible()
        assert page.evaluate(MOVE, ["b8", "c6"]) == "n"
        assert page.evaluate(PRESS, ["Home", "e2"]) == "P"
        assert page.evaluate(PRESS, ["End", "c6"]) == "n"
        # The moves are made; their figures come with the program.
        expect(pending).to_have_count(1)
        server = Server(book, "--port", server.port)
        expect(page.locator("#gone")).to_be_hidden()
        expect(pending).to_have_count(0)
        expect_line(page, "e4", "e5", "Nf3", "Nc6")
        press(page, "ArrowRight")
        expect(page.locator("#line button")).to_have_count(5)
        # 100 sessions in three tabs at once; the program is killed at random, and one tab, too.
        chance, kills, given = random.Random(58), 0, []
        context = page.context
        tabs = [page, context.new_page(), context.new_page()]
        for tab in tabs:
            open_address(tab, server.url)
            tab.evaluate(BEGIN)
        deck = server.get("api/position")["books"][0]["deck"]
        for session in range(100):
            number = session % 3
            # In the middle of a session, perhaps while it writes.
            killer = threading.Timer(0.12 * chance.random(), server.process.kill) if chance.random() < 0.2 else None
            if killer:
                killer.start()
            given += tabs[number].evaluate(SESSION, [deck, number, session // 3])
            if killer:
                killer.join()
                server.kill()
                kills += 1
                server = Server(book, "--port", server.port)
            if session == 50:
                # A closed tab leaves what it could not send to the next one.
                tabs[1].close()
                tabs[1] = context.new_page()
                open_address(tabs[1], server.url)
                tabs[1].evaluate(BEGIN)
        for tab in tabs:
            tab.evaluate("() => window.cards.refresh()")
        for tab in tabs:
            tab.wait_for_function(f"{WAITING} === 0", timeout=60_000 * TIMEOUT_FACTOR)
        # Every page now knows the same.
        open_address(tabs[0], server.url)
        body = json.dumps({"deck": deck, "events": []}).encode()
        token = tabs[0].evaluate("document.querySelector('meta[name=tabia-token]').content")
        request = urllib.request.Request(f"{server.url}api/training", data=body, headers={"x-tabia-token": token, "content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            known = json.load(answer)
        server.end()
    stored = events(book)
    ids = [event["id"] for event in stored]
    assert len(ids) == len(set(ids)), "an answer is stored twice"
    answers = [(event["fen"], event["right"]) for event in stored if event["kind"] == "answer"]
    assert Counter(answers) == Counter(map(tuple, given)), (len(answers), len(given))
    assert len(given) == 300 and kills > 5, (len(given), kills)
    counts = {card["at"]["fen"]: (card["right"], card["wrong"]) for card in known["cards"]}
    by_place = Counter(answers)
    assert counts == {fen: (by_place[fen, True], by_place[fen, False]) for fen, _ in answers}
    return f"{len(given)} answers in {len(counts)} positions, {kills} kills"
