//! PyChess's opening book, in its settings (`config`, beside its list of engines).
//!
//! PyChess plays from a book of its own at plies 0 to `book_depth_max` (13 by default) before
//! it asks an engine, whatever "Use opening book" says; at 0 it never does (source of PyChess
//! 1.0.3: `Utils/GameModel.py`, `start`). Settings that it does not know it keeps, so the
//! value before is kept there, too.
//!
//! ```text
//! [General]
//! book_depth_max = 0
//! book_depth_max_before_tabia = 13
//! ```

/// The setting.
const DEPTH: &str = "book_depth_max";

/// The value of the setting before, for [`with_own_book`].
const BEFORE: &str = "book_depth_max_before_tabia";

/// Recorded in place of a value if the setting was missing, so that its default held.
const UNSET: &str = "unset";

/// The settings with the program's book off; unchanged if it is.
#[must_use]
pub(crate) fn without_own_book(text: &str) -> String {
    let mut settings = Settings::read(text);
    if settings.is_off() {
        return text.to_owned();
    }
    let before = settings.value(DEPTH).unwrap_or(UNSET).to_owned();
    settings.set(DEPTH, Some("0"));
    settings.set(BEFORE, Some(&before));
    settings.text()
}

/// The settings as they would be without [`without_own_book`]; `None` if nothing is left of
/// them. The text `before` it, if it is known, says how the line was written and whether the
/// section was there.
#[must_use]
pub(crate) fn with_own_book(text: &str, before: Option<&str>) -> Option<String> {
    let mut settings = Settings::read(text);
    let earlier = before.map(Settings::read);
    if let Some(value) = settings.value(BEFORE).map(str::to_owned) {
        // Another value was chosen since.
        if settings.is_off() {
            let value = Some(value.as_str()).filter(|text| *text != UNSET);
            settings.set(DEPTH, value);
            let line = earlier.as_ref().filter(|old| old.value(DEPTH) == value);
            let line = line.and_then(|old| old.lines.get(old.place(DEPTH)?).cloned());
            let place = settings.place(DEPTH);
            if let (Some(line), Some(place)) = (line, place)
                && let Some(now) = settings.lines.get_mut(place)
            {
                let line = line.trim_end_matches(['\r', '\n']);
                let end = now.trim_end_matches(['\r', '\n']).len();
                *now = format!("{line}{}", now.get(end..).unwrap_or_default());
            }
        }
        settings.set(BEFORE, None);
        if earlier.is_some_and(|old| old.section().is_none()) {
            settings.drop_empty_section();
        }
    }
    let says_something = |line: &String| !line.trim().is_empty() && line.trim() != SECTION;
    let is_left =
        before.is_some() || settings.lines.iter().any(says_something) || settings.text() == text;
    is_left.then(|| settings.text())
}

/// The first line of the section with the settings; Python's `configparser` writes the file.
const SECTION: &str = "[General]";

/// The lines of a file, with their ends.
struct Settings {
    /// The byte order mark that some editors write first, if there is one.
    mark: &'static str,
    lines: Vec<String>,
}

const MARK: &str = "\u{feff}";

impl Settings {
    fn read(text: &str) -> Settings {
        let (mark, text) = match text.strip_prefix(MARK) {
            Some(text) => (MARK, text),
            None => ("", text),
        };
        let lines = text.split_inclusive('\n').map(str::to_owned);
        Settings {
            mark,
            lines: lines.collect(),
        }
    }

    fn text(&self) -> String {
        self.mark.to_owned() + &self.lines.concat()
    }

    /// Removes the section without settings, and the blank line after it.
    fn drop_empty_section(&mut self) {
        let Some(start) = self.section() else {
            return;
        };
        let says = |line: &&String| !line.trim().is_empty();
        let next = self.lines.iter().skip(start + 1).find(says);
        if next.is_none_or(|line| line.starts_with('[')) {
            let is_blank = |line: &String| line.trim().is_empty();
            let end = start + 1 + usize::from(self.lines.get(start + 1).is_some_and(is_blank));
            self.lines.drain(start..end);
        }
    }

    /// The number of the line with the name of the section.
    fn section(&self) -> Option<usize> {
        self.lines.iter().position(|line| line.trim() == SECTION)
    }

    /// The number of the line with a setting.
    fn place(&self, name: &str) -> Option<usize> {
        let start = self.section()? + 1;
        let own = self.lines.iter().skip(start);
        let mut own = own.take_while(|line| !line.starts_with('['));
        let place = own.position(|line| name_and_value(line).is_some_and(|(own, _)| own == name));
        place.map(|place| start + place)
    }

