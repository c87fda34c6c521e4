"""Panels of the page of `tabia explore`, in Chromium and Firefox: tabs by keyboard, what stays visible, which requests are sent."""

from case_explore_changes import BROWSERS
from pages import SAMPLE, SIZES, explorer
from paths import STARTER, copy_starter, folder
from procs import poll, run
from runner import case

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


@case(limit=300)
def explorer_chooses_panels_by_keys_beside_the_table():
    here = folder("explore")
    index = here / "games.tgx"
    assert run("index", "-o", str(index), str(SAMPLE)).returncode == 0
    with explorer(STARTER, index) as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url + "?play=e2e4")
                page.size(1366, 768)
                rows = poll(lambda: page.run(ROWS), lambda rows: rows >= 12)
                assert rows >= 12, f"{name}: {rows} rows"
                # One key each; the table stays, and no game is read without a request.
                for key, panel in (("i", "games"), ("r", "train"), ("o", "choice"), ("b", "book")):
                    page.keys(key)
                    chosen(page, panel)
                    assert page.run(ROWS) >= 5, (name, panel)
                # The arrow keys move between tabs, not along the line.
                page.run("return document.querySelector('#book-tab').focus()")
                for key, panel in (("ArrowLeft", "choice"), ("ArrowRight", "book"), ("ArrowRight", "games"), ("End", "choice")):
                    page.keys(key)
                    chosen(page, panel)
                    page.wait_for(f"document.activeElement.id === '{panel}-tab'")
                assert page.run("return document.querySelector('#line [aria-current]').textContent") == "e4", name
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
                assert page.run(ASKED) == before and "/api/line" not in before, (name, page.run(ASKED))
                # The games are those with the current position.
                page.open(server.url + "?play=a2a4,h7h5,a4a5,h5h4")
                page.keys("i")
                page.wait_for("document.querySelector('#games-none').textContent && !document.querySelectorAll('#games-list li').length")
                page.keys("Home")
                page.wait_for("document.querySelectorAll('#games-list li').length > 5 && !/no game/.test(document.querySelector('#games-none').textContent)")


@case(limit=300)
def explorer_shows_the_panel_in_a_separate_column_if_there_is_room():
    with explorer() as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url)
                page.keys("o")
                for width, height in SIZES:
                    page.size(width, height)
                    table, panel = poll(
                        lambda: page.run("return ['#books', '#choice-panel'].map((one) => document.querySelector(one).getBoundingClientRect().x)"),
                        lambda now: (now[0] < now[1]) == (width >= 1600),
                    )
                    assert (table < panel) == (width >= 1600), f"{name} {width}x{height}: {table} {panel}"


@case(limit=240)
def explorer_orders_games_and_switches_named_filters_by_a_digit():
    here = folder("explore")
    index = here / "games.tgx"
    assert run("index", "-o", str(index), str(SAMPLE)).returncode == 0
    with explorer(STARTER, index) as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url)
                page.keys("i")
                page.wait_for("document.querySelectorAll('#games-list li').length > 5")
                count = page.run("return document.querySelectorAll('#games-list li').length")

                # Sorted by date, ascending and descending.
                dates = "return [...document.querySelectorAll('#games-list .hint')].map((one) => one.textContent.split(' · ').at(-1))"
                fill(page, "#games-order", "newest", "input")
                newest = poll(lambda: page.run(dates), lambda now: now == sorted(now, reverse=True))
                fill(page, "#games-order", "oldest", "input")
                oldest = poll(lambda: page.run(dates), lambda now: now == sorted(now))
                assert len(oldest) == len(newest) == count and oldest[0] < newest[0], (name, newest, oldest)
                fill(page, "#games-order", "", "input")
                # Words of a player's name leave only that player's games of the whole index.
                player = page.run("return document.querySelector('#games-list span').textContent").split(" – ")[0].rstrip("0123456789 ")
                fill(page, "#games-words", player.lower(), "input")
                players = "return [...document.querySelectorAll('#games-list span:first-child')].map((one) => one.textContent)"
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
                # It is stored; saving the same name without filters deletes it.
                page.open(server.url)
                page.wait_for("document.querySelectorAll('#games-named li').length === 1")
                # Content that loads later moves what is below it.
                page.wait_for(f"document.querySelectorAll('#games-list li').length === {count}")
                page.click("#games-more summary")
                page.wait_for("document.querySelector('#games-more').open")
                fill(page, "#games-name", "old <b>times</b>")
                page.click("#games-sets button[type=submit]")
                page.wait_for("document.querySelectorAll('#games-named li').length === 0")


@case(limit=300)
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
    for name, started in BROWSERS:
        with explorer(STARTER, "--folder", library) as server, started() as page:
            page.open(server.url)
            page.wait_for("!document.querySelector('#open-book').hidden")
            page.keys("p")
            page.wait_for(f"{listed} === 'broken.ctg games.tgx mine.ctg'")
            # A damaged file gives one sentence, and the book stays open.
            page.keys("ArrowDown", "Enter")
            page.wait_for("/broken.ctg/.test(document.querySelector('#files-dialog #status')?.textContent)")
            assert page.run(f"return {shown}") == "tabia.ctg", name
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
            assert 0 < won[0] < everything[0] and sum(won) < sum(everything), (name, won, everything)
            page.wait_for("[...document.querySelectorAll('#games-list .hint')].every((one) => one.textContent.startsWith('1-0'))")
            assert "result=1-0" in page.run("return location.search"), name
            page.open(server.url + page.run("return location.search"))
            page.wait_for("document.querySelector('#books .chip') && document.querySelector('#games-result').value === '1-0'")
            assert page.run(f"return {games}") == won, name
            page.click("#books .chip")
            page.wait_for(f"!document.querySelector('#books .chip') && {games}.join() === '{','.join(map(str, everything))}'")
            assert page.run("return document.querySelector('#games-result').value") == "", name
    return f"{len(everything) - 1} moves"


@case(limit=120)
def explorer_shows_in_its_cell_why_a_move_is_not_played():
    # Reasons that are not clipped.
    seen = "[...document.querySelectorAll('.reason')].filter((one) => getComputedStyle(one).clipPath === 'none').map((one) => one.textContent)"
    with explorer() as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url + "?play=e2e4,c7c5")
                reasons = page.run("document.querySelectorAll('#books tr.out .reason').length")
                assert reasons > 2 and page.run(seen) == [], name
                # By keyboard: of the selected move.
                page.run("return document.querySelector('#books tr.out button.move').focus()")
                page.wait_for(f"{seen}.length === 1 && {seen}[0].startsWith('not played: ')")
                page.keys("ArrowUp")
                page.wait_for(f"{seen}.length === 0")
                # By finger or mouse: of the dash, which plays nothing.
                page.click("#books tr.out td.prob")
                page.wait_for(f"document.querySelector('#books td.prob.open') && {seen}.length === 1")
                assert page.run("document.querySelectorAll('#line button').length") == 2, name
