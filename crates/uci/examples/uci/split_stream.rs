//! Cuts a stream of bytes into lines, and answers them as an engine without moves:
//! `cargo run -p tabia-uci --example uci split_stream`

use tabia_uci::gui::{GuiCommand, parse};
use tabia_uci::line::LineBuffer;
use tabia_uci::message::best_move;

pub(crate) fn main() -> std::io::Result<()> {
    // Any `Read`: a pipe, a socket, or here a slice. The last line has no end.
    let mut stream = &b"uci\r\nisready\nposition startpos\ngo movetime 5\nquit"[..];
    let mut buffer = LineBuffer::default();
    while buffer.fill(&mut stream)? > 0 {
        while let Some(line) = buffer.next_line() {
            match parse(line) {
                GuiCommand::Uci => println!("uciok"),
                GuiCommand::IsReady => println!("readyok"),
                GuiCommand::Go(_) => println!("{}", best_move(&shakmaty::uci::UciMove::Null, None)),
                _ => {}
            }
        }
    }
    let last = buffer.last_line().map(parse);
    assert_eq!(last, Some(GuiCommand::Quit));
    Ok(())
}
