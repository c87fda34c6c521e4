//! Routes requests: checks where one comes from, and calls what answers it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde::{Deserialize, Serialize};

use super::access::{Access, OTHER_SITE, Visit};
use super::api::{Api, Endpoint, lists, worklist};
use super::assets;
use super::books::ExploredBook;
use super::cache::AnswerCache;
use super::copy;
use super::cors;
use super::edit::Undoable;
use super::edit_requests;
use super::engine::{EngineChoice, PageEngine};
use super::folders::{Folders, OpenFiles};
use super::indexes::Games;
use super::message::translatable;
use super::open_books::OpenBooks;
use super::openings;
use super::options::{self, StartOption};
use super::pasted;
use super::plot;
use super::position::{self, MOST_AHEAD};
use super::query::Query;
use super::reply::{Answer, EVENTS, Refusal, bad, json, json_text, refuse, reply, unreadable};
use super::route::{Command, Route};
use super::training::{Storage, TrainRequest, Trainings};
use super::uploads::sent_files;
use super::work::Gone;
use tabia_choice::settings::Options;
use tabia_io::parallel::lock;

const NOT_HERE: &str = "not found";

/// The explorer without its sockets.
pub struct Explorer {
    pub(super) open: OpenBooks,
    access: Access,
    /// The options that apply unless a request sets others.
    general: Options,
    cache: AnswerCache,
    engine: Option<PageEngine>,
    trainings: Trainings,
    refusals: Option<Refusals>,
}

/// Reports refused requests, each kind once.
struct Refusals {
    report: Box<dyn Fn(&str) + Send + Sync>,
    /// What was reported.
    known: Mutex<Vec<String>>,
}

/// Greatest number of reports: a page of any site can send requests.
const MOST_REPORTS: usize = 20;

/// Data that the page needs only once.
#[derive(Serialize)]
struct Start<'a> {
    version: &'static str,
    read_only: bool,
    /// The name of the engine, if there is one.
    engine: Option<&'a str>,
    /// Whether there are folders with files to open.
    folders: bool,
    /// Whether the program makes an index of games that the page sends.
    indexes: bool,
    books: Vec<StartBook<'a>>,
    options: Vec<StartOption>,
}

#[derive(Serialize)]
struct StartBook<'a> {
    name: &'a str,
    editable: bool,
    notices: &'a [String],
    /// What this page can undo: the first answer, which comes with the page, is made
    /// before its client is known.
    undoable: Undoable,
}

/// A request with a pasted text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
}

impl Explorer {
    /// An explorer of these books. `general` are the options that apply unless a request
    /// sets others. Nothing can be changed if it is `read_only` or open to other
    /// machines.
    #[must_use]
    pub fn new(
        books: Vec<ExploredBook>,
        access: Access,
        general: Options,
        read_only: bool,
    ) -> Explorer {
        let elsewhere = None;
        let storage = match (access.is_local(), read_only) {
            (false, _) => Storage::Page,
            (true, true) => Storage::ReadOnly { elsewhere },
            (true, false) => Storage::Files { elsewhere },
        };
        Explorer {
            trainings: Trainings::new(storage),
            open: OpenBooks::new(books, read_only || !access.is_local()),
            access,
            general,
            cache: AnswerCache::default(),
            engine: None,
            refusals: None,
        }
    }

