//! `tabia tree`: shows the tree of a book, with rare moves folded.

use std::io::Write;
use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::arguments::common::{PLIES, PlaceArgs};
use crate::cli::arguments::complete;
use crate::cli::games_book;
use crate::cli::print::columns::{Table, cell, left, right};
use crate::cli::print::made;
use crate::cli::print::style::{FAINT, HEADING, Painted, of_mark, per_cent, rounded, thousands};
use shakmaty::Chess;
use tabia_book::tree::{Branch, Tree, TreeLimits, probe_lines, weight};
use tabia_book::{Book, BookMove, Mark, Preference};
use tabia_notation::{self as notation, Line};

/// Examples of `tree`.
pub(crate) const EXAMPLES: &str = "Examples:\n  \
    tabia tree books/tabia.ctg\n  \
    tabia tree books/tabia.ctg --moves \"1. e4 c5\" --depth 8 --min-share 1\n  \
    tabia tree book.bin --ascii | less\n\n\
    The share of a move is that of its whole line among the games of the first position; \
    moves below --min-share are folded into one line. The score is that of the side that \
    makes the move.\n\n\
    Exit code 1 when the position is not in the book.";

/// Arguments of `tree`.
#[derive(Args, Debug)]
pub(crate) struct TreeArgs {
    /// The book, or an index of games (.tgx)
    #[arg(add = complete::books_and_indexes())]
    book: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
    /// Plies that are shown
    #[arg(long = "max-ply", visible_alias = "depth", aliases = PLIES, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    /// Share in per cent below which moves are folded
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    min_share: f64,
    /// Draws with ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
    /// Reads the book by system calls instead of mapping it into memory
    #[arg(long)]
    no_mmap: bool,
}

/// Columns of the tree itself; the figures use the rest of 80.
const TREE_COLUMNS: usize = 45;

pub(crate) fn run(args: &TreeArgs, out: &mut impl Write) -> anyhow::Result<u8> {
    ensure!(
        (0.0..=100.0).contains(&args.min_share),
        "--min-share is a share in per cent, 0 to 100"
    );
    let book = games_book::open(&args.book, args.no_mmap)?;
    let reached = args.place.line()?;
    let limits = TreeLimits::new(args.depth, args.min_share / 100.0);
    let columns = [left(TREE_COLUMNS), right(10), right(7), right(7), right(6)];
    let mut printer = Printer {
        tree: Tree::new(&*book, limits),
        ascii: args.ascii,
        weights: false,
        transposition: false,
        above: false,
        table: Table::new(0, columns),
    };
    let found = if args.json {
        let mut tree = json!({ "fen": notation::fen(reached.last()) });
        let moves = printer.json(reached.last(), 0, 1.0)?;
        let found = moves.as_array().is_some_and(|moves| !moves.is_empty());
        tree["moves"] = moves;
        writeln!(out, "{tree}")?;
        found
    } else {
        printer.print(&book, &reached, out)?
    };
    Ok(made::left_out(&book).max(u8::from(!found)))
}

struct Printer<'b> {
    tree: Tree<'b>,
    ascii: bool,
    /// Whether the book has weights instead of games.
    weights: bool,
    /// Symbols that occur and are explained at the end.
    transposition: bool,
    above: bool,
    table: Table,
}

