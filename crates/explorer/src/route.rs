//! What a request asks for, by its method and path.

use hyper::Method;

use super::api::Endpoint;

/// What is asked for. A request is parsed once; the code that answers it matches all
/// of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    /// The page itself.
    Page,
    Start,
    Position,
    Line,
    FindNext,
    Openings,
    /// Files that can be opened.
    Files,
    /// Games with a position.
    Games,
    /// Players of games.
    Players,
    /// Changes to books, as they happen.
    Events,
    /// What programs ask an opening explorer.
    Program(Endpoint<'p>),
    /// What the page sends, with its token.
    Command(Command),
    /// A file of the page, if there is one of that path.
    File(&'p str),
}

/// What only the page may ask.
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
}

impl<'p> Route<'p> {
    pub(super) fn of(path: &'p str) -> Route<'p> {
        match path {
            "/" => Route::Page,
            "/api/start" => Route::Start,
            "/api/position" => Route::Position,
            "/api/line" => Route::Line,
            "/api/jump" => Route::FindNext,
            "/api/openings" => Route::Openings,
            "/api/files" => Route::Files,
            "/api/games" => Route::Games,
            "/api/players" => Route::Players,
            "/api/events" => Route::Events,
            "/api/read" => Route::Command(Command::ReadText),
            "/api/engine" => Route::Command(Command::Evaluate),
            "/api/edit" => Route::Command(Command::Edit),
            "/api/add" => Route::Command(Command::Add),
            "/api/count-removed" => Route::Command(Command::CountRemoved),
            "/api/remove" => Route::Command(Command::Remove),
            "/api/undo" => Route::Command(Command::Undo),
            "/api/redo" => Route::Command(Command::Redo),
            "/api/open" => Route::Command(Command::OpenFile),
            _ => Endpoint::of(path).map_or(Route::File(path), Route::Program),
        }
    }

    /// Whether it is asked for by this method.
    pub(super) fn takes(self, method: &Method) -> bool {
        let writes = matches!(self, Route::Command(_) | Route::Program(Endpoint::Batch));
        let is_either = matches!(
            self,
            Route::Program(Endpoint::Departures | Endpoint::Coverage)
        );
        match *method {
            Method::GET | Method::HEAD => !writes,
            Method::POST => writes || is_either,
            _ => false,
        }
    }
}