    /// Calls `report` with a line about a request that is refused because of its source, and
    /// what would permit it: once for each reason and page, 20 times at most.
    #[must_use]
    pub fn with_refusals(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Explorer {
        self.refusals = Some(Refusals {
            report: Box::new(report),
            known: Mutex::default(),
        });
        self
    }

    /// Refuses a request because of its source, and reports that.
    fn turn_away(
        &self,
        route: Route<'_>,
        headers: &HeaderMap,
        reason: &'static str,
    ) -> Response<Bytes> {
        if let Some(Refusals { report, known }) = &self.refusals {
            let origin = headers.get(header::ORIGIN);
            let origin = origin.and_then(|origin| origin.to_str().ok());
            let line = match (origin, route) {
                (Some(origin), Route::Program(_)) if reason == OTHER_SITE => {
                    let origin: String = origin.chars().take(100).collect();
                    format!("refused: {reason}, {origin}: --allow-origin {origin} permits it")
                }
                _ => format!("refused: {reason}"),
            };
            let is_new = {
                let mut known = lock(known);
                let is_new = known.len() < MOST_REPORTS && !known.contains(&line);
                if is_new {
                    known.push(line.clone());
                }
                is_new
            };
            if is_new {
                report(&line);
            }
        }
        refuse(StatusCode::FORBIDDEN, reason)
    }

    /// Adds games, which answer requests of opening explorer clients.
    ///
    /// ```
    /// use tabia_explorer::hyper::{Request, body::Bytes};
    /// use tabia_explorer::{Access, Explorer, Games, Options};
    /// use tabia_index::{GamesIndex, IndexJob, Watch};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("games.tgx");
    /// let games = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/chessbase/Capa.cbh");
    /// IndexJob::new([games], &path).run(&mut Watch::default())?;
    /// let games = Games::new(vec![GamesIndex::open(&path, true)?], true);
    /// let host = "127.0.0.1:9002";
    /// let access = Access::new(host.parse()?, Access::random_token());
    /// let explorer = Explorer::new(Vec::new(), access, Options::default(), true).with_games(games);
    ///
    /// let request = Request::get("/masters?play=d2d4,d7d5").header("host", host);
    /// let answer = explorer.answer(&request.body(Bytes::new())?);
    /// let answer: serde_json::Value = serde_json::from_slice(answer.body())?;
    /// assert_eq!(answer["moves"][0]["san"], "c4");
    /// let game = answer["topGames"][0]["id"].as_str().ok_or("no game is listed")?;
    /// let request = Request::get(format!("/masters/pgn/{game}")).header("host", host);
    /// let pgn = explorer.answer(&request.body(Bytes::new())?);
    /// assert!(pgn.body().starts_with(b"[Event "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_games(mut self, games: Games) -> Explorer {
        self.open.games = games;
        self
    }

    /// Adds folders whose files pages may open, and what indexes the games that they send.
    /// Not for other machines.
    #[must_use]
    pub fn with_folders(mut self, folders: Vec<PathBuf>, open: Box<dyn OpenFiles>) -> Explorer {
        if self.access.is_local() {
            self.open = self.open.with_folders(Folders::new(folders, open));
        }
        self
    }

    /// Adds a folder of the user's data: for the training of books beside which nothing can
    /// be written, and for files that pages send, if [`Explorer::with_folders`] came before.
    #[must_use]
    pub fn with_user_data(mut self, folder: Option<PathBuf>) -> Explorer {
        let training = folder.as_ref().map(|folder| folder.join("training"));
        self.trainings = self.trainings.with_folder(training);
        self.open = self.open.with_data(folder);
        self
    }

    /// Leaves the training to the pages: where files end with the page, nothing else keeps it.
    #[must_use]
    pub fn with_training_in_pages(mut self) -> Explorer {
        self.trainings = Trainings::new(Storage::Page);
        self
    }

    /// Adds an engine that evaluates positions when a page requests it: the first of
    /// these that starts. Not for other machines.
    #[must_use]
    pub fn with_engine(mut self, choices: Vec<EngineChoice>) -> Explorer {
        if self.access.is_local() {
            self.engine = PageEngine::new(choices);
        }
        self
    }

    /// Whether the page sends games or other files with this request, or all answers of a
    /// training.
    pub(super) fn receives_games(&self, head: &Parts) -> bool {
        let takes_games = match Route::from_path(head.uri.path()) {
            Route::Work | Route::Program(Endpoint::Departures) => true,
            // Pages of other machines send no files, and only their own answers.
            Route::Command(Command::IndexGames | Command::OpenSent | Command::Train) => {
                self.access.is_local()
            }
            _ => false,
        };
        takes_games && self.access.has_token(&head.headers)
    }