impl Printer<'_> {
    fn print(&mut self, book: &Book, reached: &Line, out: &mut impl Write) -> anyhow::Result<bool> {
        let title = match reached.plies() {
            0 if *reached.last() == Chess::default() => "start position".to_owned(),
            0 => notation::fen(reached.last()),
            _ => reached.to_string(),
        };
        let mut found = tabia_book::Lookup::default();
        probe_lines(book, reached.last(), &mut found)?;
        if found.moves.is_empty() {
            writeln!(
                out,
                "{title}: {}",
                match found.here {
                    Some(_) => "the book ends here",
                    None => "not in the book",
                }
            )?;
            return Ok(found.here.is_some());
        }
        self.weights = found
            .moves
            .iter()
            .any(|entry| matches!(entry.preference, Preference::Weight(_)));
        let mut head = title;
        if head.chars().count() > TREE_COLUMNS {
            writeln!(out, "{}", Painted(HEADING, head))?;
            head = String::new();
        }
        let count = if self.weights { "weight" } else { "games" };
        let row = [&head, count, "share", "%", "av"];
        (self.table).row(row.map(|name| Painted(HEADING, name.to_owned())));
        self.level(reached.last(), 0, 1.0, "")?;
        write!(out, "{}", self.table)?;
        if self.above {
            let sign = if self.ascii { "=" } else { "↑" };
            writeln!(out, "\n{sign} the moves from here are shown further up")?;
        }
        if self.transposition {
            if !self.above {
                writeln!(out)?;
            }
            writeln!(out, "* not stored as a move, but leads into the book")?;
        }
        Ok(true)
    }

    /// Collects the moves of a position, each with its subtree.
    fn level(
        &mut self,
        position: &Chess,
        ply: u32,
        share: f64,
        indent: &str,
    ) -> anyhow::Result<()> {
        let branches = self.tree.branches(position, ply, share)?;
        let number = notation::number(position);
        let count = branches.shown.len();
        for (index, branch) in branches.shown.iter().enumerate() {
            let last = index + 1 == count && branches.folded == 0;
            let above = self.tree.is_shown(branch);
            self.row(position, branch, &number, (indent, last, above));
            if !above {
                let indent = format!("{indent}{}", self.rail(last));
                self.level(&branch.after, ply + 1, branch.share, &indent)?;
            }
        }
        // After a move just above the limit, all moves may be folded.
        if branches.folded > 0 && (count > 0 || ply == 0) {
            let label = format!("{} more", branches.folded);
            let tree = fit(&format!("{indent}{}", self.fork(true)), &label);
            let share = per_cent(Some(branches.folded_share)) + "%";
            let row = [tree, String::new(), share];
            self.table.row(row.map(|text| Painted(FAINT, text)));
        }
        Ok(())
    }

    fn row(
        &mut self,
        position: &Chess,
        branch: &Branch,
        number: &str,
        (indent, last, above): (&str, bool, bool),
    ) {
        let entry = &branch.entry;
        let mut label = format!("{number}{}", name(position, entry));
        if entry.mark() != Mark::None {
            label.push(' ');
            label.push_str(entry.mark().as_str());
        }
        if above {
            self.above = true;
            label.push_str(if self.ascii { " =" } else { " ↑" });
        }
        self.transposition |= entry.transposition;
        let tree = fit(&format!("{indent}{}", self.fork(last)), &label);
        let stats = entry.stats();
        self.table.row([
            Painted(of_mark(entry.mark()), tree),
            cell(thousands(weight(entry) as u64)),
            cell(per_cent(Some(branch.share)) + "%"),
            cell(per_cent(stats.score())),
            cell(rounded(stats.average_elo())),
        ]);
    }

    fn fork(&self, last: bool) -> &'static str {
        match (self.ascii, last) {
            (true, _) => "+- ",
            (false, true) => "└─ ",
            (false, false) => "├─ ",
        }
    }

    fn rail(&self, last: bool) -> &'static str {
        match (self.ascii, last) {
            (_, true) => "   ",
            (true, false) => "|  ",
            (false, false) => "│  ",
        }
    }

    fn json(&mut self, position: &Chess, ply: u32, share: f64) -> anyhow::Result<Value> {
        let branches = self.tree.branches(position, ply, share)?;
        let mut list = Vec::new();
        for branch in &branches.shown {
            let book_move = &branch.entry;
            let stats = book_move.stats();
            let above = self.tree.is_shown(branch);
            let mut entry = json!({
                "uci": notation::uci(book_move.mv),
                "san": notation::san(position, book_move.mv),
                "games": stats.games,
                "wins": stats.wins,
                "draws": stats.draws,
                "losses": stats.losses,
                "average_elo": stats.average_elo(),
                "share": branch.share,
                "mark": book_move.mark().as_str(),
                "annotation": book_move.annotation.symbol(),
                "transposition": book_move.transposition,
                "shown_above": above,
            });
            if let Preference::Weight(weight) = book_move.preference {
                entry["stored_weight"] = json!(weight);
            }
            if !above {
                let below = self.json(&branch.after, ply + 1, branch.share)?;
                if below.as_array().is_some_and(|moves| !moves.is_empty()) {
                    entry["moves"] = below;
                }
            }
            list.push(entry);
        }
        if branches.folded > 0 {
            list.push(json!({
                "folded": branches.folded,
                "share": branches.folded_share,
            }));
        }
        Ok(Value::Array(list))
    }
}

/// The move with its annotation, and a star if it is not stored in the book.
fn name(position: &Chess, entry: &BookMove) -> String {
    let mut name = notation::san(position, entry.mv);
    name.push_str(entry.annotation.symbol());
    if entry.transposition {
        name.push('*');
    }
    name
}

/// The lines of the tree and the label; the lines are cut from the left if there is not
/// enough room.
fn fit(rails: &str, label: &str) -> String {
    let room = (TREE_COLUMNS - 1).saturating_sub(label.chars().count());
    let count = rails.chars().count();
    if count <= room {
        return format!("{rails}{label}");
    }
    let end: String = rails.chars().skip(count + 1 - room.max(1)).collect();
    format!("…{end}{label}")
}
