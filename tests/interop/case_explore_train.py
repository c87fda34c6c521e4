"""Training on the page of `tabia explore`: your games against your repertoire, moves without an answer, the choice of moves."""

import json
import re
import urllib.parse
import urllib.request

from playwright.sync_api import Page, expect

from pages import MODULE, build, drag, events, expect_line, expect_status, explorer, holds, index, is_firefox, marks, open_address, page_of, press, reload, saved_by, training_of
from paths import STOCKFISH, folder
from procs import run, run_ok
from runner import case

# A repertoire for White, and games of a player who uses it.
REPERTOIRE = "1. e4 c5 2. Nf3 d6 3. d4 1-0\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n\n1. e4 e5 2. Nf3 d6 3. d4 1/2-1/2\n"


def game(white: str, black: str, moves: str, result: str = "1-0") -> str:
    return f'[Event "Club"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{moves} {result}\n\n'


MINE = (
    3 * game("Me, Myself", "You", "1. e4 c5 2. Nc3 Nc6", "0-1")
    + 2 * game("Me, Myself", "Them", "1. e4 e6 2. d4 d5")
    + game("Me, Myself", "Them", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6")
    + game("You", "Me, Myself", "1. d4 d5", "0-1")
)

# Selects a file in a field.
CHOOSE = """(() => {
    const data = new DataTransfer(), field = document.querySelector('%s');
    data.items.add(new File([%s], 'games.pgn'));
    field.files = data.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
    return true;
})()"""

# Pastes a text where the panel has the focus.
PASTE = """(() => {
    const data = new DataTransfer();
    data.setData('text/plain', %s);
    document.querySelector('#work-panel').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    return true;
})()"""


def click_squares(page: Page, *names: str) -> None:
    for name in names:
        page.click(f"[data-square={name}]")


@case(limit=180)
def explorer_and_review_find_where_games_left_a_repertoire_and_know_which_of_several_moves_was_chosen():
    here = folder("explore")
    book, mine = build(here / "repertoire.ctg", REPERTOIRE), here / "mine.pgn"
    mine.write_text(MINE)
    departures = json.loads(run_ok("review", "--player", "Me, Myself", "--colour", "white", mine, book, "--json").stdout)["departures"]
    seen = [(one["by"], one["line"], one["played"]["san"], one["games"], one["score"], [move["san"] for move in one["book"]]) for one in departures]
    assert seen == [("player", "1. e4 c5", "Nc3", 3, 0, ["Nf3"]), ("opponent", "1. e4", "e6", 2, 1, ["e5", "c5"])], seen
    assert departures[1]["reply"]["san"] == "d4"
    reported = run_ok("review", "--player", "Me, Myself", "--colour", "white", mine, book).stdout
    assert "left by the player:\n  1. e4 c5: Nc3, not Nf3 (100 %): 3 games, +0 =0 -3" in reported, reported
    query = urllib.parse.urlencode({"player": "myself me", "color": "white"})
    # Several moves are the main one; the training knows which.
    several, one, training = build(here / "several.ctg", "1. e4 e5 1-0\n\n1. d4 d5 1-0\n"), here / "one.pgn", here / "training.json"
    for line in ("e4", "d4"):
        run_ok("mark", several, "--line", line, "main")
    one.write_text(game("Me", "You", "1. d4 d5", "1-0"))
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
    training.write_text(json.dumps({"format": "tabia-training", "moves": [[f"{several.name}|white|{start}", "e2e4"]]}))
    review = lambda *more: json.loads(run_ok("review", "--player", "Me", "--colour", "white", one, several, "--json", *more).stdout)
    lines = lambda answer: [(one["line"], sorted(move["san"] for move in one["book"]), one["games"]) for one in answer["several"]]
    assert review().get("departures", []) == [] and lines(review()) == [("", ["d4", "e4"], 1)], review()
    [left] = review("--training", training)["departures"]
    assert (left["by"], left["played"]["san"], [move["san"] for move in left["book"]]) == ("player", "d4", ["e4"]), left
    wrong = run("review", "--colour", "white", one, several, "--training", one)
    assert wrong.returncode == 2 and "not a training file" in wrong.stderr, wrong.stderr
    with explorer(book, several, index(here / "mine.tgx", mine)) as server:

        def of(query: str, body: str) -> dict:
            with urllib.request.urlopen(urllib.request.Request(f"{server.url}departures?{query}", data=body.encode()), timeout=20) as answer:
                return json.load(answer)

        # The same from the server, for the index and for a text.
        of_index, of_text = server.get(f"departures?{query}"), of(query, MINE)
        assert of_index["departures"] == of_text["departures"] == departures
        assert [of_text[name] for name in ("games", "others", "left_by_player", "left_by_opponent", "unanswered")] == [6, 1, 3, 2, 0], of_text
        assert server.status(f"departures?{query.replace('white', 'black')}&book=7") == 400
        assert server.status("departures?player=Nobody&color=white") == 400
        # By the book, the ends of its lines are no holes. By the games they are, where the games continue.
        assert server.get("coverage?color=black")["holes"] == []
        holes = server.get("coverage?color=white&opponents=2")["holes"]
        assert [(hole["line"], round(hole["share"], 3), hole["is_end"]) for hole in holes] == [("1. e4 e6", 0.333, False), ("1. e4 e5 2. Nf3 Nc6 3. Bb5", 0.167, True)], holes
        answer = of("player=Me&color=white&book=1", json.dumps({"pgn": one.read_text(), "moves": [[start, "e2e4"]]}))
        assert answer["departures"] == [left] and answer["several"] == []
        assert lines(of("player=Me&color=white&book=1", one.read_text())) == [("", ["d4", "e4"], 1)]
    return f"{len(departures)} places"


@case(limit=120, browsers=True)
def explorer_compares_own_games_with_the_repertoire():
    here = folder("explore")
    book, answers = build(here / "repertoire.ctg", REPERTOIRE), build(here / "answers.ctg", "1. e4 e5 1-0\n\n1. d4 1-0\n")
    with explorer(book, answers) as server, page_of(server) as page:
        press(page, "w")
        message = page.locator("#work-message")
        expect(message).to_contain_text(re.compile("place|nothing"))
        # In Firefox, script events have no clipboard.
        page.evaluate(PASTE % json.dumps(MINE) if not is_firefox(page) else CHOOSE % ("#mine-file", json.dumps(MINE)))
        expect(message).to_contain_text("6 games of Me, Myself compared")
        # The answer is what one sees and hears.
        expect(message).to_be_focused()
        expect(page.locator("#mine-name")).to_have_value("Me, Myself")
        of_games = "[...document.querySelectorAll('#work-table tbody tr')].filter((row) => /^You|opponent/.test(row.querySelector('.go span').textContent))"
        rows = page.evaluate(f"{of_games}.map((row) => [row.querySelector('.go span').textContent, row.querySelector('.often').textContent])")
        assert sorted(rows) == [["The opponent: e6, you then: d4 (100\u202f%)", "33.3\u202f%"], ["You: Nc3, the book: Nf3 (100\u202f%)", "50.0\u202f%"]], rows
        row = lambda text: page.locator("#work-table tr", has_text=text)
        row("You: Nc3").locator(".go").click()
        expect(page.locator("#line button")).to_have_text(["e4", "c5"])
        # From now on it is trained: first it is shown.
        row("You: Nc3").locator("[data-act=train]").click()
        expect(page.locator("#train-tab")).to_have_attribute("title", "1 due today")
        # The answer to the opponents' move is added to the book, as the main move.
        row("The opponent: e6").locator("[data-act=add]").click()
        expect_status(page, "Saved:")
        expect(page.locator("#work-table tr.done")).to_have_count(1)
        assert marks(book, "e2e4 e7e6") == {"d2d4": "main"}, (marks(book, "e2e4 e7e6"))
        # Black has an answer to 1.e4, but not to 1.d4.
        open_address(page, server.url + "?books=1")
        press(page, "w")
        page.select_option("#work-colour", "black")
        page.locator("#work-table").get_by_text("No answer to d4", exact=True).click()
        expect(page.locator("#line [aria-current]")).to_have_text("d4")


# An answer in the first position.
ANSWER = f"async () => {{ const {{ Cards }} = await {MODULE % 'cards'}; const cards = new Cards(); const {{ books }} = await (await fetch('/api/position')).json(); cards.answered(cards.key(books[0].deck, 'white', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'), true, {{ fen: null, line: [] }}); await cards.sync(books[0].deck); return true; }}"


@case(limit=330, browsers=True, smoke=True)
def explorer_trains_a_repertoire_shows_new_moves_first_plays_on_and_keeps_the_training_of_a_renamed_book():
    here = folder("explore")
    kept, several = build(here / "kept.ctg", REPERTOIRE), build(here / "several.ctg", "1. e4 e5 1-0\n\n1. d4 d5 1-0\n")
    book = build(here / "repertoire.ctg", "1. e4 c5 2. Nf3 d6 3. d4 1-0\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n")
    replies = {"": ("e2", "e4"), "c5": ("g1", "f3"), "e5": ("g1", "f3"), "d6": ("d2", "d4"), "Nc6": ("f1", "b5")}
    with explorer(kept, book, several, "--engine", STOCKFISH, "--threads", "1") as server, page_of(server, "?books=1") as page:
        reported = page.locator("#train-message")
        moves = page.locator("#line button")

        def own_move(count: int) -> None:
            """Plays the book move after `count` plies."""
            expect(moves).to_have_count(count)
            last = moves.last.inner_text() if count else ""
            drag(page, *replies[last])

        # The book always answers with its first move.
        page.evaluate("() => { Math.random = () => 0; }")
        press(page, "r")
        page.uncheck("#train-learn")
        page.click("#train-form .main")
        expect(reported).to_have_text("Your move as White.")
        # Nothing shows the move.
        for place in ("#books", "#plot-pane", ".likely"):
            expect(page.locator(place)).to_be_hidden()
        drag(page, "d2", "d4")
        expect(reported).to_contain_text("d4 is not the move")
        expect(moves).to_have_count(0)
        press(page, "ArrowRight")
        expect(moves).to_have_count(0)
        own_move(0)
        own_move(2)
        own_move(4)
        expect(reported).to_contain_text("line ends here")
        expect(page.locator("#train-score")).to_have_text("2 right, 1 missed, 1 to come again")
        # The missed move comes again, first of all.
        page.click("#train-next")
        expect(moves).to_have_count(0)
        expect(reported).to_have_text("Your move as White.")
        own_move(0)
        expect(page.locator("#train-score")).to_have_text("3 right, 1 missed, 0 to come again")
        # What follows is known: it is played, and not asked.
        expect(moves).to_have_count(5)
        expect(reported).to_contain_text("line ends here")
        page.evaluate("() => { Math.random = () => 0.999; }")
        page.click("#train-next")
        expect(moves).to_have_count(2)
        expect(reported).to_have_text("Your move as White.")
        # A move that was shown does not count as known.
        page.click("#train-show")
        expect(reported).to_have_text("The book plays Nf3.")
        expect(page.locator('.pointed [data-arrow="g1f3"]')).to_have_count(1)
        press(page, "Escape")
        expect(page.locator("#train-pane")).to_be_hidden()
        expect(page.locator("#books")).to_be_visible()
        expect(moves).to_have_count(0)
        # It is stored, and can be saved and loaded as a file.
        reload(page)
        press(page, "r")
        expect(page.locator("#train-cards")).to_contain_text("due in this book: 1 as White, 0 as Black")
        file = saved_by(page, lambda: page.click("#train-save"))
        cards = json.loads(file.read_text())["cards"]
        # By FSRS: a move known at once is due after 3.7 days, a missed one after half a day; that one is due now.
        stable = [card["stability"] for _, card in cards]
        assert any(abs(one - 3.7145) < 0.01 for one in stable) and any(abs(one - 0.4872) < 0.01 for one in stable), cards
        expect(page.locator("#train-tab")).to_have_attribute("title", "1 due today")
        page.click("#train-forget")
        # It asks first.
        expect(page.locator("#train-forget")).to_have_text(re.compile("^Forget [1-9]"))
        page.click("#train-forget")
        expect(page.locator("#train-cards")).to_contain_text("0 positions trained")
        page.set_input_files("#train-file", file)
        expect(page.locator("#train-cards")).to_contain_text("due in this book: 1 as White")
        bad = here / "bad.json"
        bad.write_text('{"format":"tabia-training","version":1,"cards":[["k",{"stability":99}],7,[1,2]]}')
        page.set_input_files("#train-file", bad)
        expect(page.locator("#status")).to_have_text("0 positions loaded.")
        press(page, "Escape")
        # From here the game continues against the engine.
        drag(page, "e2", "e4")
        expect_line(page, "e4")
        page.click("#engine-tab")
        page.click("#play-engine")
        expect(reported).to_have_text("Your move.")
        drag(page, "c7", "c5")
        expect(moves).to_have_count(3)
        expect(reported).to_have_text("Your move.")
        page.click("#train-stop")
        expect(moves).to_have_count(3)
        # One move of several is chosen.
        open_address(page, server.url + "?books=2")
        press(page, "r")
        page.check("#train-learn")
        page.click("#train-form .main")
        expect(reported).to_have_text("The book has several moves here. Which is yours?")
        page.click("#train-choices button:first-child")
        expect(reported).to_have_text("The book’s line ends here.")
        # It comes again, without showing its move; the other is wrong now.
        page.click("#train-next")
        expect(reported).to_have_text("Your move as White.")
        expect(page.locator("#train-choices button")).to_have_count(0)
        [chosen] = [event["move"] for event in events(several) if event["kind"] == "choose"]
        other = {"e2e4": "d2d4", "d2d4": "e2e4"}[chosen]
        click_squares(page, other[:2], other[2:])
        expect(reported).to_have_text(re.compile("is not the move. Try again.$"))
        click_squares(page, chosen[:2], chosen[2:])
        expect(reported).to_have_text("The book’s line ends here.")
        press(page, "Escape")
        expect(page.locator("#train-progress")).to_be_visible()
        expect(page.locator("#train-openings td").first).to_have_text("1")
        # Without its answers, a chosen move is new, and shown first; it counts when found unaided.
        left = [line for line in training_of(several).read_text().splitlines(keepends=True) if '"kind":"answer"' not in line and '"kind":"want"' not in line]
        training_of(several).write_text("".join(left))
        open_address(page, server.url + "?books=2")
        press(page, "r")
        page.click("#train-form .main")
        expect(reported).to_have_text(re.compile("^New: "))
        expect(page.locator(f'.pointed [data-arrow="{chosen}"]')).to_have_count(1)
        # Training is beside the book.
        open_address(page, server.url)
        assert page.evaluate(ANSWER)
        reload(page)
        expect(page.locator("#train-cards")).to_have_text(re.compile("^1 positions trained"))
    # The book is renamed without the file beside it.
    renamed = kept.rename(here / "renamed.ctg")
    with explorer(renamed) as server, page_of(server) as page:
        press(page, "r")
        expect(page.locator("#train-cards")).to_have_text(re.compile("^0 positions trained"))
        # Pressed by keyboard, wherever the panel has been scrolled to.
        page.locator("#train-left button").dispatch_event("click")
        expect(page.locator("#train-cards")).to_have_text(re.compile("^1 positions trained"))
        expect(page.locator("#train-left button")).to_have_count(0)
        assert not training_of(kept).exists() and len(events(renamed)) == 1
    before = training_of(renamed).read_bytes()
    with explorer(renamed, "--read-only") as server, page_of(server) as page:
        press(page, "r")
        page.click("#train-form .main")
        expect(page.locator("#train-message")).to_have_text(re.compile("^(Your move as White.$|You know|New: )"))
        press(page, "Escape")
        assert page.evaluate(ANSWER)
        open_address(page, server.url)
        press(page, "r")
        expect(page.locator("#train-cards")).to_contain_text("1 answers wait in this browser until the program stores them: the explorer was started read-only")
        assert training_of(renamed).read_bytes() == before


COURSE = '[Event "Course: Italian"]\n\n1. e4 {Best by test.} e5 2. Nf3 *\n\n[Event "Course: Sicilian"]\n\n1. e4 c5 2. Nf3 *\n'


@case(limit=120, browsers=True)
def explorer_trains_chapters_of_a_file():
    with explorer() as server, page_of(server) as page:
        press(page, "r")
        page.click("#train-learn")
        page.evaluate(CHOOSE % ("#chapters-file", json.dumps(COURSE)))
        holds(page, "[...document.querySelectorAll('#chapters-list span')].map((one) => one.textContent).join() === 'games.pgn,Course: Italian,Course: Sicilian'")
        # They are stored in the browser, and saved in the training file.
        open_address(page, server.url)
        press(page, "r")
        holds(page, "document.querySelectorAll('#chapters-list li').length === 3")
        page.click("#chapters summary")
        page.click("#chapters-list .file button")
        holds(page, "!document.querySelector('#chapters-list li')")
        page.evaluate(CHOOSE % ("#chapters-file", json.dumps(COURSE)))
        page.click("#chapters-list li:nth-child(2) button")
        reported = page.locator("#train-message")
        expect(reported).to_have_text("Your move as White.")
        click_squares(page, "e2", "e4")
        expect(reported).to_have_text("e4 (Best by test.) is right.")
        expect(page.locator("#line button")).to_have_count(2)
        click_squares(page, "d2", "d4")
        expect(reported).to_have_text("d4 is not the move. Try again.")
        click_squares(page, "g1", "f3")
        expect(reported).to_have_text("The book’s line ends here.")
        press(page, "Escape")
        listed = "[...document.querySelectorAll('#chapters-list span')].map((one) => one.textContent).join() === 'games.pgn,Course: Italian,1 due today,Course: Sicilian'"
        holds(page, listed)
        # The training file contains them too, with their progress.
        saved = saved_by(page, lambda: page.click("#train-save")).read_text()
        # It asks, and can be undone.
        trained = "document.querySelector('#train-cards').textContent"
        before = page.evaluate(trained)
        for _ in range(2):
            page.click("#train-forget")
            holds(page, "document.querySelector('#train-forget').textContent.endsWith('positions?')")
            page.click("#train-forget")
            holds(page, f"{trained}.startsWith('0 positions') && document.querySelector('#train-forget').textContent === 'Bring them back'")
            page.click("#train-forget")
            holds(page, f"{trained} === {json.dumps(before)}")
        page.click("#train-forget")
        page.click("#train-forget")
        page.click("#chapters-list .file button")
        holds(page, "!document.querySelector('#chapters-list li')")
        page.evaluate(CHOOSE % ("#train-file", json.dumps(saved)))
        holds(page, listed)
        # After loading, the browser has them too.
        open_address(page, server.url)
        press(page, "r")
        holds(page, listed)
