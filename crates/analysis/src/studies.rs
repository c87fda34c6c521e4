//! Played games beside a player's own repertoire: studies in PGN, several for each colour.
//!
//! Each move of a study, and of its variations, belongs to the repertoire, whatever order of
//! moves leads to its position. A game is followed to its last position that is in one of the
//! studies; the chapter is named with its address.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustc_hash::FxBuildHasher;
use serde::{Serialize, Serializer};
use shakmaty::{Chess, Color, Move, Position as _};

use crate::Error;
use crate::each_game::each_game;
use tabia_book::polyglot;
use tabia_games::{Game, GameFilter, GameParts, Starts, Tally, has_name};
use tabia_io::input::path::file_name;
use tabia_io::progress::Watch;
use tabia_notation as notation;

/// A game or chapter of a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chapter {
    /// Its name, or the file and the number of the game.
    pub name: String,
    /// Its address, if the tags have one.
    pub link: Option<String>,
}

/// The studies of one colour.
#[derive(Debug, Default)]
pub struct Studies {
    chapters: Vec<Chapter>,
    /// The moves of each position, with the first chapter that has them.
    moves: HashMap<u64, Vec<(Move, usize)>, FxBuildHasher>,
    /// What was skipped or cut short.
    pub tally: Tally,
}

/// How a game left the studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftStudies {
    /// By a move of the player: the studies have another one.
    Player,
    /// By a move of the opponent: the studies have others.
    Opponent,
    /// They have no further move.
    Ended,
    /// The game ended first.
    Never,
}

/// A game beside the studies of its colour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameInStudies {
    /// White's and Black's names.
    pub players: [String; 2],
    /// The round, empty if unknown.
    pub round: String,
    /// The colour of the player; as text `white` or `black`.
    #[serde(serialize_with = "colour_in_words")]
    pub colour: Color,
    /// Plies to the last position of the studies.
    pub plies: usize,
    /// How it left them.
    pub left: LeftStudies,
    /// The move with which it did, with its number; also where the studies have ended.
    pub played: Option<String>,
    /// The moves of the studies instead.
    pub instead: Vec<String>,
    /// The chapter with the last move that is in the studies.
    pub chapter: Option<Chapter>,
}

impl Studies {
    /// Reads the studies of one colour.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or has no games.
    pub fn read(paths: &[PathBuf], watch: &mut Watch<'_>) -> Result<Studies, Error> {
        let mut studies = Studies::default();
        for path in paths {
            studies.add(path, watch)?;
        }
        Ok(studies)
    }

    fn add(&mut self, path: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
        let parts = GameParts::EVERYTHING.with_variations();
        let read = |game: &Game| {
            let main = game.positions.iter().zip(&game.moves);
            let main = main.map(|(position, mv)| (polyglot::key(position), *mv));
            let variations = game.side_moves.iter();
            let variations = variations.map(|(_, position, mv)| (polyglot::key(position), *mv));
            let moves: Vec<(u64, Move)> = main.chain(variations).collect();
            let tag = |name: &str| {
                game.tags
                    .get(name)
                    .map(str::trim)
                    .filter(|it| !it.is_empty())
            };
            let name = tag("ChapterName").or_else(|| tag("Event").filter(|event| *event != "?"));
            let is_link = |text: &&str| text.starts_with("http");
            let links = ["ChapterURL", "Site", "Source", "StudyURL"];
            let link = links.into_iter().find_map(|name| tag(name).filter(is_link));
            Ok((name.map(str::to_owned), link.map(str::to_owned), moves))
        };
        let all = GameFilter::default();
        let (games, tally) = each_game(path, &all, parts, Starts::SetUp, watch, read)?;
        self.tally.add(tally);
        for (number, (name, link, moves)) in games.into_iter().enumerate() {
            let name = name.unwrap_or_else(|| format!("{}: game {}", file_name(path), number + 1));
            let chapter = self.chapters.len();
            self.chapters.push(Chapter { name, link });
            for (key, mv) in moves {
                let here = self.moves.entry(key).or_default();
                if !here.iter().any(|(known, _)| *known == mv) {
                    here.push((mv, chapter));
                }
            }
        }
        Ok(())
    }

    fn here(&self, position: &Chess) -> &[(Move, usize)] {
        let here = self.moves.get(&polyglot::key(position));
        here.map_or(&[], Vec::as_slice)
    }

    /// Follows a game of the player with this colour.
    fn follow(&self, game: &Game, colour: Color) -> GameInStudies {
        let mut found = GameInStudies {
            players: [game.names.white.clone(), game.names.black.clone()],
            round: game.tags.get("Round").unwrap_or_default().replace('?', ""),
            colour,
            plies: 0,
            left: LeftStudies::Ended,
            played: None,
            instead: Vec::new(),
            chapter: None,
        };
        // The last position of the studies: other orders of moves lead back to them.
        let mut positions = game.positions.iter().enumerate();
        let last = positions.rfind(|(_, position)| !self.here(position).is_empty());
        let (ply, here) = last.map_or((0, &[][..]), |(ply, position)| (ply, self.here(position)));
        let mv = game.moves.get(ply);
        let known = here.iter().find(|(known, _)| Some(known) == mv);
        let last = known.or(here.first());
        let chapter = last.map(|(_, number)| *number);
        found.plies = ply + usize::from(known.is_some());
        let next = game
            .positions
            .get(found.plies)
            .zip(game.moves.get(found.plies));
        if let Some((position, mv)) = next {
            let number = position.fullmoves();
            let dots = position.turn().fold_wb(".", "...");
            found.played = Some(format!("{number}{dots}{}", notation::san(position, *mv)));
            if known.is_none() && !here.is_empty() {
                found.left = match position.turn() == colour {
                    true => LeftStudies::Player,
                    false => LeftStudies::Opponent,
                };
                let instead = here.iter().map(|(mv, _)| notation::san(position, *mv));
                found.instead = instead.collect();
            }
        } else {
            found.left = LeftStudies::Never;
        }
        found.chapter = chapter
            .and_then(|number| self.chapters.get(number))
            .cloned();
        found
    }
}

