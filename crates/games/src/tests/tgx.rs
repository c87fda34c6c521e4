//! The games of an index are those that were put in, in any number of segments.

use std::fs;
use std::path::Path;

use super::export::random_games;
use super::{Folder, data, read_each};
use crate::tgx::{
    BlockMaker, EncodedGames, GAMES, Head, Segment, TableWriter, TgxFile, TgxWriter, find_game,
};
use crate::{Game, GameParts, GameResult, Previous, open};

/// Games of every kind that an index can store.
fn games(folder: &Folder) -> Vec<Game> {
    let random = folder.put("random.pgn", random_games(7));
    let online = folder.put(
        "online.pgn",
        "[Event \"Rated Blitz game\"]\n[Site \"https://lichess.org/AbCd1234\"]\n\
         [UTCDate \"2024.03.17\"]\n[Result \"0-1\"]\n[TimeControl \"300+0\"]\n\n1. e4 0-1\n",
    );
    let stored = ["sample.pgn", "scid/edge.pgn", "cbh2/made.pgn"].map(data);
    let paths = [random, online].into_iter().chain(stored);
    let wanted = GameParts::default().with_headers();
    let games = paths.flat_map(|path| read_each(&path, wanted).0.into_values());
    games
        .filter(|game| game.result != GameResult::Unknown && !game.chess960)
        .collect()
}

/// Adds a segment.
fn add(path: &Path, games: &[Game], is_new: bool) {
    let mut writer = match is_new {
        true => TgxWriter::create(path, Previous::Refuse, 50).unwrap(),
        false => TgxWriter::append(path).unwrap().0,
    };
    let first_game = writer.root().games();
    let mut table = TableWriter::default();
    let mut blocks = BlockMaker::new(first_game);
    for games in games.chunks(7) {
        let mut batch = EncodedGames::default();
        for game in games {
            batch.push(&Head::from_game(game).unwrap(), game);
        }
        assert_eq!(batch.count, games.len() as u64);
        let mut put = |first, block: &[u8]| table.block(first, block, &mut writer);
        blocks.add(&batch, &mut put).unwrap();
    }
    let put = |first, block: &[u8]| table.block(first, block, &mut writer);
    blocks.finish(put).unwrap();
    let start = writer.bytes();
    let bytes = writer.end_table(GAMES, table).unwrap();
    assert!(bytes < start && bytes > 0);
    let segment = Segment {
        first_game,
        games: games.len() as u64,
        ..Segment::default()
    };
    let end = writer.finish(segment).unwrap();
    assert_eq!(end, fs::metadata(path).unwrap().len());
}

#[test]
fn games_of_an_index_are_those_that_were_put_in() {
    let folder = Folder::new();
    let games = games(&folder);
    let path = folder.join("x.tgx");
    let (one, rest) = games.split_at(1);
    let (two, three) = rest.split_at(200);
    for (number, part) in [one, two, three].into_iter().enumerate() {
        add(&path, part, number == 0);
    }

    let wanted = GameParts::default().with_headers();
    let (read, problems) = read_each(&path, wanted);
    assert_eq!(problems, [""; 0]);
    assert_eq!(read.len(), games.len());
    for (read, game) in read.values().zip(&games) {
        let parts = |game: &Game| {
            let conditions = (game.conditions.speed, game.conditions.rated);
            let tags = ["Event", "Site", "Round"].map(|name| {
                let value = game.tags.get(name).filter(|value| *value != "?");
                value.unwrap_or_default().to_owned()
            });
            let players = (game.names.clone(), game.elo, game.result, game.eco);
            (players, conditions, tags, game.date(), game.set_up)
        };
        assert_eq!(parts(read), parts(game));
        assert_eq!(read.moves, game.moves);
        assert_eq!(read.positions, game.positions);
    }

    let file = TgxFile::open(&path, true).unwrap();
    assert_eq!((file.games(), file.is_empty()), (games.len() as u64, false));
    assert_eq!(file.root().max_ply, 50);
    let blocks: usize = file.tables(GAMES).map(|(_, blocks)| blocks.len()).sum();
    assert!(file.tables(GAMES).all(|(_, blocks)| !blocks.is_empty()));
    assert!(blocks > 10);
    let mut buffer = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let found = find_game(&file, number as u64, &mut buffer, |block| {
            let head = block.head()?;
            let mut moves = Vec::new();
            block.play(&head, |position, m| {
                assert_eq!(*position, game.positions[moves.len()]);
                moves.push(m);
                true
            })?;
            Some((head, moves))
        });
        let (head, moves) = found.unwrap().unwrap();
        assert_eq!(Some(head), Head::from_game(game), "{number}");
        assert_eq!(moves, game.moves, "{number}");
    }
    let beyond = find_game(&file, games.len() as u64, &mut buffer, |_| Some(()));
    assert!(beyond.unwrap().is_none());
    let ids = games.iter().filter_map(|game| {
        let head = Head::from_game(game)?;
        head.lichess_id().map(str::to_owned)
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["AbCd1234"]);
}

/// The games of a damaged block are missing; all others are read.
#[test]
fn damage_of_an_index_stays_in_its_block() {
    let folder = Folder::new();
    let games = games(&folder);
    let path = folder.join("x.tgx");
    add(&path, &games, true);
    let whole = fs::read(&path).unwrap();
    // The head of the first block, and bytes in two others.
    for at in [4096, 4096 + 5000, 4096 + 9000] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, bytes).unwrap();
        let (read, problems) = read_each(&path, GameParts::default());
        assert_eq!(problems.len(), 1, "{problems:?}");
        let file = TgxFile::open(&path, false).unwrap();
        let (_, blocks) = file.tables(GAMES).next().unwrap();
        let mut buffer = Vec::new();
        let mut is_read = |block| file.block(blocks, block, &mut buffer).is_ok();
        let damaged = (0..blocks.len()).find(|block| !is_read(*block)).unwrap();
        let first = blocks.first_key(damaged).unwrap() as usize;
        let next = blocks.first_key(damaged + 1).unwrap() as usize;
        assert!(problems[0].contains(&format!("game {}: game skipped", first + 1)));
        let kept = games[..first].iter().chain(&games[next..]);
        assert_eq!(read.len(), games.len() - (next - first));
        for (read, game) in read.values().zip(kept) {
            assert_eq!(read.moves, game.moves);
        }
        let lost = find_game(&file, first as u64, &mut buffer, |_| Some(()));
        assert!(lost.is_err());
    }
    // Without a valid slot it is not an index any more.
    let mut bytes = whole;
    bytes[512] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(open(&path).is_err());
}
