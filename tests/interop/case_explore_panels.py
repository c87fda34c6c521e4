"""Panels of the page of `tabia explore`: tabs by keyboard, what stays visible, which requests are sent."""

from case_explore_changes import window
from pages import SAMPLE, SIZES, explorer
from paths import STARTER, copy_starter, folder, user_data
from procs import poll, run
from runner import case
from playwright.sync_api import expect

CHOSEN = "document.querySelector('#tabs [aria-selected=true]').id === '%s-tab' && document.querySelector('#%s-panel').checkVisibility()"

# Visible panels: one, whatever is chosen.
PANELS = "return [...document.querySelectorAll('[role=tabpanel]')].filter((one) => one.checkVisibility()).length"

# Fully visible rows of the table.
ROWS = """return (() => {
    const place = document.querySelector('#books').getBoundingClientRect(), foot = document.querySelector('#books tfoot').getBoundingClientRect();
    return [...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= Math.min(place.bottom, foot.top, innerHeight) + 1).length;
})()"""

# Later requests to the program, by path.
ASKED = "return performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => ['/api/line', '/lichess', '/api/games'].includes(path)).sort().join(' ')"


def fill(page, field: str, text: str, event: str = "change") -> None:
    page.run(f"return (() => {{ const field = document.querySelector('{field}'); field.value = '{text}'; field.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }})()")


def chosen(page, name: str) -> None:
    page.wait_for(CHOSEN % (name, name))
    assert page.run(PANELS) == 1, name


@case(limit=150, browsers=True)
def explorer_chooses_panels_by_keys_which_can_be_switched_off_beside_the_table():
    here = folder("explore")
    index = here / "games.tgx"
    assert run("index", "-o", str(index), str(SAMPLE)).returncode == 0
    with explorer(STARTER, index) as server:
        with window() as page:
            page.open(server.url + "?play=e2e4")
            page.size(1366, 768)
            rows = poll(lambda: page.run(ROWS), lambda rows: rows >= 9)
            assert rows >= 9, f"{rows} rows"
            # One key each; the table stays, and no game is read without a request.
            for key, panel in (("i", "games"), ("r", "train"), ("o", "choice"), ("b", "book")):
                page.keys(key)
                chosen(page, panel)
                assert page.run(ROWS) >= 5, panel
            # The arrow keys move between tabs, not along the line.
            page.run("return document.querySelector('#book-tab').focus()")
            for key, panel in (("ArrowLeft", "choice"), ("ArrowRight", "book"), ("ArrowRight", "games"), ("End", "choice")):
                page.keys(key)
                chosen(page, panel)
                page.wait_for(f"document.activeElement.id === '{panel}-tab'")
            assert page.run("return document.querySelector('#line [aria-current]').textContent") == "e4"
            # The same key again moves the focus into the panel, Escape out of it: then the arrow keys move along the line.
            page.run("return document.activeElement.blur()")
            page.keys("o")
            page.wait_for("document.activeElement.closest('#choice-panel')")
            page.keys("Escape", "ArrowLeft")
            page.wait_for("!document.querySelector('#line [aria-current]')")
            # The choice is stored, and a hidden panel sends no requests.
            page.open(server.url + "?play=e2e4")
            chosen(page, "choice")
            page.wait_for("document.documentElement.dataset.ready")
            before = page.run(ASKED)
            page.keys("ArrowRight")
            page.wait_for("document.querySelectorAll('#line button').length === 2")
            assert page.run(ASKED) == before and "/api/line" not in before, (page.run(ASKED))
            # The games are those with the current position.
            page.open(server.url + "?play=a2a4,h7h5,a4a5,h5h4")
            page.keys("i")
            page.wait_for("document.querySelector('#games-none').textContent && !document.querySelectorAll('#games-list li').length")
            page.keys("Home")
            page.wait_for("document.querySelectorAll('#games-list li').length > 5 && !/no game/.test(document.querySelector('#games-none').textContent)")
            # The moves have a separate column if there is room.
            page.open(server.url)
            page.keys("b")
            for width, height in SIZES:
                page.size(width, height)
                table, moves = poll(
                    lambda: page.run("return ['#books', '#line'].map((one) => document.querySelector(one).getBoundingClientRect().x)"),
                    lambda now: (now[0] + 100 < now[1]) == (width >= 1600),
                )
                assert (table + 100 < moves) == (width >= 1600), f"{width}x{height}: {table} {moves}"
            # Keys of one letter can be switched off.
            ranks = page.page.locator("#ranks > :first-child")
            first = ranks.text_content()
            page.keys("f")
            expect(ranks).not_to_have_text(first)
            second = ranks.text_content()
            page.click("#menu")
            page.click("text=Settings…")
            page.page.select_option("#set-keys", "off")
            page.keys("Escape")
            expect(page.page.locator("dialog[open]")).to_have_count(0)
            page.keys("f", "w", "/", "?", "ArrowRight")
            expect(page.page.locator("#line button")).to_have_count(1)
            expect(ranks).to_have_text(second)
            expect(page.page.locator("dialog[open]")).to_have_count(0)
            expect(page.page.locator("#work-panel")).to_be_hidden()


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


