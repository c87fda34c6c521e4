"""Panels of the page of `tabia explore`: tabs by keyboard, what stays visible, which requests are sent, games, files."""

import re

from playwright.sync_api import Page, expect

from pages import SAMPLE, SIZES, expect_status, explorer, holds, index, open_address, page_of, press, reload, saved_by
from paths import STARTER, copy_starter, folder, user_data
from procs import poll, run
from runner import case

CHOSEN = "document.querySelector('#tabs [aria-selected=true]').id === '%s-tab' && document.querySelector('#%s-panel').checkVisibility()"

# Visible panels: one, whatever is chosen.
PANELS = "[...document.querySelectorAll('[role=tabpanel]')].filter((one) => one.checkVisibility()).length"

# Fully visible rows of the table.
ROWS = """(() => {
    const place = document.querySelector('#books').getBoundingClientRect(), foot = document.querySelector('#books tfoot').getBoundingClientRect();
    return [...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= Math.min(place.bottom, foot.top, innerHeight) + 1).length;
})()"""

# Later requests to the program, by path.
ASKED = "performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => ['/api/line', '/lichess', '/api/games'].includes(path)).sort().join(' ')"


def fill(page: Page, field: str, text: str, event: str = "change") -> None:
    page.evaluate(f"(() => {{ const field = document.querySelector('{field}'); field.value = '{text}'; field.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }})()")


def chosen(page: Page, name: str) -> None:
    holds(page, CHOSEN % (name, name))
    assert page.evaluate(PANELS) == 1, name


# The squares and letters of the pieces on the small board; nothing if it is hidden.
SMALL_BOARD = "(() => { const place = document.querySelector('#preview'); return place.checkVisibility() ? [...place.querySelectorAll('.piece')].map((one) => one.dataset.on + one.dataset.letter).sort().join(' ') : ''; })()"


