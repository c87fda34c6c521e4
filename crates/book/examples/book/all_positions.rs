//! Walks through a book, the most played lines first, and prints each position with a line
//! to it: `cargo run -p tabia-book --example book all_positions [BOOK [COUNT]]`.

use shakmaty::{Chess, Position as _, san::SanPlus};
use tabia_book::walk::Order;
use tabia_book::{Book, OpenOptions};

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(2);
    let path = arguments.next().unwrap_or_else(|| STARTER.to_owned());
    let count = arguments.next().map_or(Ok(20), |count| count.parse())?;

    let book = Book::open(&path, &OpenOptions::default())?;
    for visited in book.walk(Order::Likeliest).take(count) {
        let visited = visited?;
        let mut position = Chess::default();
        let mut line = String::new();
        for mv in visited.line {
            line += &SanPlus::from_move_and_play_unchecked(&mut position, mv).to_string();
            line.push(' ');
        }
        let share = 100.0 * visited.share;
        let moves = visited.lookup.moves.len();
        println!(
            "{share:>6.2} % {moves:>3} moves, {} to move: {line}",
            visited.position.turn()
        );
    }
    Ok(())
}