@case(limit=150, browsers=True, smoke=True)
def explorer_lists_orders_filters_and_replays_games():
    here = folder("explore")
    index, rated = here / "games.tgx", here / "rated.pgn"
    rated.write_text(RATED)
    assert run("index", "-o", str(index), str(SAMPLE), str(rated)).returncode == 0
    with explorer(STARTER, index) as server:
        with window() as page:
            page.open(server.url)
            page.keys("i")
            page.wait_for("document.querySelectorAll('#games-list li').length > 5")
            count = page.run("return document.querySelectorAll('#games-list li').length")

            # Each game has its columns; the best rated are first.
            cells = page.run("return [...document.querySelectorAll('#games-list li:first-child span')].map((one) => one.textContent)")
            assert cells == ["½-½", "Carlsen, Magnus", "2882", "Ding, Liren", "799", "Blitz", "2019", "B40", "7"], cells
            edges = "return [...new Set([...document.querySelectorAll('#games-list .elo')].map((one) => Math.round(one.getBoundingClientRect().right)))].length"
            assert page.run(edges) == 2, page.run(edges)
            # Sorted by date, ascending and descending.
            dates = "return [...document.querySelectorAll('#games-list button')].map((one) => one.title.split(' · ').at(-1))"
            fill(page, "#games-order", "newest", "input")
            newest = poll(lambda: page.run(dates), lambda now: now == sorted(now, reverse=True))
            fill(page, "#games-order", "oldest", "input")
            oldest = poll(lambda: page.run(dates), lambda now: now == sorted(now))
            assert len(oldest) == len(newest) == count and oldest[0] < newest[0], (newest, oldest)
            fill(page, "#games-order", "", "input")
            # Words of a player's name leave only that player's games of the whole index.
            player = page.run("return document.querySelector('#games-list .player').textContent")
            fill(page, "#games-words", player.lower(), "input")
            players = "return [...document.querySelectorAll('#games-list button')].map((one) => one.title)"
            poll(lambda: page.run(players), lambda left: left and all(player in one for one in left))
            fill(page, "#games-words", "", "input")
            page.wait_for(f"document.querySelectorAll('#games-list li').length === {count}")
            # A named filter: its digit applies it, and clears it again, from anywhere.
            fill(page, "#games-until", "1500-01")
            page.wait_for("document.querySelector('#games-none').textContent")
            page.click("#games-more summary")
            page.wait_for("document.querySelector('#games-more').open")
            fill(page, "#games-name", "old <b>times</b>")
            page.click("#games-sets button[type=submit]")
            page.wait_for("document.querySelector('#games-named').textContent === '1 old <b>times</b>'")
            fill(page, "#games-until", "")
            page.wait_for(f"document.querySelectorAll('#games-list li').length === {count}")
            page.run("return document.activeElement.blur()")
            page.keys("b", "1")
            chosen(page, "games")
            page.wait_for("document.querySelector('#games-none').textContent && document.querySelector('#games-until').value === '1500-01'")
            page.keys("1")
            page.wait_for(f"document.querySelectorAll('#games-list li').length === {count} && document.querySelector('#games-until').value === ''")
            # It is stored.
            page.open(server.url + "?play=e2e4,c7c5")
            page.wait_for("document.querySelectorAll('#games-named li').length === 1")
            # The games with the position; the chosen one is shown from there.
            wanted = server.get("api/games?play=e2e4,c7c5")["games"]
            assert len(wanted) > 15
            expect(page.page.locator("#games-list li")).to_have_count(len(wanted))
            page.click("#games-list button")
            # At the position on the board; the game continues from there.
            page.wait_for("document.querySelectorAll('#line button').length > 10")
            expect(page.page.locator("#line [aria-current]")).to_have_text("c5")
            page.keys("ArrowRight")
            expect(page.page.locator("#line [aria-current]")).not_to_have_text("c5")
            # The next and the previous game of the list, by one key each.
            header = page.page.locator("#line .game")
            first = header.inner_text()
            page.keys("PageDown")
            expect(header).not_to_have_text(first)
            page.keys("PageUp")
            expect(header).to_have_text(first)


