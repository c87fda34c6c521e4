//! The chess programs of a machine, and the file with the engines of each.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::places::{Places, folders_in};
use crate::install::register::{EditedFor, PrintedFor};

/// A chess program on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChessProgram {
    /// A program whose file can be edited, and the file.
    Edited(EditedFor, PathBuf),
    /// A program for which lines can be printed.
    Printed(PrintedFor),
}

impl ChessProgram {
    /// The name in the program's own spelling.
    #[must_use]
    pub(crate) const fn title(&self) -> &'static str {
        match self {
            ChessProgram::Edited(program, _) => program.title(),
            ChessProgram::Printed(program) => program.title(),
        }
    }
}

impl Places {
    /// The file with the engines of a program, whether it is installed or not.
    ///
    /// # Errors
    ///
    /// The file has no fixed place and was not found.
    pub(crate) fn file_of(&self, program: EditedFor) -> anyhow::Result<PathBuf> {
        let (folder, name) = match program {
            // Qt's INI format: the configuration folder, ~/.config on macOS too.
            EditedFor::CuteChess if cfg!(windows) => (&self.config, "cutechess"),
            EditedFor::CuteChess => (&self.xdg_config, "cutechess"),
            // It uses this folder even on Windows (pychess/System/prefix.py).
            EditedFor::PyChess => (&self.xdg_config, "pychess"),
            // Electron's `userData`.
            EditedFor::Nibbler => (&self.config, "Nibbler"),
            // Tauri's folder for data of this program.
            EditedFor::EnCroissant => (&self.data, "org.encroissant.app/engines"),
            // GLib's folder for configurations.
            EditedFor::GnomeChess => (&self.xdg_config, "gnome-chess"),
            EditedFor::Banksia => {
                let mut files = banksia_files(self);
                return match files.len() {
                    1 => Ok(files.remove(0)),
                    0 => bail!(
                        "no folder of BanksiaGUI with an engines.json is in the home folder, the \
                         desktop, documents, downloads or where programs are: name the file with \
                         --config-file"
                    ),
                    _ => {
                        let files: Vec<String> =
                            files.iter().map(|f| f.display().to_string()).collect();
                        bail!(
                            "there are several engines.json of BanksiaGUI, name one with \
                             --config-file: {}",
                            files.join(", ")
                        )
                    }
                };
            }
        };
        let folder = folder.as_deref();
        let folder = folder.context("there is no home folder: name the file with --config-file")?;
        Ok(folder.join(name).join(program.list()))
    }

    /// The programs that are installed: on the path, or with a configuration of this user.
    #[must_use]
    pub(crate) fn chess_programs(&self) -> Vec<ChessProgram> {
        let mut found = Vec::new();
        for (program, names) in [
            (EditedFor::CuteChess, ["cutechess"].as_slice()),
            (EditedFor::PyChess, &["pychess"]),
            (EditedFor::Nibbler, &["nibbler"]),
            (EditedFor::GnomeChess, &["gnome-chess"]),
            (EditedFor::EnCroissant, &["en-croissant"]),
        ] {
            let Ok(file) = self.file_of(program) else {
                continue;
            };
            // Its folder of engines is made with the first engine.
            let inner = usize::from(program == EditedFor::EnCroissant);
            let has_run = file.ancestors().nth(1 + inner).is_some_and(Path::is_dir);
            if has_run || names.iter().any(|name| self.program(name).is_some()) {
                found.push(ChessProgram::Edited(program, file));
            }
        }
        let banksias = banksia_files(self).into_iter();
        found.extend(banksias.map(|file| ChessProgram::Edited(EditedFor::Banksia, file)));
        for (program, names, folder) in [
            (PrintedFor::XBoard, ["xboard"].as_slice(), "winboard"),
            (PrintedFor::Scid, &["scid", "scidvspc"], "scid"),
            (PrintedFor::Arena, &["arena", "Arena"], "arena"),
            (PrintedFor::CuteChessCli, &["cutechess-cli"], ""),
            (PrintedFor::Fastchess, &["fastchess"], ""),
        ] {
            let on_path = names.iter().any(|name| self.program(name).is_some());
            if on_path || !folder.is_empty() && !self.unpacked_as(folder).is_empty() {
                found.push(ChessProgram::Printed(program));
            }
        }
        found
    }
}

/// The `engines.json` files of BanksiaGUI, which can be unpacked anywhere: the usual
/// places for such folders are searched.
fn banksia_files(places: &Places) -> Vec<PathBuf> {
    let folders = places.unpacked_as("banksia");
    let mut found: Vec<PathBuf> = folders
        .into_iter()
        .flat_map(|folder| folders_in(&folder).into_iter().chain([folder]))
        .map(|folder| folder.join("engines.json"))
        .filter(|file| file.is_file())
        .collect();
    found.sort();
    found.dedup();
    found
}
