"""The page of `tabia explore` when answers come late, in another order, or after the page has changed."""

import contextlib
from typing import Iterator

from playwright.sync_api import Page, Route, expect

from pages import Server, drag, expect_line, explorer, marks, open_address, page_of, paste, reload, square
from paths import copy_starter, folder
from procs import run, wait_until
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


def mark(page: Page, san: str, value: str) -> None:
    page.click(f'button[aria-label="Change {san}"]')
    page.check(f'input[name="mark"][value="{value}"]', force=True)


@case(limit=90, browsers=True, smoke=True)
def explorer_shows_the_last_request_even_if_earlier_answers_are_late():
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
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#line [aria-current]")).to_have_text("d5")
        expect(page.locator("#line button")).to_have_text(["d4", "d5", "c4"])
        # Enter selects the opening that was typed, not one of an older list.
        page.keyboard.press("/")
        page.fill("#search-text", "B90")
        expect(page.locator("#search-list button").first).to_contain_text("Najdorf")
        with delayed(page, "**/api/openings*") as routes:
            page.fill("#search-text", "caro-kann defense")
            # Firefox types it letter by letter; only such a wait lets the driver report requests.
            wait_until(lambda: page.wait_for_timeout(10) or any("defense" in route.request.url for route in routes), 15, lambda: routes)
            page.keyboard.press("Enter")
        expect(page.locator("#opening")).to_contain_text("Caro-Kann")
        # Each move typed is for the position after the move typed before it.
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        with delayed(page, "**/api/position*") as routes:
            page.keyboard.press("m")
            for text in ("Nf3", "d5", "g3"):
                page.keyboard.type(text)
                page.keyboard.press("Enter")
            wait_for_delayed(page, routes, 3)
        expect(page.locator("#line [aria-current]")).to_have_text("g3")
        # Going back before a step's answer has come leads to the position before it.
        open_address(page, server.url + "?play=e2e4,c7c5&at=0")
        page.keyboard.press("End")
        expect_line(page, "e4", "c5")
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        with delayed(page, "**/api/position*") as routes:
            page.keyboard.press("ArrowRight")
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


@case(limit=120, browsers=True)
def explorer_makes_changes_in_the_order_of_the_requests_and_at_their_position():
    book = copy_starter(folder("explore"))
    before = book.read_bytes()
    with explorer(book) as server, intercepted_page(server, "?play=d2d4") as page:
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        mark(page, "Nf3", "main")
        expect(page.locator('tr[data-uci="g1f3"].main')).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator('button.move[data-uci="g1f3"]')).to_be_focused()
        # Undo reverts the last change, even if it is not written yet; then the change before it.
        with delayed(page, "**/api/edit") as routes:
            mark(page, "e4", "avoid")
            wait_for_delayed(page, routes, 1)
            page.keyboard.press("Escape")
            page.keyboard.press("Control+z")
        expect(page.locator("#status")).to_have_text("Undone: e4: mark avoid")
        assert (marks(book, "")["g1f3"], marks(book, "")["e2e4"]) == ("main", "none")
        # Two changes of the same kind, the second before the first is written: neither is a conflict.
        with delayed(page, "**/api/edit") as routes:
            mark(page, "e4", "avoid")
            wait_for_delayed(page, routes, 1)
            page.check('input[name="mark"][value="main"]', force=True)
        expect(page.locator('tr[data-uci="e2e4"].main')).to_have_count(1)
        expect(page.locator("#status")).to_have_text("Saved: e4: mark main")
        page.keyboard.press("Escape")
        expect(page.locator('button.move[data-uci="e2e4"]')).to_be_focused()
        for reported in ("e4: mark main", "e4: mark avoid", "Nf3: mark main"):
            page.keyboard.press("Control+z")
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