@case(limit=300, browsers=True)
def explorer_chooses_panels_by_keys_which_can_be_switched_off_and_shows_own_games_and_positions_on_a_small_board():
    with explorer(STARTER, index(folder("explore") / "games.tgx")) as server, page_of(server, "?play=e2e4") as page:
        rows = poll(lambda: page.evaluate(ROWS), lambda rows: rows >= 9)
        assert rows >= 9, f"{rows} rows"
        # One key each; the table stays, and no game is read without a request.
        for key, panel in (("i", "games"), ("r", "train"), ("o", "choice"), ("b", "book")):
            press(page, key)
            chosen(page, panel)
            assert page.evaluate(ROWS) >= 5, panel
        # The arrow keys move between tabs, not along the line.
        page.evaluate("document.querySelector('#book-tab').focus()")
        for key, panel in (("ArrowLeft", "choice"), ("ArrowRight", "book"), ("ArrowRight", "games"), ("End", "choice")):
            press(page, key)
            chosen(page, panel)
            holds(page, f"document.activeElement.id === '{panel}-tab'")
        assert page.evaluate("document.querySelector('#line [aria-current]').textContent") == "e4"
        # The same key again moves the focus into the panel, Escape out of it: then the arrow keys move along the line.
        page.evaluate("document.activeElement.blur()")
        press(page, "o")
        holds(page, "document.activeElement.closest('#choice-panel')")
        press(page, "Escape", "ArrowLeft")
        holds(page, "!document.querySelector('#line [aria-current]')")
        # The choice is stored, and a hidden panel sends no requests.
        open_address(page, server.url + "?play=e2e4")
        chosen(page, "choice")
        holds(page, "document.documentElement.dataset.ready")
        before = page.evaluate(ASKED)
        press(page, "ArrowRight")
        expect(page.locator("#line button")).to_have_count(2)
        assert page.evaluate(ASKED) == before and "/api/line" not in before, (page.evaluate(ASKED))
        # The games are those with the current position.
        open_address(page, server.url + "?play=a2a4,h7h5,a4a5,h5h4")
        press(page, "i")
        holds(page, "document.querySelector('#games-none').textContent && !document.querySelectorAll('#games-list li').length")
        press(page, "Home")
        holds(page, "document.querySelectorAll('#games-list li').length > 5 && !/no game/.test(document.querySelector('#games-none').textContent)")
        # The moves have a separate column if there is room.
        open_address(page, server.url)
        press(page, "b")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            table, moves = poll(
                lambda: page.evaluate("['#books', '#line'].map((one) => document.querySelector(one).getBoundingClientRect().x)"),
                lambda now: (now[0] + 100 < now[1]) == (width >= 1600),
            )
            assert (table + 100 < moves) == (width >= 1600), f"{width}x{height}: {table} {moves}"
        # Own games are under the moves.
        asked = server.get("player?player=Karpov+Anatoli&color=white")["moves"]
        count = {move["uci"]: move["white"] + move["draws"] + move["black"] for move in asked}["d2d4"]
        assert count > 1
        page.set_viewport_size({"width": 1366, "height": 768})
        open_address(page, server.url)
        press(page, "w")
        page.click("#work-mine summary")
        fill(page, "#mine-name", "Karpov Anatoli")
        press(page, "b")
        own = page.locator('tr[data-uci="d2d4"] .name')
        expect(own).to_contain_text(f"you: {count} games, ")
        # It is kept, and is about the colour below.
        open_address(page, server.url)
        expect(own).to_contain_text(f"you: {count} games, ")
        press(page, "f")
        expect(own).not_to_contain_text(f"you: {count} games, ")
        press(page, "f")
        # The small board, after a move of the table, by pointer and by key.
        page.hover('tr[data-uci="e2e4"] td.n')
        holds(page, f"{SMALL_BOARD}.includes('e4P') && !{SMALL_BOARD}.includes('e2P')")
        press(page, "ArrowDown")
        holds(page, f"!{SMALL_BOARD}")
        press(page, "s")
        holds(page, f"{SMALL_BOARD}.includes('d4P')")
        # At the end of a game.
        press(page, "i")
        holds(page, "document.querySelectorAll('#games-list li').length > 5")
        page.hover("#games-list li:first-child button")
        holds(page, f"{SMALL_BOARD} && {SMALL_BOARD}.split(' ').length < 32")
        end = page.evaluate(SMALL_BOARD)
        page.click("#games-list li:first-child button")
        holds(page, "document.querySelectorAll('#line button').length > 10")
        press(page, "End")
        holds(page, f"[...document.querySelectorAll('#board .piece')].map((one) => one.parentNode.dataset.square + one.dataset.letter).sort().join(' ') === '{end}'")
        # Keys of one letter can be switched off.
        open_address(page, server.url)
        ranks = page.locator("#ranks > :first-child")
        first = ranks.text_content()
        press(page, "f")
        expect(ranks).not_to_have_text(first)
        second = ranks.text_content()
        page.click("#menu")
        page.click("text=Settings…")
        page.select_option("#set-keys", "off")
        press(page, "Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        press(page, "f", "w", "/", "?", "ArrowRight")
        expect(page.locator("#line button")).to_have_count(1)
        expect(ranks).to_have_text(second)
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator("#work-panel")).to_be_hidden()


# A game with Elo numbers of different lengths.
RATED = """[Event "Blitz"]
[White "Carlsen, Magnus"]
[Black "Ding, Liren"]
[WhiteElo "2882"]
[BlackElo "799"]
[Date "2019.08.10"]
[ECO "B40"]
[Result "1/2-1/2"]

1. e4 c5 2. Nf3 e6 3. d4 cxd4 4. Nxd4 a6 5. Nc3 Qc7 6. Bd3 Nf6 7. O-O Bc5 1/2-1/2
"""