fn colour_in_words<S: Serializer>(colour: &Color, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(colour.fold_wb("white", "black"))
}

/// The games of a file beside the studies of a player.
#[derive(Clone, Debug, Default)]
pub struct Followed {
    /// Games of a colour that has studies: with White first.
    pub games: Vec<GameInStudies>,
    /// The number of games of the player with a colour that has none.
    pub without_studies: u64,
    /// The number of games of others.
    pub others: u64,
    /// What was skipped or cut short.
    pub tally: Tally,
}

/// Puts the games of a player in a file beside the studies of the colours, White's first.
///
/// # Errors
///
/// The file cannot be read, or has no games.
pub fn follow(
    games: &Path,
    player: &str,
    [white, black]: &[Option<Studies>; 2],
    watch: &mut Watch<'_>,
) -> Result<Followed, Error> {
    let parts = GameParts::default().with_headers();
    let all = GameFilter::default();
    let read = |game: &Game| {
        let both = [(Color::White, white), (Color::Black, black)];
        let mut own = both
            .into_iter()
            .filter(|(colour, _)| has_name(game.names.get(*colour), player));
        let own = own.next();
        let studies = own.and_then(|(colour, studies)| Some((colour, studies.as_ref()?)));
        let beside = studies.map(|(colour, studies)| studies.follow(game, colour));
        Ok((own.is_some(), beside))
    };
    let (read, tally) = each_game(games, &all, parts, Starts::SetUp, watch, read)?;
    let mut followed = Followed {
        tally,
        ..Followed::default()
    };
    for (is_own, beside) in read {
        match beside {
            Some(game) => followed.games.push(game),
            None if is_own => followed.without_studies += 1,
            None => followed.others += 1,
        }
    }
    // By colour, else in the order of the file.
    followed.games.sort_by_key(|game| game.colour.is_black());
    Ok(followed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn games_are_followed_through_several_studies() {
        let folder = tempfile::tempdir().unwrap();
        let one = "[Event \"White: Italian\"]\n[ChapterName \"Italian\"]\n\
                   [ChapterURL \"https://x.org/a/b\"]\n\n\
                   1. e4 e5 2. Nf3 Nc6 3. Bc4 Nf6 (3... Bc5 4. c3) 4. d3 *\n\n";
        let two = "[Event \"Sicilian\"]\n[Site \"https://x.org/a/c\"]\n\n1. e4 c5 2. c3 *\n\n\
                   [Event \"?\"]\n\n1. e4 e6 2. d4 d5 3. e5 *\n";
        let black = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 *\n";
        let of = |white: &str, black: &str, moves: &str| {
            format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"*\"]\n\n{moves} *\n\n")
        };
        let games = [
            of("Me", "A", "1. e4 e5 2. Nf3 Nc6 3. Bc4 Be7 4. d3"),
            of("B", "Me", "1. c4 e6 2. d4 d5 3. Nc3 c5"),
            of("Me", "C", "1. e4 c5 2. c3"),
            of("Me", "D", "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. b4"),
            of("Me", "E", "1. e4 e6 2. d4 d5 3. e5 c5"),
            of("Me", "F", "1. b3 e5"),
            of("X", "Y", "1. e4 e5"),
        ];
        let games = written(&folder, "round.pgn", &games.concat());
        let read = |files: &[(&str, &str)]| {
            let paths: Vec<PathBuf> = files
                .iter()
                .map(|(name, text)| written(&folder, name, text))
                .collect();
            Studies::read(&paths, &mut Watch::default()).unwrap()
        };
        let studies = [
            Some(read(&[("one.pgn", one), ("two.pgn", two)])),
            Some(read(&[("black.pgn", black)])),
        ];
        let found = follow(&games, "me", &studies, &mut Watch::default()).unwrap();
        let reported: Vec<String> = found
            .games
            .iter()
            .map(|game| {
                let [white, black] = &game.players;
                let opponent = game.colour.fold_wb(black, white);
                let chapter = game.chapter.as_ref();
                format!(
                    "{opponent} {} {:?} {} {} | {} {}",
                    game.plies,
                    game.left,
                    game.played.as_deref().unwrap_or("-"),
                    game.instead.join(","),
                    chapter.map_or("-", |chapter| &chapter.name),
                    chapter
                        .and_then(|chapter| chapter.link.as_deref())
                        .unwrap_or("-"),
                )
            })
            .collect();
        assert_eq!(
            reported,
            [
                "A 5 Opponent 3...Be7 Nf6,Bc5 | Italian https://x.org/a/b",
                "C 3 Never -  | Sicilian https://x.org/a/c",
                "D 6 Player 4.b4 c3 | Italian https://x.org/a/b",
                "E 5 Ended 3...c5  | two.pgn: game 2 -",
                "F 0 Player 1.b3 e4 | Italian https://x.org/a/b",
                // The order of moves does not matter.
                "B 5 Player 3...c5 Nf6 | black.pgn: game 1 -",
            ]
        );
        assert_eq!((found.others, found.without_studies), (1, 0));
        let [white, _] = studies;
        let found = follow(&games, "me", &[white, None], &mut Watch::default()).unwrap();
        assert_eq!(found.games.len(), 5);
        assert_eq!((found.others, found.without_studies), (1, 1));
    }
}
