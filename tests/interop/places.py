"""Every part of the page of `tabia explore`, one after another, for cases that look at all of them."""

from pathlib import Path
from typing import Iterator

from playwright.sync_api import Page, expect

from pages import build, index, open_address
from paths import copy_starter
from procs import run_ok

PANELS = ("games", "engine", "work", "train", "choice", "book")

DIALOGS = ("/", "v", "n", "?")


def books(here: Path, second: str = "another book with a rather long name") -> list[Path]:
    """Two books with figures of six digits, one with weights, two with one line, and an index of games."""
    run_ok("convert", copy_starter(here), here / "weights.bin")
    small = [build(here / f"{name}.ctg", "1. e4 c5 2. Nf3 d6 1-0\n") for name in ("small", "smaller")]
    return [here / "book.ctg", copy_starter(here, second), here / "weights.bin", *small, index(here / "games.tgx")]


def close_dialog(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def first_places(page: Page, url: str) -> Iterator[str]:
    """The page with one book and with two, with and without the engine that the program is started with."""
    lines = "() => document.querySelectorAll('#engine-list li').length === 3"
    open_address(page, url + "?play=e2e4,c7c5&Book+Variety=20")
    yield "page"
    page.click("#engine-tab")
    page.click("#engine")
    page.wait_for_function(lines)
    yield "engine"
    open_address(page, url + "?play=e2e4&books=0/1")
    page.wait_for_function(lines)
    expect(page.locator("tr[data-uci] .worth").first).not_to_be_empty()
    yield "two books with values"
    page.click("#engine")
    yield "two books"


def panels(page: Page) -> Iterator[str]:
    for name in PANELS:
        page.click(f"#{name}-tab")
        expect(page.locator(f"#{name}-panel")).to_be_visible()
        if name == "train":
            expect(page.locator("#train-form")).to_be_visible()
        if name == "games":
            expect(page.locator("#games-list li").first).to_be_visible()
        # Expandable parts are looked at, too.
        page.evaluate("(name) => document.querySelectorAll(`#${name}-panel details`).forEach((one) => { one.open = true; })", name)
        yield f"panel {name}"


def dialogs(page: Page) -> Iterator[str]:
    for key in DIALOGS:
        page.keyboard.press(key)
        expect(page.locator("dialog[open]")).to_be_visible()
        yield f"dialog {key}"
        close_dialog(page)
    page.keyboard.press("/")
    for text, seen in (("najdorf", "#search-list button"), ("no such opening", "#search-none")):
        page.fill("#search-text", text)
        expect(page.locator(seen).first).to_be_visible()
        yield f"search for {text}"
    close_dialog(page)
    page.click("#menu")
    expect(page.locator(".context")).to_be_visible()
    yield "menu"
    page.keyboard.press("Escape")
    page.click("#line-menu")
    expect(page.locator(".context")).to_be_visible()
    yield "menu of the line"
    page.locator(".context button").nth(2).click()
    expect(page.locator("#line-dialog")).to_be_visible()
    yield "line-dialog"
    close_dialog(page)
    page.locator("td.edit button").first.click()
    expect(page.locator("#edit-dialog")).to_be_visible()
    yield "edit"
    page.click("#remove-move")
    expect(page.locator("#removal-begin")).to_be_enabled()
    yield "a deletion"
    close_dialog(page)


def every_place(page: Page, url: str) -> Iterator[str]:
    yield from first_places(page, url)
    open_address(page, url + "?play=e2e4,c7c5")
    yield from panels(page)
    yield from dialogs(page)
    page.keyboard.press("r")
    page.click("#train-form .main")
    expect(page.locator("#train-pane")).to_be_visible()
    yield "training"
    page.keyboard.press("Escape")
    for address, what in (
        ("?play=e2e4,e7e5,e1e5", "a move that is not legal"),
        ("?books=nothing", "no such book"),
        ("?play=a2a3,a7a6,h2h3,h7h6,a3a4", "out of the book"),
        ("?play=f2f3,e7e5,g2g4,d8h4", "mate"),
        ("?play=e2e4&books=0/2", "weights beside a book"),
        ("?books=3/4", "two books with one line"),
    ):
        open_address(page, url + address)
        yield what
    open_address(page, url + "?play=e2e4&books=2")
    page.locator("td.edit button").first.click()
    expect(page.locator("#edit-weigh")).to_be_visible()
    yield "weight"
    close_dialog(page)
    open_address(page, url + "?fen=7k/8/8/8/8/7K/p7/8+b+-+-+0+1")
    yield "own position"
    page.click('[data-square="a2"]')
    page.click('[data-square="a1"]')
    expect(page.locator(".promotion")).to_be_visible()
    yield "promotion"
