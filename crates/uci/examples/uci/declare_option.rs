//! Writes and reads the declaration of an option:
//! `cargo run -p tabia-uci --example uci declare_option`

use tabia_uci::engine;
use tabia_uci::message::{UciMessage, UciOptionConfig, id_name};

pub(crate) fn main() {
    println!("{}", id_name("Example 1.0"));
    let hash = UciOptionConfig::Spin {
        name: "Hash".to_owned(),
        default: Some(16),
        min: Some(1),
        max: Some(1024),
    };
    let line = UciMessage::Option(hash).to_string();
    println!("{line}");

    let declared = engine::option(line.as_bytes()).expect("it has a name and a type");
    println!("{} goes up to {:?}", declared.name, declared.field("max"));
    // The same option under another name, as a proxy announces it.
    println!("{}", tabia_uci::line::text(&declared.announce("Engine ")));
}
