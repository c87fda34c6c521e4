//! The meaning of a request, by its method and path.

use hyper::Method;

use super::api::Endpoint;
use super::filter::Shape;
use super::work::Effort;

/// The meaning of a request. A request is parsed once; the code that answers it matches
/// all cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    /// The page itself.
    Page,
    Start,
    Position,
    Line,
    /// What there is to do on a book.
    Work,
    Openings,
    /// Files that can be opened.
    Files,
    /// The progress of a file that is being opened.
    Indexing,
    /// A book as a file to save.
    Copy,
    /// Games with a position.
    Games,
    /// The same games as PGN.
    GamesFile,
    /// Players of games.
    Players,
    /// Events about changes to books.
    Events,
    /// A request of an opening explorer client.
    Program(Endpoint<'p>),
    /// A request of the page, with its token.
    Command(Command),
    /// A request for a file of the page.
    File(&'p str),
}

/// Requests that only the page may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    ReadText,
    Evaluate,
    Edit,
    Add,
    CountRemoved,
    Remove,
    Undo,
    Redo,
    OpenFile,
    /// Games in PGN, of which the program makes an index.
    IndexGames,
    /// Files that the user has chosen in the browser.
    OpenSent,
    /// Answers of a training.
    Train,
}

/// The paths of the page and its requests.
const PATHS: [(&str, Route<'static>); 25] = [
    ("/", Route::Page),
    ("/api/start", Route::Start),
    ("/api/position", Route::Position),
    ("/api/line", Route::Line),
    ("/api/work", Route::Work),
    ("/api/openings", Route::Openings),
    ("/api/files", Route::Files),
    ("/api/indexing", Route::Indexing),
    ("/api/copy", Route::Copy),
    ("/api/games", Route::Games),
    ("/api/games.pgn", Route::GamesFile),
    ("/api/players", Route::Players),
    ("/api/events", Route::Events),
    ("/api/read", Route::Command(Command::ReadText)),
    ("/api/engine", Route::Command(Command::Evaluate)),
    ("/api/edit", Route::Command(Command::Edit)),
    ("/api/add", Route::Command(Command::Add)),
    ("/api/count-removed", Route::Command(Command::CountRemoved)),
    ("/api/remove", Route::Command(Command::Remove)),
    ("/api/undo", Route::Command(Command::Undo)),
    ("/api/redo", Route::Command(Command::Redo)),
    ("/api/open", Route::Command(Command::OpenFile)),
    ("/api/index", Route::Command(Command::IndexGames)),
    ("/api/open-sent", Route::Command(Command::OpenSent)),
    ("/api/training", Route::Command(Command::Train)),
];

impl<'p> Route<'p> {
    pub(super) fn effort(self) -> Effort {
        match self {
            Route::Page
            | Route::Start
            | Route::Position
            | Route::Line
            | Route::Openings
            | Route::Files
            | Route::Indexing
            | Route::Games
            | Route::Players
            | Route::Events
            | Route::File(_) => Effort::Short,
            Route::Copy | Route::Work | Route::GamesFile => Effort::Long,
            Route::Program(endpoint) => match endpoint {
                Endpoint::Explore(shape) => match shape {
                    Shape::Masters | Shape::Lichess | Shape::History => Effort::Short,
                    Shape::Player => Effort::Long,
                },
                Endpoint::Pgn(_) | Endpoint::Monitor => Effort::Short,
                Endpoint::Batch | Endpoint::Departures | Endpoint::Coverage => Effort::Long,
            },
            Route::Command(command) => match command {
                Command::ReadText | Command::Evaluate => Effort::Short,
                Command::CountRemoved => Effort::Long,
                Command::Edit
                | Command::Add
                | Command::Remove
                | Command::Undo
                | Command::Redo
                | Command::OpenFile
                | Command::IndexGames
                | Command::OpenSent
                | Command::Train => Effort::Change,
            },
        }
    }

    pub(super) fn from_path(path: &'p str) -> Route<'p> {
        let exact = PATHS.iter().find(|(exact, _)| *exact == path);
        let other = || Endpoint::from_path(path).map_or(Route::File(path), Route::Program);
        exact.map_or_else(other, |(_, route)| *route)
    }

    /// The methods that it allows, as a header names them.
    pub(super) fn methods(self) -> &'static str {
        match self {
            Route::Command(_) | Route::Program(Endpoint::Batch) => "POST",
            Route::Work | Route::Program(Endpoint::Departures | Endpoint::Coverage) => {
                "GET, HEAD, POST"
            }
            _ => "GET, HEAD",
        }
    }

    /// Whether it allows this method.
    pub(super) fn takes(self, method: &Method) -> bool {
        let mut methods = self.methods().split(", ");
        methods.any(|allowed| allowed == method.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_without_a_server_knows_which_requests_take_long() {
        let script = include_str!("../offline/transport.js");
        let list = script.split_once("const LONG = [").unwrap().1;
        let list = list.split_once("];").unwrap().0;
        for (path, route) in PATHS {
            // The positions of a removal are counted in a moment.
            let has_worker = route.effort() == Effort::Long && path != "/api/count-removed";
            assert_eq!(list.contains(&format!("\"{path}\"")), has_worker, "{path}");
        }
    }
}
