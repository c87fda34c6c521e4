//! Where a user's things are: folders, taken once, so that all else can be
//! tried with folders made for it.

use std::path::{Path, PathBuf};

/// Folders of a user of this machine. Those that the system does not name are
/// missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The system's folder for configurations.
    pub config: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `~/.config`, on every system.
    pub xdg_config: Option<PathBuf>,
    /// Where people unpack programs: the home folder, desktop, documents,
    /// downloads, where programs are, and the same in Wine.
    pub unpacked: Vec<PathBuf>,
    /// Where programs are looked for by name.
    pub path: Vec<PathBuf>,
    /// Folders in which the packages of a system put chess programs' books.
    pub shared: Vec<PathBuf>,
}

impl Places {
    /// Those of the user who runs this.
    #[must_use]
    pub(crate) fn of_this_user() -> Places {
        let home = dirs::home_dir();
        let below_home = |inner: &str| home.as_deref().map(|home| home.join(inner));
        let wine = ["Program Files", "Program Files (x86)", ""];
        let systems = match cfg!(windows) {
            true => vec![Some(PathBuf::from("C:\\"))],
            false => vec![Some(PathBuf::from("/opt"))],
        };
        let unpacked = [
            home.clone(),
            dirs::desktop_dir(),
            dirs::document_dir(),
            dirs::download_dir(),
            dirs::public_dir(),
            dirs::config_dir(),
            dirs::data_dir(),
            dirs::data_local_dir(),
            below_home("Documents"),
            below_home("Downloads"),
            variable("ProgramFiles"),
            variable("ProgramFiles(x86)"),
            variable("ProgramData"),
            variable("PUBLIC").map(|folder| folder.join("Documents")),
        ];
        let wine = wine.map(|inner| below_home(".wine/drive_c").map(|c| c.join(inner)));
        let mut places = Places {
            config: dirs::config_dir(),
            xdg_config: variable("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
            unpacked: unpacked
                .into_iter()
                .chain(systems)
                .chain(wine)
                .flatten()
                .collect(),
            path: tabia_uci::process::search_path(),
            shared: match cfg!(unix) {
                true => ["/usr/share/scid", "/usr/local/share/scid"]
                    .map(PathBuf::from)
                    .to_vec(),
                false => Vec::new(),
            },
        };
        places.unpacked.sort();
        places.unpacked.dedup();
        places
    }

    /// The folder of our own configuration.
    #[must_use]
    pub(crate) fn own(&self) -> Option<PathBuf> {
        self.config.as_deref().map(|folder| folder.join("tabia"))
    }

    /// A program's file by its name, on the path.
    #[must_use]
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let file = |folder: &PathBuf| {
            let path = folder.join(name);
            let path = match cfg!(windows) {
                true => path.with_added_extension("exe"),
                false => path,
            };
            is_executable(&path).then_some(path)
        };
        self.path.iter().find_map(file)
    }

    /// Folders whose name begins with `name`, in whatever case, in those
    /// where programs are unpacked.
    #[must_use]
    pub(crate) fn unpacked_as(&self, name: &str) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = (self.unpacked.iter())
            .flat_map(|folder| folders_in(folder))
            .filter(|folder| {
                let own = folder.file_name().unwrap_or_default().to_string_lossy();
                own.to_lowercase().starts_with(name)
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The folders in a folder; none if it cannot be read.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

/// Whether the user could start it.
pub(super) fn is_executable(path: &Path) -> bool {
    let Ok(data) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may = std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may = tabia_io::input::path::has_extension(path, "exe");
    data.is_file() && may
}