@case(limit=150, browsers=True)
def explorer_opens_books_and_games_of_a_folder_and_filters_their_table():
    here = folder("explore")
    library = here / "library"
    (library / "below").mkdir(parents=True)
    copy_starter(library / "below", "mine")
    assert run("index", "-o", str(library / "games.tgx"), str(SAMPLE)).returncode == 0
    (library / "broken.ctg").write_text("no book")
    (here / "secret.ctg").write_text("elsewhere")
    (library / "link.ctg").symlink_to(here / "secret.ctg")
    listed = "[...document.querySelectorAll('#files-list span:first-child')].map((one) => one.textContent).join(' ')"
    shown = "document.querySelector('#first-book').value"
    games = "[...document.querySelectorAll('#books td.n')].map((one) => Number(one.textContent.replace(/\\D/g, '')))"
    with explorer(STARTER, "--folder", library) as server, window() as page:
        page.open(server.url)
        page.wait_for("!document.querySelector('#open-book').hidden")
        page.keys("p")
        page.wait_for(f"{listed} === 'broken.ctg games.tgx mine.ctg'")
        # A damaged file gives one sentence, and the book stays open.
        page.keys("ArrowDown", "Enter")
        page.wait_for("/broken.ctg/.test(document.querySelector('#files-dialog #status')?.textContent)")
        assert page.run(f"return {shown}") == "tabia.ctg"
        page.keys("ArrowUp")
        fill(page, "#files-dialog input", "mine", "input")
        page.wait_for(f"{listed} === 'mine.ctg'")
        page.keys("Enter")
        page.wait_for(f"{shown} === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        page.wait_for("document.querySelector('#books button.pencil')")
        # It comes first the next time, and the games are a column like a book.
        page.keys("p")
        page.wait_for(f"{listed} === 'mine.ctg broken.ctg games.tgx'")
        page.keys("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        page.wait_for(f"{shown} === 'games.tgx' && document.querySelectorAll('#books tr[data-uci]').length > 3")
        everything = page.run(f"return {games}")
        # A filter affects the table and the list, is shown beside both, and its chip removes it.
        page.keys("i")
        page.wait_for("document.querySelectorAll('#games-list li').length > 50")
        fill(page, "#games-result", "1-0")
        page.wait_for("document.querySelector('#books .chip')?.textContent.startsWith('Result 1-0')")
        won = page.run(f"return {games}")
        assert 0 < won[0] < everything[0] and sum(won) < sum(everything), (won, everything)
        page.wait_for("[...document.querySelectorAll('#games-list .result')].every((one) => one.textContent === '1-0')")
        assert "result=1-0" in page.run("return location.search")
        page.open(server.url + page.run("return location.search"))
        page.wait_for("document.querySelector('#books .chip') && document.querySelector('#games-result').value === '1-0'")
        assert page.run(f"return {games}") == won
        # The chip is beside the folded fields; with other panels and unfolded ones, above the table.
        page.size(1280, 800)
        folded, above = page.page.locator("#games-chips .chip"), page.page.locator("#books .chip")
        expect(folded).to_have_text("Result 1-0 ×")
        expect(above).to_be_hidden()
        page.keys("b")
        expect(above).to_be_visible()
        page.keys("i")
        page.click("#games-more summary")
        expect(above).to_be_visible()
        expect(folded).to_be_hidden()
        # On a desk the fields are two rows.
        tops = "return new Set([...document.querySelectorAll('#games-fields :is(input, select)')].map((one) => Math.round(one.getBoundingClientRect().top / 8))).size"
        assert page.run(tops) == 2, page.run(tops)
        page.click("#games-more summary")
        page.click("#games-chips .chip")
        page.wait_for(f"!document.querySelector('.chip') && {games}.join() === '{','.join(map(str, everything))}'")
        assert page.run("return document.querySelector('#games-result').value") == ""
    return f"{len(everything) - 1} moves"


# The squares and letters of the pieces on the small board; nothing if it is hidden.
SMALL_BOARD = "(() => { const place = document.querySelector('#preview'); return place.checkVisibility() ? [...place.querySelectorAll('.piece')].map((one) => one.dataset.on + one.dataset.letter).sort().join(' ') : ''; })()"


@case(limit=150, browsers=True)
def explorer_shows_own_games_under_the_moves_and_positions_on_a_small_board():
    here = folder("explore")
    index = here / "games.tgx"
    assert run("index", "-o", str(index), str(SAMPLE)).returncode == 0
    name = "Karpov Anatoli"
    with explorer(STARTER, index) as server, window() as page:
        asked = server.get(f"player?player={name.replace(' ', '+')}&color=white")["moves"]
        count = {move["uci"]: move["white"] + move["draws"] + move["black"] for move in asked}["d2d4"]
        assert count > 1
        page.open(server.url)
        page.keys("w")
        page.click("#work-mine summary")
        fill(page, "#mine-name", name)
        page.keys("b")
        own = page.page.locator('tr[data-uci="d2d4"] .name')
        expect(own).to_contain_text(f"you: {count} games, ")
        # It is kept, and is about the colour below.
        page.open(server.url)
        expect(own).to_contain_text(f"you: {count} games, ")
        page.keys("f")
        expect(own).not_to_contain_text(f"you: {count} games, ")
        page.keys("f")
        # The small board, after a move of the table, by pointer and by key.
        page.page.hover('tr[data-uci="e2e4"] td.n')
        page.wait_for(f"{SMALL_BOARD}.includes('e4P') && !{SMALL_BOARD}.includes('e2P')")
        page.keys("ArrowDown")
        page.wait_for(f"!{SMALL_BOARD}")
        page.keys("s")
        page.wait_for(f"{SMALL_BOARD}.includes('d4P')")
        # At the end of a game.
        page.keys("i")
        page.wait_for("document.querySelectorAll('#games-list li').length > 5")
        page.page.hover("#games-list li:first-child button")
        page.wait_for(f"{SMALL_BOARD} && {SMALL_BOARD}.split(' ').length < 32")
        end = page.run(f"return {SMALL_BOARD}")
        page.click("#games-list li:first-child button")
        page.wait_for("document.querySelectorAll('#line button').length > 10")
        page.keys("End")
        page.wait_for(f"[...document.querySelectorAll('#board .piece')].map((one) => one.parentNode.dataset.square + one.dataset.letter).sort().join(' ') === '{end}'")


@case(limit=150, browsers=True)
def explorer_indexes_games_that_it_is_started_with_or_opens():
    here = folder("explore")
    games = here / "mine.pgn"
    games.write_bytes(SAMPLE.read_bytes())
    with explorer(games) as server, window() as page:
        page.open(server.url)
        page.wait_for("document.querySelector('#first-book').value === 'mine.pgn' && document.querySelectorAll('#books tr[data-uci]').length > 3")
        page.keys("i")
        page.wait_for("document.querySelectorAll('#games-list li').length > 5")
        # Nothing in it can be changed.
        assert page.run("document.querySelector('#undo').hidden && !document.querySelector('.pencil')")
    # The index lasts as long as the program.
    assert list(here.iterdir()) == [games], list(here.iterdir())

    def again(page, books):
        page.keys("p")
        page.wait_for("document.querySelector('#files-dialog').open")
        page.click("#files-list button")
        page.wait_for(f"!document.querySelector('#files-dialog').open && document.querySelectorAll('#first-book option').length === {books}")

    nothing = here / "nothing.pgn"
    nothing.write_text("1. e4 e5 *\n")
    refused = run("explore", "--no-open", str(nothing))
    assert refused.returncode == 2 and "nothing.pgn: no index: 1 game read; without a result: 1" in refused.stderr, refused
    nothing.unlink()
    # Without a book of one's own, the page says what to begin with.
    with explorer("--folder", here) as server, window() as page:
        page.open(server.url)
        page.click("#begin-games")
        page.wait_for("document.querySelectorAll('#files-list button').length === 1")
        page.click("#files-list button")
        page.wait_for("document.querySelector('#first-book').value === 'mine.pgn' && !document.querySelector('#files-dialog').open")
        page.wait_for("!document.querySelector('#begin').checkVisibility()")
        # It is not indexed twice, unless it has changed.
        again(page, 2)
        with games.open("a") as more:
            more.write('\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 1-0\n')
        again(page, 3)
    # Nor is it if the program was started with it.
    with explorer(games, "--folder", here) as server, window() as page:
        page.open(server.url)
        page.wait_for("!document.querySelector('#open-book').hidden")
        again(page, 1)
        assert len(server.get("api/start")["books"]) == 1
    assert list(here.iterdir()) == [games], list(here.iterdir())
    with explorer() as server, window() as page:
        page.open(server.url)
        # A file chosen in the browser is copied, with those that belong to it; it can be changed, and is remembered.
        page.click("#begin-book")
        page.wait_for("document.querySelector('#files-dialog').open")
        mine = copy_starter(folder("chosen"), "mine")
        page.page.set_input_files("#files-chosen", [mine.with_suffix(ending) for ending in (".ctb", ".ctg", ".cto")])
        page.wait_for("document.querySelector('#first-book').value === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        page.wait_for("document.querySelector('#status').textContent.startsWith('mine.ctg is a copy')")
        page.wait_for("document.querySelector('button[aria-label=\"Change e4\"]')")
    # The program started anew lists it first, and a file that is listed is opened where it is.
    with explorer() as server, window() as page:
        page.open(server.url)
        page.click("#begin-book")
        page.wait_for("document.querySelector('#files-list li:first-child').textContent.includes('opened last')")
        [copy] = user_data().glob("tabia/books/*/*.ctg")
        page.page.set_input_files("#files-chosen", copy)
        page.wait_for("document.querySelector('#first-book').value === 'mine.ctg' && !document.querySelector('#files-dialog').open")
        page.wait_for("!document.querySelector('#status').textContent.includes('is a copy')")
        assert list(user_data().glob("tabia/books/*/*.ctg")) == [copy]
        # What is no book says so.
        page.keys("p")
        wrong = here / "wrong.ctg"
        wrong.write_text("no book")
        page.page.set_input_files("#files-chosen", wrong)
        page.wait_for("document.querySelector('#status').textContent.includes('wrong.ctg')")
        assert page.run("document.querySelector('#first-book').value") == "mine.ctg"
        wrong.unlink()
        assert list(user_data().glob("tabia/books/*")) == [copy.parent]
    with explorer() as server, window() as page:
        page.open(server.url)
        page.click("#begin-train")
        page.wait_for("document.querySelector('#train-offer').checkVisibility()")
        page.keys("b", "ArrowRight")
        page.wait_for("!document.querySelector('#begin').checkVisibility()")
