//! Answers from games indexes.

use std::sync::Arc;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color};

use super::super::filter::Shape;
use super::super::indexes::{Games, Spellings, book_moves, no_such_player};
use super::answer::{
    CountedMove, Explored, ExploredGame, ExploredPlayer, PlayedGame, history, speed_name,
};
use super::lists::MOST_READ;
use super::question::Question;
use tabia_book::BookMove;
use tabia_book::policy;
use tabia_choice::settings::Options;
use tabia_games::tgx::move_of;
use tabia_index::Error;
use tabia_index::query::{self, ListedGame, Lists, Source, Sums};
use tabia_index::{Counts, GamesIndex};

/// The answer for a position from all games.
pub(super) fn explore(
    games: &Games,
    question: &Question,
    settings: &Options,
) -> Result<Explored, Error> {
    let Some(position) = question.position() else {
        return Ok(Explored::nothing(question));
    };
    let indexes = games.current();
    let all = indexes.iter().map(|index| Source::Index(index));
    let sums = query::sums(all, position, &question.selection, lists(question))?;
    let newest = indexes.iter().filter_map(|index| index.last_month()).max();
    let mut explored = make_answer(question, position, settings, &indexes, &sums)?;
    if question.history {
        explored.history = Some(history(question, &sums.history, newest));
    }
    Ok(explored)
}

/// The answer from the games of one player.
pub(super) fn player(
    games: &Games,
    question: &Question,
    name: &str,
    color: Color,
    settings: &Options,
) -> Result<Explored, Error> {
    let Some(position) = question.position() else {
        return Ok(Explored::nothing(question));
    };
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    let opened = games.indexes();
    for open in &opened {
        let index = open.current();
        let player = open.player(&index, name, color, Spellings::One)?;
        match player.is_empty() {
            true => unknown.extend(open.unknown_names(&index, name, Spellings::One)?),
            false => found.push((index, player)),
        }
    }
    if found.is_empty() {
        let mut nothing = Explored::nothing(question);
        let unknown = unknown.pop().filter(|_| unknown.len() + 1 == opened.len());
        nothing.notice = unknown.map(|name| no_such_player(&name).to_string());
        return Ok(nothing);
    }
    let players = found.iter().map(|(_, player)| player);
    let sources = players.map(|player| Source::Players(std::slice::from_ref(player)));
    let sums = query::sums(sources, position, &question.selection, lists(question))?;
    let indexes: Vec<_> = found.iter().map(|(index, _)| Arc::clone(index)).collect();
    make_answer(question, position, settings, &indexes, &sums)
}

fn lists(question: &Question) -> Lists {
    let mut lists = Lists::default();
    lists.top = question.top_games;
    // A player has no list of top games.
    lists.top_groups = matches!(question.shape, Shape::Lichess | Shape::History);
    lists.recent = question.recent_games;
    lists.history = question.history;
    lists.read = if question.is_one_of_many {
        0
    } else {
        MOST_READ
    };
    lists
}

/// Makes an answer from the sums.
fn make_answer(
    question: &Question,
    position: &Chess,
    settings: &Options,
    indexes: &[Arc<GamesIndex>],
    sums: &Sums,
) -> Result<Explored, Error> {
    // A request without games gets none with the moves either.
    let names_games = question.top_games + question.recent_games > 0;
    let rejected = rejected_moves(question, position, settings, sums);
    let mut moves = Vec::new();
    for (place, made) in sums.moves.iter().enumerate() {
        if rejected.get(place) == Some(&true) {
            continue;
        }
        // Games that are not listed are not looked up.
        let is_listed = names_games && moves.len() < question.moves;
        let only = made.only.filter(|_| is_listed);
        let game = match only {
            Some(named) => look_up_game(question, indexes, &named)?,
            None => None,
        };
        moves.push(CountedMove {
            mv: made.mv,
            counts: made.counts,
            game,
        });
    }
    let mut counts = sums.counts;
    if question.playable {
        counts = Counts::default();
        moves.iter().for_each(|mv| counts.add(&mv.counts));
    }
    let mut explored = Explored::new(question, &counts, moves);
    for (list, named) in [
        (&mut explored.top_games, &sums.top),
        (&mut explored.recent_games, &sums.recent),
    ] {
        let Some(list) = list else { continue };
        for game in named {
            let (from, to, promotion) = game.mv.parts();
            let mv = move_of(position, from, to, promotion);
            if let Some((mv, game)) = mv.zip(look_up_game(question, indexes, game)?) {
                let uci = UciMove::from_chess960(mv).to_string();
                list.push(PlayedGame { uci, game });
            }
        }
    }
    Ok(explored)
}

/// Looks a game up.
fn look_up_game(
    question: &Question,
    indexes: &[Arc<GamesIndex>],
    named: &ListedGame,
) -> Result<Option<ExploredGame>, Error> {
    let Some(index) = indexes.get(named.index) else {
        return Ok(None);
    };
    let Some(found) = index.game(named.game.game.into())? else {
        return Ok(None);
    };
    let facts = found.head.facts;
    let is_masters = question.shape == Shape::Masters;
    Ok(Some(ExploredGame {
        winner: facts.winner.map(|winner| winner.fold_wb("white", "black")),
        speed: facts.speed.filter(|_| !is_masters).map(speed_name),
        mode: facts
            .rated
            .filter(|_| !is_masters)
            .map(|rated| if rated { "rated" } else { "casual" }),
        black: ExploredPlayer::new(&found, Color::Black),
        white: ExploredPlayer::new(&found, Color::White),
        year: facts.date.year,
        month: facts.date.month().map(|month| month.to_string()),
        id: found.id,
    }))
}

/// For each move, whether the policy would never play it; empty if the request does not
/// ask for it.
fn rejected_moves(
    question: &Question,
    position: &Chess,
    settings: &Options,
    sums: &Sums,
) -> Vec<bool> {
    if !question.playable {
        return Vec::new();
    }
    let moves: Vec<BookMove> = book_moves(position, sums).collect();
    let mut verdicts = Vec::new();
    policy::weigh(&moves, &settings.policy, |_| None, &mut verdicts);
    verdicts
        .iter()
        .map(|verdict| verdict.probability <= 0.0)
        .collect()
}
