"""Panels of the page of `tabia explore`, in Chromium and in Firefox: tabs by keys, what stays visible, what is asked."""

from case_explore_changes import BROWSERS
from pages import SAMPLE, SIZES, explorer
from places import STARTER, folder
from procs import run, settled
from runner import case

CHOSEN = "document.querySelector('#tabs [aria-selected=true]').id === '%s-tab' && document.querySelector('#%s-panel').checkVisibility()"

# Panels that are seen: one of them, whatever is chosen.
PANELS = "return [...document.querySelectorAll('[role=tabpanel]')].filter((one) => one.checkVisibility()).length"

# Rows of the table that are seen in full.
ROWS = """return (() => {
    const place = document.querySelector('#books').getBoundingClientRect(), foot = document.querySelector('#books tfoot').getBoundingClientRect();
    return [...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= Math.min(place.bottom, foot.top, innerHeight) + 1).length;
})()"""

# What was asked of the program since, by its path.
ASKED = "return performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname).filter((path) => ['/api/line', '/lichess'].includes(path)).sort().join(' ')"


def chosen(page, name: str) -> None:
    page.until(CHOSEN % (name, name))
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
                rows = settled(lambda: page.run(ROWS), lambda rows: rows >= 12)
                assert rows >= 12, f"{name}: {rows} rows"
                # A key each; the table stays, and a game that was not asked for is not read.
                for key, panel in (("i", "games"), ("r", "train"), ("o", "choice"), ("b", "book")):
                    page.keys(key)
                    chosen(page, panel)
                    assert page.run(ROWS) >= 5, (name, panel)
                # The arrow keys go from tab to tab, and not along the line.
                page.run("return document.querySelector('#book-tab').focus()")
                for key, panel in (("ArrowLeft", "choice"), ("ArrowRight", "book"), ("ArrowRight", "games"), ("End", "choice")):
                    page.keys(key)
                    chosen(page, panel)
                    page.until(f"document.activeElement.id === '{panel}-tab'")
                assert page.run("return document.querySelector('#line [aria-current]').textContent") == "e4", name
                # The same key again goes into the panel, Escape out of it: the arrow keys are the line's again.
                page.run("return document.activeElement.blur()")
                page.keys("o")
                page.until("document.activeElement.closest('#choice-panel')")
                page.keys("Escape", "ArrowLeft")
                page.until("!document.querySelector('#line [aria-current]')")
                # It is kept, and a panel that is not shown asks nothing.
                page.open(server.url + "?play=e2e4")
                chosen(page, "choice")
                page.until("document.documentElement.dataset.ready")
                before = page.run(ASKED)
                page.keys("ArrowRight")
                page.until("document.querySelectorAll('#line button').length === 2")
                assert page.run(ASKED) == before and "/api/line" not in before, (name, page.run(ASKED))
                # The games follow the position.
                page.open(server.url + "?play=a2a4,h7h5,a4a5,h5h4")
                page.keys("i")
                page.until("document.querySelector('#games-none').textContent && !document.querySelectorAll('#games-list li').length")
                page.keys("Home")
                page.until("document.querySelectorAll('#games-list li').length > 5 && !document.querySelector('#games-none').textContent")


@case(limit=300)
def explorer_gives_the_panel_a_column_of_its_own_where_there_is_room():
    with explorer() as server:
        for name, started in BROWSERS:
            with started() as page:
                page.open(server.url)
                page.keys("o")
                for width, height in (*SIZES, (1600, 900)):
                    page.size(width, height)
                    table, panel = settled(
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
                page.until("document.querySelectorAll('#games-list li').length > 5")
                count = page.run("return document.querySelectorAll('#games-list li').length")

                def fill(field: str, text: str, event: str = "change") -> None:
                    page.run(f"return (() => {{ const field = document.querySelector('{field}'); field.value = '{text}'; field.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }})()")

                # In order of their dates, one way and the other.
                dates = "return [...document.querySelectorAll('#games-list .hint')].map((one) => one.textContent.split(' · ').at(-1))"
                fill("#games-order", "newest")
                newest = page.run(dates)
                fill("#games-order", "oldest")
                assert newest == sorted(newest, reverse=True) and page.run(dates) == sorted(newest), (name, newest)
                # Words of a player's name leave only his games.
                player = page.run("return document.querySelector('#games-list span').textContent").split(" – ")[0].rstrip("0123456789 ")
                fill("#games-words", player.lower(), "input")
                left = page.run("return [...document.querySelectorAll('#games-list span:first-child')].map((one) => one.textContent)")
                assert left and all(player in one for one in left), (name, player, left)
                fill("#games-words", "", "input")
                # Filters get a name; its digit applies them, and clears them again, wherever one is.
                fill("#games-until", "1500-01")
                page.until("document.querySelector('#games-none').textContent")
                page.click("#games-more summary")
                page.until("document.querySelector('#games-more').open")
                fill("#games-name", "old <b>times</b>")
                page.click("#games-sets button[type=submit]")
                page.until("document.querySelector('#games-named').textContent === '1 old <b>times</b>'")
                fill("#games-until", "")
                page.until(f"document.querySelectorAll('#games-list li').length === {count}")
                page.run("return document.activeElement.blur()")
                page.keys("b", "1")
                chosen(page, "games")
                page.until("document.querySelector('#games-none').textContent && document.querySelector('#games-until').value === '1500-01'")
                page.keys("1")
                page.until(f"document.querySelectorAll('#games-list li').length === {count} && document.querySelector('#games-until').value === ''")
                # It is stored; saved with all filters open it goes.
                page.open(server.url)
                page.until("document.querySelectorAll('#games-named li').length === 1")
                # What comes later moves what is below it.
                page.until(f"document.querySelectorAll('#games-list li').length === {count}")
                page.click("#games-more summary")
                page.until("document.querySelector('#games-more').open")
                fill("#games-name", "old <b>times</b>")
                page.click("#games-sets button[type=submit]")
                page.until("document.querySelectorAll('#games-named li').length === 0")