    fn value(&self, name: &str) -> Option<&str> {
        let line = self.lines.get(self.place(name)?)?;
        name_and_value(line).map(|(_, value)| value)
    }

    /// Whether the book never plays.
    fn is_off(&self) -> bool {
        let depth = self.value(DEPTH).and_then(|text| text.parse::<i64>().ok());
        depth.is_some_and(|depth| depth <= 0)
    }

    /// Writes a setting, or removes it.
    fn set(&mut self, name: &str, value: Option<&str>) {
        let place = self.place(name);
        let Some(value) = value else {
            if let Some(place) = place {
                self.lines.remove(place);
            }
            return;
        };
        let end = match self.lines.iter().any(|line| line.ends_with("\r\n")) {
            true => "\r\n",
            false => "\n",
        };
        let line = format!("{name} = {value}{end}");
        match place.and_then(|place| self.lines.get_mut(place)) {
            Some(old) => *old = line,
            None => {
                let section = self.section().unwrap_or_else(|| {
                    let blank = (!self.lines.is_empty()).then(|| end.to_owned());
                    let head = [format!("{SECTION}{end}")];
                    self.lines.splice(0..0, head.into_iter().chain(blank));
                    0
                });
                // Below the setting that it belongs to.
                let above = self.place(DEPTH).unwrap_or(section);
                if let Some(above) = self.lines.get_mut(above)
                    && !above.ends_with('\n')
                {
                    above.push_str(end);
                }
                self.lines.insert(above + 1, line);
            }
        }
    }
}

/// Name and value of a setting; names are read in any case.
fn name_and_value(line: &str) -> Option<(String, &str)> {
    let is_setting = !line.starts_with(['#', ';', '[', ' ', '\t']);
    let (name, value) = line.split_once(['=', ':']).filter(|_| is_setting)?;
    Some((name.trim().to_lowercase(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_of_pychess_is_switched_off_and_on_again() {
        for (before, off) in [
            (
                "",
                "[General]\nbook_depth_max = 0\nbook_depth_max_before_tabia = unset\n",
            ),
            (
                "[General]\nfirstname = me\nbook_depth_max = 20\nshowemt = False\n\n[FICS]\na = 1\n",
                "[General]\nfirstname = me\nbook_depth_max = 0\nbook_depth_max_before_tabia = 20\n\
                 showemt = False\n\n[FICS]\na = 1\n",
            ),
            (
                "[General]\r\nBook_Depth_Max: 5\r\n",
                "[General]\r\nbook_depth_max = 0\r\nbook_depth_max_before_tabia = 5\r\n",
            ),
            (
                "[FICS]\nbook_depth_max = 7\n",
                "[General]\nbook_depth_max = 0\nbook_depth_max_before_tabia = unset\n\n\
                 [FICS]\nbook_depth_max = 7\n",
            ),
            (
                "\u{feff}[General]\nbook_depth_max=10\n",
                "\u{feff}[General]\nbook_depth_max = 0\nbook_depth_max_before_tabia = 10\n",
            ),
            (
                "[General]",
                "[General]\nbook_depth_max = 0\nbook_depth_max_before_tabia = unset\n",
            ),
        ] {
            assert_eq!(without_own_book(before), off);
            assert_eq!(without_own_book(off), off);
            let exact = with_own_book(off, Some(before)).unwrap();
            assert_eq!(exact.trim_end(), before.trim_end());
            let back = with_own_book(off, None);
            let normal = |text: &str| {
                text.to_lowercase()
                    .replace([' ', '\n'], "")
                    .replace(':', "=")
            };
            let expected = normal(before.trim_end()).replace("[general]", "");
            let back = normal(back.unwrap_or_default().trim_end()).replace("[general]", "");
            assert_eq!(back, expected);
        }
        // What the user has switched off stays so.
        for off in [
            "[General]\nbook_depth_max = 0\n",
            "[General]\nbook_depth_max=-1\n",
        ] {
            assert_eq!(without_own_book(off), off);
            assert_eq!(with_own_book(off, None).as_deref(), Some(off));
        }
        // And what he has chosen since.
        let since = "[General]\nbook_depth_max = 9\nbook_depth_max_before_tabia = 13\n";
        let kept = Some("[General]\nbook_depth_max = 9\n");
        assert_eq!(with_own_book(since, None).as_deref(), kept);
        assert_eq!(with_own_book("", None).as_deref(), Some(""));
    }
}
