//! Marks a move of a copy of a book as the main move, and takes the mark back:
//! `cargo run -p tabia-book --example book marks`.

use shakmaty::{Chess, uci::UciMove};
use tabia_book::{BookEditor, EditOptions, Lookup, Mark, MarkEdit, Probe as _, Wanted};

const SIMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ctg/simple");

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("copy.ctg");
    for extension in ["ctg", "cto", "ctb"] {
        std::fs::copy(
            format!("{SIMPLE}.{extension}"),
            path.with_extension(extension),
        )?;
    }

    let start = Chess::default();
    let e4 = UciMove::from_ascii(b"e2e4")?.to_move(&start)?;
    let editor = BookEditor::open(&path, &EditOptions::default())?;
    let main_move = MarkEdit {
        recommendation: Some(Mark::Main),
        ..MarkEdit::default()
    };
    let changes = editor.plan(&start, e4, &main_move)?;
    let (editor, undo) = editor.apply(&changes)?;
    show(&editor)?;
    let (editor, _) = editor.apply(&undo)?;
    show(&editor)
}

fn show(editor: &BookEditor) -> Result<(), Box<dyn std::error::Error>> {
    let mut found = Lookup::default();
    let start = Chess::default();
    editor.book().probe(&start, Wanted::Stored, &mut found)?;
    for entry in &found.moves {
        println!("{}: {}", entry.mv, entry.mark().as_str());
    }
    Ok(())
}