@case(limit=270, browsers=True, smoke=True)
def explorer_lists_sorts_filters_replays_and_saves_games():
    here = folder("explore")
    rated, games = here / "rated.pgn", here / "games.pgn"
    rated.write_text(RATED)
    game = lambda number, event, moves, elo, date: f'[Event "{event}"]\n[Date "{date}"]\n[White "W{number}"]\n[Black "B{number}"]\n[WhiteElo "{elo}"]\n[BlackElo "{elo}"]\n[Result "1-0"]\n\n{moves} 1-0\n\n'
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7".split(" ")
    games.write_text(game(1, "Wijk", " ".join(moves), 2500, "2020.01.02") + game(2, "Amber", " ".join(moves[:6]), 2600, "1999.01.01") + game(3, "Linares", " ".join(moves[:12]), 2400, "2024.05.05") + game(4, "?", " ".join(moves[:3]), 0, "????.??.??"))
    with explorer(STARTER, index(here / "all.tgx", SAMPLE, rated), index(here / "few.tgx", games)) as server, page_of(server, "?books=tabia.ctg/all.tgx") as page:
        press(page, "i")
        holds(page, "document.querySelectorAll('#games-list li').length > 5")
        count = page.evaluate("document.querySelectorAll('#games-list li').length")
        # Each game has its columns; the best rated are first.
        cells = page.evaluate("[...document.querySelectorAll('#games-list li:first-child span')].map((one) => one.textContent)")
        assert cells == ["½-½", "Carlsen, Magnus", "2882", "Ding, Liren", "799", "Blitz", "2019", "B40", "7"], cells
        edges = "[...new Set([...document.querySelectorAll('#games-list .elo')].map((one) => Math.round(one.getBoundingClientRect().right)))].length"
        assert page.evaluate(edges) == 2, page.evaluate(edges)
        # Sorted by date, ascending and descending.
        dates = "[...document.querySelectorAll('#games-list button')].map((one) => one.title.split(' · ').at(-1))"
        fill(page, "#games-order", "newest", "input")
        newest = poll(lambda: page.evaluate(dates), lambda now: now == sorted(now, reverse=True))
        fill(page, "#games-order", "oldest", "input")
        oldest = poll(lambda: page.evaluate(dates), lambda now: now == sorted(now))
        assert len(oldest) == len(newest) == count and oldest[0] < newest[0], (newest, oldest)
        fill(page, "#games-order", "", "input")
        # Words of a player's name leave only that player's games of the whole index.
        player = page.evaluate("document.querySelector('#games-list .player').textContent")
        fill(page, "#games-words", player.lower(), "input")
        players = "[...document.querySelectorAll('#games-list button')].map((one) => one.title)"
        poll(lambda: page.evaluate(players), lambda left: left and all(player in one for one in left))
        fill(page, "#games-words", "", "input")
        expect(page.locator("#games-list li")).to_have_count(count)
        # A named filter: its digit applies it, and clears it again, from anywhere.
        fill(page, "#games-until", "1500-01")
        holds(page, "document.querySelector('#games-none').textContent")
        page.click("#games-more summary")
        holds(page, "document.querySelector('#games-more').open")
        fill(page, "#games-name", "old <b>times</b>")
        page.click("#games-sets button[type=submit]")
        holds(page, "document.querySelector('#games-named').textContent === '1 old <b>times</b>'")
        fill(page, "#games-until", "")
        expect(page.locator("#games-list li")).to_have_count(count)
        page.evaluate("document.activeElement.blur()")
        press(page, "b", "1")
        chosen(page, "games")
        holds(page, "document.querySelector('#games-none').textContent && document.querySelector('#games-until').value === '1500-01'")
        press(page, "1")
        holds(page, f"document.querySelectorAll('#games-list li').length === {count} && document.querySelector('#games-until').value === ''")
        # It is stored.
        open_address(page, server.url + "?play=e2e4,c7c5&books=tabia.ctg/all.tgx")
        expect(page.locator("#games-named li")).to_have_count(1)
        # The games with the position; the chosen one is shown from there.
        wanted = server.get("api/games?play=e2e4,c7c5&books=tabia.ctg/all.tgx")["games"]
        assert len(wanted) > 15
        expect(page.locator("#games-list li")).to_have_count(len(wanted))
        page.click("#games-list button")
        # At the position on the board; the game continues from there.
        holds(page, "document.querySelectorAll('#line button').length > 10")
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        press(page, "ArrowRight")
        expect(page.locator("#line [aria-current]")).not_to_have_text("c5")
        # The next and the previous game of the list, by one key each.
        header = page.locator("#line .game")
        first = header.inner_text()
        press(page, "PageDown")
        expect(header).not_to_have_text(first)
        press(page, "PageUp")
        expect(header).to_have_text(first)
        # A list of few games, by its columns.
        open_address(page, server.url + "?books=tabia.ctg/few.tgx")
        page.click("#games-tab")
        names = lambda: page.locator("#games-list .player:nth-child(2)").all_text_contents()
        # From either end; games without a value are last. A third click brings back the order of the index, by Elo.
        for orders, first, second in (("event event-down", ["W2", "W3", "W1", "W4"], ["W1", "W3", "W2", "W4"]), ("moves moves-up", ["W1", "W3", "W2", "W4"], ["W4", "W2", "W3", "W1"]), ("newest oldest", ["W3", "W1", "W2", "W4"], ["W2", "W1", "W3", "W4"])):
            head = page.locator(f'#games-head [data-orders="{orders}"]')
            for expected in (first, second, ["W2", "W1", "W3", "W4"]):
                head.click()
                assert poll(names, lambda now: now == expected) == expected, (orders, names(), expected)
        elo = page.locator('#games-head [data-orders="elo elo-up"]')
        expect(elo).to_have_attribute("aria-pressed", "true")
        elo.click()
        assert poll(names, lambda now: now == ["W3", "W1", "W2", "W4"]) == ["W3", "W1", "W2", "W4"], names()
        assert page.locator("#games-list .plies").all_text_contents() == ["4", "5", "2", "1"]
        # The same games, in the same order; what was filtered out is not there.
        page.fill("#games-words", "w1")
        expect(page.locator("#games-list li")).to_have_count(1)
        page.fill("#games-words", "")
        expect(page.locator("#games-list li")).to_have_count(4)
        saved = saved_by(page, lambda: page.click("#games-save")).read_text()
        assert re.findall(r'White "(\w+)"', saved) == ["W3", "W1", "W2", "W4"], saved
        expect(page.locator("#status")).to_have_text("Saved: 4 games")
        # Below 700 pixels names come before Elo, which is left out.
        page.set_viewport_size({"width": 600, "height": 900})
        expect(page.locator("#games-list .elo").first).to_be_hidden()
        expect(page.locator("#games-order")).to_be_visible()
        # Find has the players beside the openings.
        press(page, "/")
        page.fill("#search-text", "w1")
        expect(page.locator("#search-people button")).to_have_count(1)