@case(limit=120, browsers=True)
def explorer_keeps_unfinished_input_when_a_book_changes():
    here = folder("explore")
    games = here / "games.pgn"
    games.write_text("1. e4 c5 2. Nf3 d6 1-0\n\n1. e4 e5 2. Nf3 Nc6 1/2-1/2\n")
    book = here / "repertoire.ctg"
    assert run("build", "-o", str(book), str(games)).returncode == 0
    with explorer(book) as server, page_of(server, "?play=e2e4,c7c5") as page:
        # In a separate window, because a hidden page is slow.
        other = page.context.browser.new_context().new_page()
        open_address(other, server.url + "?play=e2e4,c7c5")
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
        page.keyboard.press("Home")
        expect(page.locator("#line [aria-current]")).to_have_count(0)
        page.keyboard.press("r")
        page.uncheck("#train-learn")
        page.click("#train-form .main")
        expect(page.locator("#train-message")).to_have_text("Your move as White.")
        drag(page, "d2", "d4")
        expect(page.locator("#train-message")).to_contain_text("d4 is not the move")
        open_address(other, server.url)
        mark(other, "e4", "main")
        expect(page.locator('tr[data-uci="e2e4"] .mark')).to_have_class("mark main")
        expect(page.locator("#train-message")).to_contain_text("d4 is not the move")
        drag(page, "e2", "e4")
        expect(page.locator("#line button")).to_have_count(2)
        expect(page.locator("#train-score")).to_have_text("0 right, 1 missed, 1 to come again")


def game(white: str, moves: str) -> str:
    return f'[Event "Club"]\n[White "{white}"]\n[Black "B"]\n[Result "1-0"]\n\n{moves} 1-0\n\n'


@case(limit=120, browsers=True)
def explorer_lists_games_of_the_shown_index_and_keeps_the_list_and_what_is_typed():
    here = folder("explore")
    texts = {
        "one": game("Kasparov", "1. d4 d5") + 3 * game("Kasparov, Garry", "1. e4 e5 2. Nf3") + 2 * game("Other", "1. e4 c5 2. Nf3"),
        "two": 30 * game("Another", "1. e4 e6 2. d4"),
    }
    for name, text in texts.items():
        (here / f"{name}.pgn").write_text(text)
        assert run("index", "-o", str(here / f"{name}.tgx"), str(here / f"{name}.pgn")).returncode == 0
    with explorer(here / "one.tgx", here / "two.tgx") as server, intercepted_page(server) as page:
        page.keyboard.press("i")
        games = page.locator("#games-list li")
        expect(games).to_have_count(6)
        # A name means all its spellings; one of them can be chosen.
        page.click("#games-more summary")
        page.fill("#games-player", "kasparov")
        page.keyboard.press("Enter")
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
        page.keyboard.press("Enter")
        expect(games).to_have_count(6)
        # What is typed while an answer is on its way stays, in this field and in others.
        with delayed(page, "**/api/position*") as routes:
            page.select_option("#games-result", "1-0")
            wait_for_delayed(page, routes, 1)
            page.locator("#games-player").press_sequentially("Oth")
        page.wait_for_selector("#games-chips .chip", state="attached")
        expect(page.locator("#games-player")).to_have_value("Oth")
        page.keyboard.press("Enter")
        expect(page.locator("#games-none")).to_have_text("There is no game with this position under these filters.")
        page.fill("#games-player", "")
        page.keyboard.press("Enter")
        expect(games).to_have_count(6)
        # The list and the mark of the open game stay while it is stepped through.
        page.locator("#games-list button", has_text="Other").first.click()
        current = page.locator("#games-list [aria-current=true]")
        expect(current).to_have_count(1)
        expect(page.locator("#line button")).to_have_text(["e4", "c5", "Nf3"])
        for move in ("e4", "c5"):
            page.keyboard.press("ArrowRight")
            expect(page.locator("#line [aria-current]")).to_have_text(move)
        # Requests of a list begin a moment after a step.
        page.wait_for_timeout(500)
        expect(games).to_have_count(6)
        expect(current).to_have_count(1)
        # Until another one is wanted.
        page.click("#games-here")
        expect(games).to_have_count(2)
        expect(current).to_have_count(1)
