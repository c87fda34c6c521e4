//! Encodes a game.

use shakmaty::{CastlingSide, Color, File, Move, Square};

use super::entry::ScdbEntry;
use super::{NAME_BYTES, length, promotion};
use crate::game::{eco_code, eco_number};
use crate::loss::GameLosses;
use crate::pgn::first_fen;
use crate::{Game, Item, Loss, SkipReason};

/// A game ready to be written: its bytes, and its entry in the index.
#[derive(Clone, Debug)]
pub(crate) struct ScdbRecord {
    /// White, Black, site, event.
    pub(super) names: [String; 4],
    /// The entry, without offsets.
    pub(super) entry: ScdbEntry,
    /// The encoded game, after its length.
    pub(super) bytes: Vec<u8>,
}

/// Tags that the format can store.
const KEPT_TAGS: [&str; 9] = [
    "Event", "Site", "Date", "Round", "White", "Black", "WhiteElo", "BlackElo", "ECO",
];

impl ScdbRecord {
    /// Encodes a game; notes in `lost` what the format cannot hold of it.
    ///
    /// # Errors
    ///
    /// The format cannot store the game.
    pub(crate) fn new(game: &Game, lost: &mut GameLosses) -> Result<ScdbRecord, SkipReason> {
        if game.chess960 {
            return Err(SkipReason::Variant(
                "Chess960, which the format cannot hold".to_owned(),
            ));
        }
        let mut body = Vec::with_capacity(2 + 2 * game.movetext.len());
        let fits = write_body(game, &mut body);
        let mut bytes = Vec::with_capacity(body.len() + length::MOST_BYTES);
        if !fits || !length::write(body.len(), &mut bytes) {
            return Err(SkipReason::text("it is too large for the format"));
        }
        bytes.append(&mut body);
        let tag = |name: &str| game.tags.get(name).unwrap_or("").to_owned();
        let names = [
            game.names.white.clone(),
            game.names.black.clone(),
            tag("Site"),
            tag("Event"),
        ];
        let round = tag("Round");
        // 0 stands for an unknown round; `-`, none at all, has no number.
        let number = round.trim().parse().unwrap_or(0);
        let keeps_round = number > 0 || matches!(round.as_str(), "" | "?");
        let loses_tags = !keeps_round
            || names.iter().any(|name| name.len() > NAME_BYTES)
            || game.tags.iter().any(|(name, _)| !KEPT_TAGS.contains(&name));
        lost.note(Loss::Tags, loses_tags);
        for color in Color::ALL {
            lost.note_rating(game, color, *game.elo.get(color));
        }
        let date = game.date();
        lost.note_date(&tag("Date"), date);
        let eco = eco_code(eco_number(game.eco));
        let said = tag("ECO");
        let is_code = said.contains(|c: char| c.is_ascii_digit());
        lost.note(Loss::Openings, is_code && said.as_bytes() != eco);
        Ok(ScdbRecord {
            names,
            entry: ScdbEntry {
                status: 0,
                offset: 0,
                players: shakmaty::ByColor::default(),
                round: number,
                site: 0,
                event: 0,
                elo: game.elo,
                result: game.result,
                eco,
                date,
            },
            bytes,
        })
    }
}

/// Appends tags and moves; false if a length is too large.
fn write_body(game: &Game, out: &mut Vec<u8>) -> bool {
    let mut fits = true;
    let mut text = |bytes: &[u8], out: &mut Vec<u8>| {
        fits &= length::write(bytes.len(), out);
        out.extend(bytes);
    };
    if game.set_up {
        out.push(1);
        text(first_fen(game).as_bytes(), out);
    } else {
        out.push(0);
    }
    let mut items = game.movetext.iter().peekable();
    while let Some(item) = items.next() {
        match item {
            Item::Move(m) => out.extend(word(m).to_be_bytes()),
            Item::Null => out.push(0x88),
            Item::Begin => out.push(0x84),
            Item::End => out.push(0x85),
            Item::Comment(comment) => {
                out.push(0x86);
                text(comment.as_bytes(), out);
            }
            Item::Nag(first) => {
                let mut nags = vec![*first];
                while let Some(Item::Nag(nag)) = items.next_if(|next| matches!(next, Item::Nag(_)))
                {
                    nags.push(*nag);
                }
                out.push(0x87);
                text(&nags, out);
            }
        }
    }
    fits
}

/// Encodes a move: promotion, from, to.
fn word(m: &Move) -> u16 {
    let (from, to) = match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(rook.file() > king.file());
            let file = match side {
                CastlingSide::KingSide => File::G,
                CastlingSide::QueenSide => File::C,
            };
            (*king, Square::from_coords(file, king.rank()))
        }
        other => (other.from().unwrap_or(other.to()), other.to()),
    };
    promotion::number(m.promotion()) << 12 | u16::from(from) << 6 | u16::from(to)
}