@case(limit=300, browsers=True)
def explorer_opens_books_and_games_of_a_folder_once_indexes_games_and_filters_their_table():
    here = folder("explore")
    library = here / "library"
    (library / "below").mkdir(parents=True)
    copy_starter(library / "below", "mine")
    index(library / "games.tgx")
    (library / "broken.ctg").write_text("no book")
    (here / "secret.ctg").write_text("elsewhere")
    (library / "link.ctg").symlink_to(here / "secret.ctg")
    listed = "[...document.querySelectorAll('#files-list span:first-child')].map((one) => one.textContent).join(' ')"
    shown = "document.querySelector('#first-book').value"
    counts = "[...document.querySelectorAll('#books td.n')].map((one) => Number(one.textContent.replace(/\\D/g, '')))"
    with explorer(STARTER, "--folder", library) as server, page_of(server) as page:
        expect(page.locator("#open-book")).to_be_visible()
        press(page, "p")
        holds(page, f"{listed} === 'broken.ctg games.tgx mine.ctg'")
        # A damaged file gives one sentence, and the book stays open.
        press(page, "ArrowDown", "Enter")
        holds(page, "/broken.ctg/.test(document.querySelector('#files-dialog #status')?.textContent)")
        assert page.evaluate(shown) == "tabia.ctg"
        press(page, "ArrowUp")
        fill(page, "#files-dialog input", "mine", "input")
        holds(page, f"{listed} === 'mine.ctg'")
        press(page, "Enter")
        holds(page, f"{shown} === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        holds(page, "document.querySelector('#books button.pencil')")
        # It comes first the next time, and the games are a column like a book.
        press(page, "p")
        holds(page, f"{listed} === 'mine.ctg broken.ctg games.tgx'")
        press(page, "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        holds(page, f"{shown} === 'games.tgx' && document.querySelectorAll('#books tr[data-uci]').length > 3")
        everything = page.evaluate(counts)
        # A filter affects the table and the list, is shown beside both, and its chip removes it.
        press(page, "i")
        holds(page, "document.querySelectorAll('#games-list li').length > 50")
        fill(page, "#games-result", "1-0")
        holds(page, "document.querySelector('#books .chip')?.textContent.startsWith('Result 1-0')")
        won = page.evaluate(counts)
        assert 0 < won[0] < everything[0] and sum(won) < sum(everything), (won, everything)
        holds(page, "[...document.querySelectorAll('#games-list .result')].every((one) => one.textContent === '1-0')")
        assert "result=1-0" in page.evaluate("location.search")
        open_address(page, server.url + page.evaluate("location.search"))
        holds(page, "document.querySelector('#books .chip') && document.querySelector('#games-result').value === '1-0'")
        assert page.evaluate(counts) == won
        # The chip is beside the folded fields; with other panels and unfolded ones, above the table.
        page.set_viewport_size({"width": 1280, "height": 800})
        folded, above = page.locator("#games-chips .chip"), page.locator("#books .chip")
        expect(folded).to_have_text("Result 1-0 ×")
        expect(above).to_be_hidden()
        press(page, "b")
        expect(above).to_be_visible()
        press(page, "i")
        page.click("#games-more summary")
        expect(above).to_be_visible()
        expect(folded).to_be_hidden()
        # On a desk the fields are two rows.
        tops = "new Set([...document.querySelectorAll('#games-fields :is(input, select)')].map((one) => Math.round(one.getBoundingClientRect().top / 8))).size"
        assert page.evaluate(tops) == 2, page.evaluate(tops)
        page.click("#games-more summary")
        page.click("#games-chips .chip")
        holds(page, f"!document.querySelector('.chip') && {counts}.join() === '{','.join(map(str, everything))}'")
        expect(page.locator("#games-result")).to_have_value("")
    # Games that it is started with.
    here = folder("games")
    games = here / "mine.pgn"
    games.write_bytes(SAMPLE.read_bytes())
    with explorer(games) as server, page_of(server) as page:
        holds(page, "document.querySelector('#first-book').value === 'mine.pgn' && document.querySelectorAll('#books tr[data-uci]').length > 3")
        press(page, "i")
        holds(page, "document.querySelectorAll('#games-list li').length > 5")
        # Nothing in it can be changed.
        assert page.evaluate("document.querySelector('#undo').hidden && !document.querySelector('.pencil')")
    # The index lasts as long as the program.
    assert list(here.iterdir()) == [games], list(here.iterdir())

    def again(page, books):
        press(page, "p")
        expect(page.locator("#files-dialog")).to_be_visible()
        page.click("#files-list button")
        holds(page, f"!document.querySelector('#files-dialog').open && document.querySelectorAll('#first-book option').length === {books}")

    nothing = here / "nothing.pgn"
    nothing.write_text("1. e4 e5 *\n")
    refused = run("explore", "--no-open", str(nothing))
    assert refused.returncode == 2 and "nothing.pgn: no index: 1 game read; without a result: 1" in refused.stderr, refused
    nothing.unlink()
    # Without a book of one's own, the page says what to begin with.
    with explorer("--folder", here) as server, page_of(server) as page:
        page.click("#begin-games")
        expect(page.locator("#files-list button")).to_have_count(1)
        page.click("#files-list button")
        holds(page, "document.querySelector('#first-book').value === 'mine.pgn' && !document.querySelector('#files-dialog').open")
        expect(page.locator("#begin")).to_be_hidden()
        # It is not indexed twice, unless it has changed.
        again(page, 2)
        with games.open("a") as more:
            more.write('\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 1-0\n')
        again(page, 3)
    # Nor is it if the program was started with it.
    with explorer(games, "--folder", here) as server, page_of(server) as page:
        expect(page.locator("#open-book")).to_be_visible()
        again(page, 1)
        assert len(server.get("api/start")["books"]) == 1
    assert list(here.iterdir()) == [games], list(here.iterdir())
    return f"{len(everything) - 1} moves"


@case(limit=330, browsers=True)
def explorer_closes_and_opens_books_and_reads_files_chosen_or_dropped_in_the_browser():
    here = folder("explore")
    one, two = copy_starter(here, "one"), copy_starter(here, "two")
    games = here / "games.pgn"
    games.write_text("\n\n".join(f'[Event "x"]\n[White "Player {n}"]\n\n1. {move} *' for n, move in enumerate(("a3", "h3"))))
    dropped = "\n\n".join(
        f'[Event "Open"]\n[White "Player {n}"]\n[Black "Other {n}"]\n[Date "20{n:02}.??.??"]\n[Result "1-0"]\n\n1. e4 c5 2. {move} d6 1-0' for n, move in enumerate(("Nf3", "c3", "Nc3"), start=10)
    )
    drop = """([name, text]) => {
        const files = new DataTransfer();
        files.items.add(new File([text], name));
        const at = (type) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files });
        document.body.dispatchEvent(at('dragover'));
        document.body.dispatchEvent(at('drop'));
    }"""
    with explorer(one, two, STARTER) as server, page_of(server, "?books=one.ctg/two.ctg") as page:
        names = page.locator("#first-book option")
        expect(names).to_have_text(["one.ctg", "two.ctg", "tabia.ctg"])
        page.uncheck("#open-books li:nth-child(1) input")
        # A closed book is not shown and cannot be chosen.
        expect(names).to_have_text(["two.ctg", "tabia.ctg"])
        expect(page.locator("#first-book")).to_have_value("two.ctg")
        expect(page.locator("#books .pair")).to_have_count(0)
        page.wait_for_url("**/?books=two.ctg&closed=one.ctg")
        page.uncheck("#open-books li:nth-child(2) input")
        expect(names).to_have_text(["tabia.ctg"])
        expect(page.locator("#second-choice")).to_be_hidden()
        # The last one cannot be closed.
        expect(page.locator("#open-books li:nth-child(3) input")).to_be_disabled()
        page.wait_for_url("**/?books=tabia.ctg&closed=one.ctg%2Ftwo.ctg")
        # The address contains the choice; back opens them again.
        reload(page)
        expect(names).to_have_text(["tabia.ctg"])
        page.go_back()
        expect(names).to_have_text(["two.ctg", "tabia.ctg"])
        page.check("#open-books li:nth-child(1) input")
        expect(names).to_have_text(["one.ctg", "two.ctg", "tabia.ctg"])
        page.wait_for_url("**/?books=two.ctg")
        # Files stay in the browser: no request contains them.
        sent = []
        page.on("request", lambda request: sent.append((request.url, request.post_data)))
        page.set_input_files("#open-input", games)
        expect(page.locator("#games-title")).to_have_text("games.pgn: 2 games")
        expect(page.locator("#games-panel")).to_be_visible()
        page.click("#open-list li button:first-child")
        expect(page.locator("#games-list li")).to_have_count(2)
        assert not any(body or "games" in url for url, body in sent), sent
        page.click("#games-list li:nth-child(2) button")
        # It is shown from the position at which it was chosen.
        expect(page.locator("#line button.later")).to_have_text(["h3"])
        page.click('#open-list button[aria-label="Close games.pgn"]')
        expect(page.locator("#open-list li")).to_have_count(0)
        # A book in none of the folders of the program: the browser does not say where it is.
        page.set_input_files("#open-input", one)
        expect_status(page, "is a copy, which stays in the list")
        nothing = here / "nothing.pgn"
        nothing.write_text("nonsense")
        page.set_input_files("#open-input", nothing)
        expect_status(page, "neither a FEN nor a game")
        expect(page.locator("#open-list li")).to_have_count(0)
        # Dropped on the page.
        open_address(page, server.url + "?play=e2e4,c7c5")
        page.evaluate(drop, ["open.pgn", dropped])
        expect(page.locator("#games-title")).to_have_text("open.pgn: 3 games")
        expect(page.locator("#games-list li")).to_have_count(3)
        page.fill("#games-words", "player 2011")
        expect(page.locator("#games-list li")).to_have_count(1)
        page.click("#games-list button")
        expect(page.locator("#line button")).to_have_text(["e4", "c5", "c3", "d6"])
        # At the position on the board, so that the game can be played through from there.
        expect(page.locator("#line [aria-current]")).to_have_text("c5")
        press(page, "ArrowRight")
        expect(page.locator("#line [aria-current]")).to_have_text("c3")
        # A single game is shown at once; invalid text gives a message.
        page.evaluate(drop, ["one.pgn", "1. d4 d5 2. c4 *"])
        expect(page.locator("#line button")).to_have_text(["d4", "d5", "c4"])
        page.evaluate(drop, ["picture.png", "nonsense"])
        expect_status(page, "neither a FEN nor a game")
        # Without an index there are no games with a position.
        page.click("#book-tab")
        press(page, "i")
        expect(page.locator("#games-none")).to_contain_text("No index of games is open")
        expect(page.locator("#games-more")).to_be_hidden()
        # Until the program is asked for one: the games are then a book.
        open_address(page, server.url)
        page.evaluate(drop, ["open.pgn", dropped])
        page.click('#open-list button[aria-label="Index open.pgn"]')
        expect(page.locator("#first-book")).to_have_value("open.pgn")
        expect(page.locator("#books tr[data-uci] button.move")).to_have_text(["e4"])
        expect(page.locator("#games-list li")).to_have_count(3)
        expect(page.locator("#open-list li")).to_have_count(0)
        page.click("#games-list li:first-child button")
        expect(page.locator("#line button")).to_have_count(4)
        # What cannot be indexed stays a list, with the reason.
        page.evaluate(drop, ["late.pgn", dropped.replace("1-0", "*")])
        page.click('#open-list button[aria-label="Index late.pgn"]')
        expect_status(page, "late.pgn: no index")
        expect(page.locator("#open-list li")).to_have_count(1)
    mine = here / "mine.pgn"
    # As an older program writes it: not in UTF-8, which the browser takes it for.
    mine.write_bytes(dropped.replace("Player", "Müller").encode("latin-1"))
    with explorer() as server, page_of(server) as page:
        # Someone without a book begins with training.
        page.click("#begin-train")
        expect(page.locator("#train-offer")).to_be_visible()
        press(page, "b", "ArrowRight")
        expect(page.locator("#begin")).to_be_hidden()
        # Or with games: their index is made at once.
        open_address(page, server.url)
        page.click("#begin-games")
        with page.expect_file_chooser() as choosing:
            page.click("text=Choose a file…")
        choosing.value.set_files(mine)
        expect(page.locator("#first-book")).to_have_value("mine.pgn")
        expect(page.locator("#books tr[data-uci] button.move")).to_have_text(["e4"])
        expect(page.locator("#begin")).to_be_hidden()
        press(page, "i")
        expect(page.locator("#games-list .player").first).to_contain_text("Müller")
    with explorer() as server, page_of(server) as page:
        # A file chosen in the browser is copied, with those that belong to it; it can be changed, and is remembered.
        page.click("#begin-book")
        expect(page.locator("#files-dialog")).to_be_visible()
        mine = copy_starter(folder("chosen"), "mine")
        page.set_input_files("#files-chosen", [mine.with_suffix(ending) for ending in (".ctb", ".ctg", ".cto")])
        holds(page, "document.querySelector('#first-book').value === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        holds(page, "document.querySelector('#status').textContent.startsWith('mine.ctg is a copy')")
        holds(page, "document.querySelector('button[aria-label=\"Change e4\"]')")
    # The program started anew lists it first, and a file that is listed is opened where it is.
    with explorer() as server, page_of(server) as page:
        page.click("#begin-book")
        holds(page, "document.querySelector('#files-list li:first-child').textContent.includes('opened last')")
        stored = lambda: sorted(user_data().glob("tabia/books/*"))
        before, [copy] = stored(), user_data().glob("tabia/books/*/mine.ctg")
        page.set_input_files("#files-chosen", copy)
        holds(page, "document.querySelector('#first-book').value === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        expect(page.locator("#status")).not_to_contain_text("is a copy")
        assert stored() == before
        # What is not a book says so.
        press(page, "p")
        wrong = here / "wrong.ctg"
        wrong.write_text("no book")
        page.set_input_files("#files-chosen", wrong)
        expect_status(page, "wrong.ctg")
        expect(page.locator("#first-book")).to_have_value("mine.ctg")
        assert stored() == before
