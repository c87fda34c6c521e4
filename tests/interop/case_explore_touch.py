"""The page of `tabia explore` with touch, and for users who need high contrast."""

from pages import SIZES, browser, explorer, open_address, square
from paths import STOCKFISH, folder
from places import books, every_place
from procs import poll
from runner import case

# Minimum size of a touch target in CSS pixels. Squares of the board are no controls;
# squares of the plot lead to positions that the line of moves offers too. The heads of the
# list of games are as wide as its columns.
FINGER = 44
CONTROLS = "button:not(#games-head *), select, input:not([type=hidden]), textarea, summary, a[href]:not(.skip)"

SMALL = """([controls, finger]) => {
    const open = document.querySelector('dialog[open]');
    const found = [];
    for (const control of (open ?? document).querySelectorAll(controls)) {
        if (!control.checkVisibility({ visibilityProperty: true })) continue;
        // Of a box with its label, both are hit.
        const label = control.labels?.[0], boxes = [control.getBoundingClientRect()];
        if (label && /radio|checkbox/.test(control.type)) boxes.push(label.getBoundingClientRect());
        // A whole row is clickable.
        const row = control.matches('button.move') && control.closest('tr');
        if (row) boxes.push(row.getBoundingClientRect());
        const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
        const wide = Math.max(...boxes.map((box) => box.right)) - left, high = Math.max(...boxes.map((box) => box.bottom)) - top;
        if (wide && (wide < finger - 0.5 || high < finger - 0.5)) found.push(`${control.id || control.className || control.tagName} “${control.textContent.trim().slice(0, 12)}” ${wide.toFixed(0)}x${high.toFixed(0)}`);
    }
    return [...new Set(found)];
}"""

# Text and its background, in the colours as drawn, with transparency applied.
CONTRASTS = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const seen = (...layers) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const [colour, opacity] of layers) { canvas.globalAlpha = opacity; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (colour) => colour.map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
    const style = (one) => getComputedStyle(typeof one === 'string' ? document.querySelector(one) : one);
    // As it comes out for light or dark.
    const probe = document.body.appendChild(document.createElement('i'));
    const value = (name) => { probe.style.color = `var(${name})`; return style(probe).color; };
    const all = {};
    const note = (name, front, back) => { all[name] = Math.round(100 * contrast(front, back)) / 100; };
    // Arrows and dots, on each kind of square.
    const squares = Object.fromEntries(['--light-square', '--dark-square', '--last-light', '--last-dark'].map((name) => [name, value(name)]));
    // While one points, the others step back.
    document.querySelector('.likely').classList.remove('faint');
    for (const [kind, square] of Object.entries(squares)) {
        const ground = [square, 1], on = (colour, opacity = 1) => seen(ground, [colour, opacity]);
        for (const group of ['likely', 'pointed', 'own']) {
            const arrow = document.querySelector(`.${group} [data-arrow] polygon`);
            note(`${group} arrow on ${kind}`, on(style(arrow).fill, Number(style(`.${group}`).opacity)), seen(ground));
        }
        note(`dot on ${kind}`, on(value('--spot')), seen(ground));
    }
    // Bars: parts beside each other, and their frame on the panel.
    const panel = seen([style('#books').backgroundColor, 1]);
    const part = (name) => seen([style(`.bar .${name}`).backgroundColor, 1]);
    note('bar: white beside draws', part('w'), part('d'));
    note('bar: draws beside black', part('d'), part('b'));
    note('bar: frame', seen([value('--bar-edge'), 1]), panel);
    note('probability: end of its bar', seen([value('--accent'), 1]), panel);
    note('gauge', seen([style('#gauge div').backgroundColor, 1]), seen([style('#gauge').backgroundColor, 1]));
    note('gauge: frame', seen([value('--bar-edge'), 1]), seen([style(document.body).backgroundColor, 1]));
    for (const name of ['.games:not(.walked)', '.walked']) note(`plot: ${name}`, seen([style(`#plot ${name}`).fill, 1]), panel);
    note('plot: score', seen([style('#plot .score').stroke, 1]), panel);
    note('plot: place', seen([style('#plot .here').stroke, 1]), panel);
    probe.remove();
    return all;
}"""


@case(limit=600, browsers=True, all_only=True)
def explorer_controls_are_large_enough_for_a_finger():
    found = []
    with explorer(*books(folder("explore")), "--engine", STOCKFISH, "--threads", "1") as server, browser() as started:
        for width, height in SIZES:
            context = started.new_context(viewport={"width": width, "height": height}, has_touch=True, is_mobile=True)
            page = context.new_page()
            for place in every_place(page, server.url):
                small = poll(lambda: page.evaluate(SMALL, [CONTROLS, FINGER]), lambda small: not small, 1)
                found.extend(f"{width}x{height} {place}: {one}" for one in small)
                # With the engine the table is widest.
                over = page.evaluate("[document.documentElement, document.querySelector('#books')].map((one) => one.scrollWidth - one.clientWidth)")
                assert max(over) <= 0, f"{width}x{height} {place}: {over} too wide"
            assert page.evaluate("matchMedia('(pointer: coarse)').matches")
            context.close()
    assert not found, f"{len(found)} controls under {FINGER} px:\n" + "\n".join(found)


@case(limit=300, browsers=True, all_only=True)
def explorer_shows_arrows_dots_and_bars_with_enough_contrast():
    found = []
    least = 99.0
    with explorer() as server, browser() as started:
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                context = started.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                for board in ("green", "brown", "blue", "grey", "sand", "violet"):
                    open_address(page, server.url + "?play=e2e4,c7c5")
                    page.evaluate("(board) => { document.documentElement.dataset.board = board; }", board)
                    # The user's arrow, and one of the table.
                    page.mouse.move(*square(page, "a2"))
                    page.mouse.down(button="right")
                    page.mouse.move(*square(page, "a4"))
                    page.mouse.up(button="right")
                    page.hover("#books tr[data-uci] td.n >> nth=0")
                    for group in ("likely", "own", "pointed"):
                        page.wait_for_selector(f".{group} [data-arrow] polygon", state="attached")
                    reported = page.evaluate(CONTRASTS)
                    least = min(least, *reported.values())
                    found += [f"{width}x{height} {scheme} {board}: {name} {ratio}" for name, ratio in reported.items() if ratio < 3]
                context.close()
    assert not found, f"{len(found)} under 3:1:\n" + "\n".join(found)
    return f"the least contrast is {least}:1"
