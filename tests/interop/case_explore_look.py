"""How the page of `tabia explore` looks: nothing is cut or out of place, at every size, in long languages."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages import SAMPLE, SIZES, browser, explorer, ready
from places import STOCKFISH, copy_starter, folder
from procs import run
from runner import case

# What has more in it than it shows, and how much more, in pixels.
CUT = """() => [document.documentElement, ...document.querySelectorAll('#books, .book, .top, #policy-pane, dialog[open], dialog[open] .head, dialog[open] .buttons')]
    .map((one) => [one.id || one.className || one.tagName, one.scrollWidth - one.clientWidth]).filter(([, more]) => more > 0)"""

# Cells that are seen in each row of the table, with what they span.
CELLS = """() => [...document.querySelectorAll('.book tr')].filter((row) => row.checkVisibility())
    .map((row) => [...row.cells].filter((cell) => cell.checkVisibility()).reduce((sum, cell) => sum + cell.colSpan, 0))"""

DIALOGS = ("o", "b", "/", "v", "n", "r", "?")


def books(here: object) -> list[object]:
    """Two books with figures of six digits, and one with weights."""
    weights = here / "weights.bin"
    run("convert", str(copy_starter(here)), str(weights))
    return [here / "book.ctg", copy_starter(here, "another book with a rather long name"), weights]


def engine_speaks(page: Page) -> None:
    page.evaluate("document.querySelector('#engine').click()")
    page.wait_for_function("() => document.querySelectorAll('#engine-list li').length === 3", timeout=60_000)


@case(limit=400)
def explorer_cuts_nothing_off_at_any_size_in_long_languages():
    here = folder("explore")
    found = []
    with explorer(*books(here), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in SIZES:
            for language in ("en-GB", "de", "ru"):
                context = started.new_context(viewport={"width": width, "height": height}, has_touch=width < 1000, is_mobile=width < 1000, locale=language)
                page = context.new_page()

                def check(where: str) -> None:
                    found.extend(f"{width}x{height} {language} {where}: {what} by {more} px" for what, more in page.evaluate(CUT))

                ready(page, server.url)
                check("first position")
                if (width, height) == (360, 740):
                    rows = page.evaluate("[...document.querySelectorAll('#books tr[data-uci]')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight + 0.5).length")
                    assert rows >= 6, f"{rows} rows in {language}"
                for key in DIALOGS:
                    page.keyboard.press(key)
                    expect(page.locator("dialog[open]")).to_be_visible()
                    check(f"dialog {key}")
                    # Long or short, a dialog begins with its title.
                    top = page.evaluate("document.querySelector('dialog[open]').scrollTop")
                    assert top == 0, f"dialog {key} of {width}x{height} begins at {top}"
                    page.keyboard.press("Escape")
                    expect(page.locator("dialog[open]")).to_have_count(0)
                ready(page, server.url + "?play=e2e4&books=0/1")
                check("two books")
                assert len(set(page.evaluate(CELLS))) == 1, page.evaluate(CELLS)
                engine_speaks(page)
                check("two books with values")
                expect(page.locator("tr[data-uci] .worth").first).not_to_be_empty()
                ready(page, server.url + "?play=e2e4&books=2")
                check("weights")
                context.close()
    assert not found, f"{len(found)} cut off:\n" + "\n".join(found)


@case(limit=300)
def explorer_has_no_dialog_or_state_with_a_finding_of_axe():
    here = folder("explore")
    index = here / "games.tgx"
    run("index", "-o", str(index), str(SAMPLE))
    axe = Axe()
    found = []
    with explorer(*books(here), index) as server, browser() as started:
        for width, height, scheme in ((1366, 768, "light"), (360, 740, "dark")):
            context = started.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True, has_touch=width < 1000, is_mobile=width < 1000)
            page = context.new_page()

            def check(where: str) -> None:
                for violation in axe.run(page).response["violations"]:
                    nodes = [node["html"][:120] + " " + node.get("failureSummary", "")[:300] for node in violation["nodes"][:3]]
                    found.append(f"{width} {scheme} {where}: {violation['id']}: {violation['help']} {nodes}")

            def open_and_check(opener: str, dialog: str) -> None:
                page.evaluate("(id) => document.getElementById(id).click()", opener)
                expect(page.locator(f"#{dialog}")).to_be_visible()
                check(dialog)
                page.keyboard.press("Escape")

            ready(page, server.url + "?play=e2e4&books=2")
            page.locator("td.edit button").first.click()
            expect(page.locator("#edit-weigh")).to_be_visible()
            check("weight")
            ready(page, server.url + "?play=e2e4,c7c5")
            page.locator("td.edit button").first.click()
            check("edit")
            page.keyboard.press("Escape")
            for opener, dialog in (("mark-line", "line-dialog"), ("shelf", "open-dialog"), ("show-games", "games-dialog"), ("show-settings", "settings-dialog"), ("open-policy", "policy-dialog"), ("train", "train-dialog")):
                open_and_check(opener, dialog)
            page.keyboard.press("/")
            page.fill("#search-text", "najdorf")
            expect(page.locator("#search-list button").first).to_be_visible()
            check("openings found")
            page.fill("#search-text", "no such opening")
            expect(page.locator("#search-none")).to_be_visible()
            check("no opening found")
            for address, what in (("?play=e2e4,e7e5,e1e5", "a move that is not legal"), ("?books=nothing", "no such book"), ("?play=a2a3,a7a6,h2h3,h7h6,a3a4", "out of the book"),
                                  ("?play=f2f3,e7e5,g2g4,d8h4", "mate"), ("?play=e2e4&books=0/1", "two books")):
                ready(page, server.url + address)
                check(what)
            ready(page, server.url + "?fen=7k/8/8/8/8/7K/p7/8+b+-+-+0+1")
            # There is nothing to go back to, and no line to add.
            expect(page.locator("#books")).to_have_text("This position is not in the book.")
            check("own position")
            page.click('[data-square="a2"]')
            page.click('[data-square="a1"]')
            expect(page.locator(".promotion")).to_be_visible()
            check("promotion")
            # Black's pieces are dark in both themes, and what lies under them is not.
            ground = page.evaluate("getComputedStyle(document.querySelector('.promotion button:last-child')).backgroundColor")
            light = page.evaluate("getComputedStyle(document.querySelector('.square.light')).backgroundColor")
            assert ground == light, (ground, light)
            context.close()
    assert not found, "\n".join(found)
