//! Checks values against what an engine declared, before they are sent:
//! `cargo run -p tabia-uci --example uci check_option`

use tabia_uci::engine::{check_option, option};
use tabia_uci::message::set_option;

pub(crate) fn main() {
    let declared: Vec<_> = [
        "option name Hash type spin default 16 min 1 max 1024",
        "option name Style type combo default Solid var Solid var Wild",
    ]
    .iter()
    .filter_map(|line| option(line.as_bytes()))
    .collect();
    for (name, value) in [
        ("hash", "64"),
        ("Hash", "0"),
        ("Style", "Tal"),
        ("Hahs", "1"),
    ] {
        match check_option(&declared, name, value) {
            Ok(()) => println!("{}", set_option(name, Some(value))),
            Err(error) => println!("not sent: {error}"),
        }
    }
}
