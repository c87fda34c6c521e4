//! The folders of a user, collected once, so that tests can use other folders.

use std::path::{Path, PathBuf};

/// Folders of a user of this machine; `None` or missing if the system does not name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The system's folder for configurations.
    pub config: Option<PathBuf>,
    /// The system's folder for data of programs.
    pub data: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, or `~/.config`, on all systems.
    pub xdg_config: Option<PathBuf>,
    /// Where users unpack programs: the home folder, desktop, documents, downloads,
    /// folders of programs, and the same in Wine.
    pub unpacked: Vec<PathBuf>,
    /// Folders in which programs are searched by name.
    pub path: Vec<PathBuf>,
    /// Folders for books of chess programs that are installed as packages.
    pub shared: Vec<PathBuf>,
}

impl Places {
    /// The folders of the current user.
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
            data: dirs::data_dir(),
            xdg_config: variable("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
            unpacked: unpacked
                .into_iter()
                .chain(systems)
                .chain(wine)
                .flatten()
                .collect(),
            path: tabia_engine::search_path(),
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

    /// The folder of Tabia's configuration.
    #[must_use]
    pub(crate) fn of_tabia(&self) -> Option<PathBuf> {
        self.config.as_deref().map(|folder| folder.join("tabia"))
    }

    /// The file of a program, searched by name in `path`.
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

    /// Folders whose name begins with `name`, in any case, in those where programs are
    /// unpacked.
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

/// The subfolders of a folder; none if it cannot be read.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

/// Whether the user may execute it.
pub(crate) fn is_executable(path: &Path) -> bool {
    let Ok(data) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let may = std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may = tabia_io::input::path::has_extension(path, "exe");
    data.is_file() && may
}