    /// Answers a request. Reads books, and writes one for a change request; blocks until
    /// that is done.
    ///
    /// ```
    /// use tabia_explorer::hyper::{Request, body::Bytes};
    /// use tabia_explorer::{Access, ExploredBook, Explorer, Options};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../books/tabia.ctg");
    /// let books = vec![ExploredBook::from_file(path.as_ref())?];
    /// let host = "127.0.0.1:9002";
    /// let access = Access::new(host.parse()?, Access::random_token());
    /// let explorer = Explorer::new(books, access, Options::default(), true);
    ///
    /// // Any page of any site can send requests here: those with another host are refused.
    /// let request = Request::get("/api/position?play=e2e4,c7c5").header("host", host);
    /// let answer = explorer.answer(&request.body(Bytes::new())?);
    /// let view: serde_json::Value = serde_json::from_slice(answer.body())?;
    /// assert_eq!(view["opening"]["name"], "Sicilian Defense");
    /// assert_eq!(view["books"][0]["moves"][0]["san"], "Nf3");
    ///
    /// // A repertoire (here the same book) against what opponents play.
    /// let request = Request::post("/coverage?book=0&opponents=0&color=black").header("host", host);
    /// let answer = explorer.answer(&request.body(Bytes::new())?);
    /// let coverage: serde_json::Value = serde_json::from_slice(answer.body())?;
    /// assert!(coverage["holes"].is_array());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        if request.uri().authority().is_some() {
            return refuse(StatusCode::BAD_REQUEST, "this is not a proxy");
        }
        let route = Route::from_path(request.uri().path());
        let (headers, method) = (request.headers(), request.method());
        if let Route::Program(_) = route {
            return match self.access.visit(headers) {
                Err(reason) => self.turn_away(route, headers, reason),
                Ok(Visit::Own) => self.respond(route, request),
                Ok(Visit::CrossOrigin(origin)) => {
                    let mut response = match *method {
                        Method::OPTIONS => cors::preflight(headers),
                        _ => self.respond(route, request),
                    };
                    cors::admit(&origin, &mut response);
                    response
                }
            };
        }
        let opens_page = route == Route::Page && method == Method::GET;
        match self.access.refusal(headers, opens_page) {
            Some(reason) => self.turn_away(route, headers, reason),
            None => self.respond(route, request),
        }
    }

    fn respond(&self, route: Route<'_>, request: &Request<Bytes>) -> Response<Bytes> {
        if !route.takes(request.method()) {
            if let (Route::File(_), &Method::POST) = (route, request.method()) {
                return refuse(StatusCode::NOT_FOUND, NOT_HERE);
            }
            let methods = route.methods();
            let reason = format!("accepted here: {methods}");
            let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, reason);
            let methods = HeaderValue::from_static(methods);
            response.headers_mut().insert(header::ALLOW, methods);
            return response;
        }
        let answer = self.dispatch(route, request);
        answer.unwrap_or_else(|(status, error)| refuse(status, error))
    }

    fn dispatch(&self, route: Route<'_>, request: &Request<Bytes>) -> Answer {
        let query = || Query::read(request.uri().query().unwrap_or_default());
        let gone = || {
            let gone = request.extensions().get::<Gone>();
            gone.cloned().unwrap_or_default()
        };
        match route {
            Route::Page => Ok(self.page(query(), request.headers())),
            Route::Start => {
                let query = query();
                let client = query.get("client").unwrap_or_default();
                Ok(json(&self.start(&self.open.books(), client)))
            }
            Route::Position => {
                let query = query();
                match query.get("Book Leave Early") {
                    None | Some("0") => position::answer(&self.open, &self.general, &query),
                    // Finding the likeliest moves is expensive.
                    Some(_) => self.cache(request, || {
                        position::answer(&self.open, &self.general, &query)
                    }),
                }
            }
            Route::Line => self.cache(request, || {
                plot::answer(&self.open, &self.general, &query())
            }),
            Route::Work => {
                worklist::answer(&self.open, &self.general, &query(), request.body(), &gone())
            }
            Route::Openings => {
                let query = query();
                let books = self.open.shown(&query)?;
                let books: Vec<_> = books.iter().map(|(_, book)| book.current()).collect();
                let typed = query.get("q").unwrap_or_default();
                Ok(json(&openings::search(typed, &books)))
            }
            Route::Files => Ok(json(&self.open.folders()?.list())),
            Route::Indexing => Ok(json(&self.open.indexing())),
            Route::Copy => match self.access.is_local() {
                true => copy::answer(&self.open, &query()),
                false => {
                    let reason = translatable!("only pages on this machine may save books");
                    Err((StatusCode::FORBIDDEN, reason))
                }
            },
            Route::Games => Ok(json(&lists::list(&self.open, &query())?)),
            Route::GamesFile => lists::pgn(&self.open, &query(), &gone()),
            Route::Players => {
                let query = query();
                let typed = query.get("q").unwrap_or_default();
                let found = lists::players_named(&self.open.games, typed);
                Ok(json(&found.map_err(unreadable)?))
            }
            // The server sends the events: see `events`.
            Route::Events => Ok(reply(StatusCode::OK, EVENTS, "retry: 2000\n\n".into())),
            Route::Program(endpoint) => {
                let query = query();
                let api = Api {
                    open: &self.open,
                    settings: &self.general,
                    gone: gone(),
                };
                match api.is_cacheable(endpoint, &query) {
                    true => self.cache(request, || api.answer(endpoint, &query, request.body())),
                    false => api.answer(endpoint, &query, request.body()),
                }
            }
            Route::Command(command) => self.execute(command, request),
            Route::File(path) => {
                let file = assets::file(path, request.headers());
                file.ok_or_else(|| (StatusCode::NOT_FOUND, NOT_HERE.into()))
            }
        }
    }

    fn execute(&self, command: Command, request: &Request<Bytes>) -> Answer {
        if !self.access.has_token(request.headers()) {
            let reason = translatable!(
                "the request does not carry the token of this page: load the page again"
            );
            return Err((StatusCode::FORBIDDEN, reason));
        }
        match command {
            Command::ReadText => {
                let Text { text } = body(request)?;
                Ok(json(&pasted::read(&text).map_err(bad)?))
            }
            Command::Evaluate => {
                let request = body(request)?;
                let none = || {
                    (
                        StatusCode::FORBIDDEN,
                        translatable!("no engine is available"),
                    )
                };
                self.engine.as_ref().ok_or_else(none)?.evaluate(&request)
            }
            Command::Edit => edit_requests::edit(&self.open, &body(request)?),
            Command::Add => edit_requests::add(&self.open, &body(request)?),
            Command::CountRemoved => edit_requests::count_removed(&self.open, &body(request)?),
            Command::Remove => edit_requests::remove(&self.open, &body(request)?),
            Command::Undo => edit_requests::undo(&self.open, &body(request)?),
            Command::Redo => edit_requests::redo(&self.open, &body(request)?),
            Command::OpenFile => Ok(json(&self.open.open_file(&body(request)?)?)),
            Command::OpenSent => {
                let query = Query::read(request.uri().query().unwrap_or_default());
                let [names, sizes] = ["names", "sizes"].map(|name| query.get(name));
                let files = names
                    .zip(sizes)
                    .and_then(|(names, sizes)| sent_files(names, sizes, request.body()));
                let files = files.ok_or_else(|| bad("the files do not fit their names"))?;
                Ok(json(&self.open.open_sent(&files)?))
            }
            Command::Train => {
                let request: TrainRequest = body(request)?;
                let deck = self.open.deck(&request.deck)?;
                Ok(json(&self.trainings.exchange(&deck, &request)))
            }
            Command::IndexGames => {
                let query = Query::read(request.uri().query().unwrap_or_default());
                let name = query.get("name").filter(|name| !name.is_empty());
                let name = name.unwrap_or("games.pgn");
                Ok(json(&self.open.index_games(name, request.body())?))
            }
        }
    }

    /// The page, with the first answer that it needs.
    fn page(&self, mut query: Query, headers: &HeaderMap) -> Response<Bytes> {
        query.set("lenient", "1");
        query.set("ahead", &MOST_AHEAD.to_string());
        let first = position::answer(&self.open, &self.general, &query).map(Response::into_body);
        // On an error the page sends a request itself, and gets the reason.
        let first = first.unwrap_or_default();
        let page = assets::page(self.access.token(), &String::from_utf8_lossy(&first));
        assets::compressed_page(page, headers)
    }

    /// The cached answer to a request, valid until a book changes.
    fn cache(&self, request: &Request<Bytes>, make: impl FnOnce() -> Answer) -> Answer {
        let address = request.uri().to_string();
        let made = || make().map(Response::into_body);
        self.cache
            .get_or_make(self.open.generations(), &address, made)
            .map(json_text)
    }

    fn start<'b>(&'b self, books: &'b [Arc<ExploredBook>], client: &str) -> Start<'b> {
        Start {
            engine: self.engine.as_ref().map(PageEngine::name),
            folders: self.open.folders().is_ok(),
            indexes: self.open.can_index(),
            version: env!("CARGO_PKG_VERSION"),
            read_only: self.open.read_only,
            books: books
                .iter()
                .map(|book| StartBook {
                    name: book.name(),
                    editable: !self.open.read_only && book.history().is_ok(),
                    notices: book.notices(),
                    undoable: book
                        .history()
                        .map(|history| history.undoable(client))
                        .unwrap_or_default(),
                })
                .collect(),
            options: options::start(&self.general),
        }
    }
}

/// The JSON of a request's body.
fn body<'r, T: Deserialize<'r>>(request: &'r Request<Bytes>) -> Result<T, Refusal> {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let is_json = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.split(';').next().map(str::trim) == Some("application/json"));
    if !is_json {
        let reason = "the body must be application/json".into();
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    serde_json::from_slice(request.body()).map_err(|error| bad(format!("the body: {error}")))
}
