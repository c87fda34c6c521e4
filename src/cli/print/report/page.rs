//! An HTML page without other files: text, diagrams and plots.

use std::fmt::Write as _;

use shakmaty::{Board, File, Position as _, Rank, Square, uci::UciMove};
use tabia_notation as notation;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;\
    padding:0 1em;color:#222;background:#fff}table.board{border-collapse:collapse;\
    font-size:22px;line-height:1;flex:none}table.board td{width:26px;height:26px;\
    text-align:center;padding:0}td.d{background:#b9c4a4}td.l{background:#eef0e2}\
    div.b{position:relative;flex:none;align-self:flex-start}div.b svg{position:absolute;inset:0;\
    stroke:#1f6f9fb0;fill:#1f6f9fb0}.f{display:flex;gap:1em;margin:1em 0;border-top:1px solid #ddd;padding-top:1em}\
    .n{color:#666}rect.bad{fill:#c0504d}rect.even{fill:#c9c9c9}rect{fill:#6b8f5e}\
    svg{max-width:100%}pre{background:#f4f4f0;padding:.5em 1em;overflow:auto}";

/// A page under construction. Writing to it cannot fail.
pub(crate) struct Page {
    text: String,
}

/// A bar of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    /// The label on the axis.
    pub(crate) label: String,
    /// The height in any unit.
    pub(crate) height: f64,
    /// Whether the bar has the colour for bad values.
    pub(crate) is_bad: bool,
    /// The text shown under the mouse pointer.
    pub(crate) hint: String,
}

impl Page {
    /// Begins a page with its title.
    #[must_use]
    pub(crate) fn new(title: &str) -> Page {
        let title = escaped(title);
        Page {
            text: format!(
                "<!doctype html><html lang=en><meta charset=utf-8>\
                 <meta name=viewport content=\"width=device-width\"><title>{title}</title>\
                 <style>{STYLE}</style><h1>{title}</h1>\n"
            ),
        }
    }

    fn add(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(part);
    }

    /// Adds a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.add(format_args!("<h2>{}</h2>\n", escaped(text)));
    }

    /// Adds a paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.add(format_args!("<p>{}\n", escaped(text)));
    }

    /// Adds lines of text for copying.
    pub(crate) fn lines(&mut self, text: &str) {
        self.add(format_args!("<pre>{}</pre>\n", escaped(text)));
    }

    /// Adds a position with its text, and perhaps an arrow for a move (in UCI notation);
    /// for an invalid position only the text.
    pub(crate) fn finding(&mut self, fen: &str, line: &str, text: &str, arrow: Option<&str>) {
        self.add(format_args!("<div class=f>"));
        if let Ok(position) = notation::position(fen) {
            self.add(format_args!("<div class=b>"));
            self.board(position.board());
            let mv = arrow.and_then(|mv| mv.parse::<UciMove>().ok());
            if let Some((from, to)) = mv.and_then(|mv| mv.from().zip(mv.to())) {
                self.arrow(from, to);
            }
            self.add(format_args!("</div>"));
        }
        self.add(format_args!(
            "<div><b>{}</b><br>{}<br><span class=n>{}</span></div></div>\n",
            escaped(line),
            escaped(text),
            escaped(fen)
        ));
    }

    fn board(&mut self, board: &Board) {
        self.add(format_args!("<table class=board>"));
        for rank in Rank::ALL.into_iter().rev() {
            self.add(format_args!("<tr>"));
            for file in File::ALL {
                let square = Square::from_coords(file, rank);
                let class = if square.is_dark() { "d" } else { "l" };
                let man = board.piece_at(square).map_or(' ', |piece| {
                    // The white king, or the black one; the other pieces follow it.
                    let king = piece.color.fold_wb(0x2654, 0x265a);
                    let man = char::from_u32(king + 6 - piece.role as u32);
                    man.unwrap_or(' ')
                });
                self.add(format_args!("<td class={class}>{man}"));
            }
        }
        self.add(format_args!("</table>"));
    }

    /// Adds an arrow to the board before it.
    fn arrow(&mut self, from: Square, to: Square) {
        // In squares, from the upper left corner.
        let centre = |square: Square| {
            let (file, rank) = square.coords();
            (f64::from(file as u8) + 0.5, 7.5 - f64::from(rank as u8))
        };
        let ((x1, y1), (x2, y2)) = (centre(from), centre(to));
        let (dx, dy) = (x2 - x1, y2 - y1);
        let length = dx.hypot(dy);
        // The head takes the last part of the arrow.
        let shaft = (length - 0.4) / length;
        let (x2, y2) = (x1 + dx * shaft, y1 + dy * shaft);
        let angle = dy.atan2(dx).to_degrees();
        self.add(format_args!(
            "<svg viewBox=\"0 0 8 8\" class=arrow><line x1={x1:.2} y1={y1:.2} x2={x2:.2} y2={y2:.2} \
             stroke-width=.16 /><polygon points=\"0,-.3 .45,0 0,.3\" stroke=none \
             transform=\"translate({x2:.2} {y2:.2}) rotate({angle:.0})\" /></svg>"
        ));
    }

    /// Adds bars side by side; the highest is as high as the plot.
    pub(crate) fn bars(&mut self, bars: &[Bar]) {
        let most = bars.iter().map(|bar| bar.height).fold(0.0, f64::max);
        if most <= 0.0 {
            return;
        }
        self.add(format_args!(
            "<p><svg viewBox=\"0 0 720 150\" width=720 height=150 role=img>\n"
        ));
        let step = 720.0 / bars.len() as f64;
        for (n, bar) in bars.iter().enumerate() {
            let class = if bar.is_bad { "bad" } else { "good" };
            let height = 120.0 * bar.height / most;
            let (x, y, width) = (n as f64 * step, 125.0 - height, step - 2.0);
            self.add(format_args!(
                "<rect class={class} x={x:.0} y={y:.1} width={width:.0} height={height:.1}>\
                 <title>{}</title></rect><text x={x:.0} y=140 font-size=9>{}</text>\n",
                escaped(&bar.hint),
                escaped(&bar.label)
            ));
        }
        self.add(format_args!("</svg>\n"));
    }

    /// Adds a row for each name: its shares side by side, the first of them good, the
    /// last one bad.
    pub(crate) fn shares(&mut self, rows: &[(String, [f64; 3], String)]) {
        let height = 20 * rows.len();
        self.add(format_args!(
            "<p><svg viewBox=\"0 0 720 {height}\" width=720 height={height} role=img>\n"
        ));
        for (n, (name, shares, hint)) in rows.iter().enumerate() {
            let y = 20 * n;
            let name = escaped(name);
            self.add(format_args!(
                "<text x=0 y={} font-size=11>{name}</text>",
                y + 14
            ));
            let whole: f64 = shares.iter().sum();
            let mut x = 360.0;
            for (share, class) in shares.iter().zip(["good", "even", "bad"]) {
                let width = 360.0 * share / whole.max(f64::MIN_POSITIVE);
                self.add(format_args!(
                    "<rect class={class} x={x:.1} y={} width={width:.1} height=16><title>{}</title>\
                     </rect>",
                    y + 2,
                    escaped(hint)
                ));
                x += width;
            }
            self.add(format_args!("\n"));
        }
        self.add(format_args!("</svg>\n"));
    }

    /// Returns the page.
    #[must_use]
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("</html>\n");
        self.text
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_texts_and_a_board_with_pieces() {
        let mut page = Page::new("a < b");
        page.finding(
            "4k3/8/8/8/8/8/8/Q3K3 w - - 0 1",
            "1. e4 \"x\"",
            "a & b",
            Some("a1a8"),
        );
        page.finding("no position", "", "c", Some("a1a8"));
        let bar = |height| Bar {
            label: "7".to_owned(),
            height,
            is_bad: height > 1.0,
            hint: "seven".to_owned(),
        };
        page.bars(&[bar(1.0), bar(2.0)]);
        page.bars(&[bar(0.0)]);
        page.shares(&[("B20".to_owned(), [1.0, 2.0, 1.0], "4 games".to_owned())]);
        let text = page.finish();
        assert!(text.contains("<title>a &lt; b</title>") && text.contains("a &amp; b"));
        let men = ["<td class=d>\u{2655}", "<td class=d>\u{2654}", "\u{265a}"];
        assert!(
            men.iter().all(|man| text.matches(man).count() == 1),
            "{text}"
        );
        assert_eq!(text.matches("<table").count(), 1);
        assert_eq!(text.matches("<svg").count(), 3);
        let arrow = "<line x1=0.50 y1=7.50 x2=0.50 y2=0.90";
        assert_eq!(text.matches(arrow).count(), 1, "{text}");
        assert!(
            text.contains("class=bad x=360 y=5.0 width=358 height=120.0"),
            "{text}"
        );
        assert!(
            text.contains("class=even x=450.0 y=2 width=180.0"),
            "{text}"
        );
        assert!(text.ends_with("</html>\n"));
    }
}
