//! Encodes a game for a database of version 5.

use shakmaty::{ByColor, CastlingSide, Chess, Color, Move, Position, Role, Square};

use super::decode::{COMMON_TAGS, FIRST_COMMON};
use super::entry::{LAST_YEAR, RATING_KINDS, ScidEntry, date_of, eco_value};
use super::keys::KeyCollector;
use super::moves::{LineState, Pieces, ScidMove, rooks};
use crate::loss::GameLosses;
use crate::pgn::first_fen;
use crate::{Date, Game, Item, Loss, SkipReason};

/// Greatest length of a game that its record can store.
const LARGEST_BYTES: usize = (1 << 17) - 1;

/// Highest rating of Scid, although it has twelve bits.
const HIGHEST_RATING: u16 = 4000;

/// Tags that are stored in the index, or that follow from the board.
const INDEX_TAGS: [&str; 13] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "Result",
    "WhiteElo",
    "BlackElo",
    "ECO",
    "EventDate",
    "FEN",
    "SetUp",
];

/// An encoded game to be written.
#[derive(Clone, Debug)]
pub(crate) struct ScidRecord {
    /// White, Black, event, site, round.
    pub(super) names: [String; 5],
    /// The entry, without name numbers and offset.
    pub(super) entry: ScidEntry,
    pub(super) bytes: Vec<u8>,
}

impl ScidRecord {
    /// Encodes a game; notes in `lost` what the format cannot hold of it.
    ///
    /// # Errors
    ///
    /// The format cannot store the game.
    pub(crate) fn new(game: &Game, lost: &mut GameLosses) -> Result<ScidRecord, SkipReason> {
        let tag = |name: &str| game.tags.get(name).unwrap_or_default();
        let or_unknown = |name: &str| if name.is_empty() { "?" } else { name }.to_owned();
        let mut bytes = Vec::new();
        let ratings = ByColor::new_with(|color: Color| rating(game, color));
        let is_rating = |name: &str| ratings.iter().any(|rating| rating.tag == name);
        for (name, value) in game.tags.iter() {
            if !INDEX_TAGS.contains(&name) && !is_rating(name) {
                lost.note(Loss::Tags, !write_tag(name, value, &mut bytes));
            }
        }
        bytes.push(0);
        let flags_at = bytes.len();
        bytes.push(0);
        if game.set_up {
            bytes.extend(first_fen(game).as_bytes());
            bytes.push(0);
        }
        let mut flags = u32::from(game.set_up);
        let first = game.positions.first().cloned().unwrap_or_default();
        let mut writer = GameEncoder::new(&first, game.set_up)?;
        for item in &game.movetext {
            writer.write(item, &mut bytes)?;
        }
        bytes.push(0x0f);
        flags |= writer.promotions;
        if let Some(byte) = bytes.get_mut(flags_at) {
            *byte = flags as u8;
        }
        bytes.append(&mut writer.comments);
        if bytes.len() > LARGEST_BYTES {
            return Err(SkipReason::text("it is too large for the format"));
        }
        let date = match tag("Date") {
            "" => Date {
                year: if game.year > LAST_YEAR { 0 } else { game.year },
                ..Date::default()
            },
            text => date_of(text),
        };
        let event_date = date_of(tag("EventDate"));
        lost.note_date(tag("Date"), date);
        lost.note_date(tag("EventDate"), event_date);
        lost.note(Loss::Dates, game.year > LAST_YEAR);
        let eco = match tag("ECO") {
            "" => std::str::from_utf8(&game.eco).unwrap_or_default(),
            text => text,
        };
        let is_code = eco.contains(|c: char| c.is_ascii_digit());
        lost.note(Loss::Openings, is_code && eco_value(eco) == 0);
        for color in Color::ALL {
            let rating = ratings.get(color);
            lost.note_rating(game, color, if rating.kind == 0 { rating.value } else { 0 });
        }
        Ok(ScidRecord {
            names: [
                or_unknown(&game.names.white),
                or_unknown(&game.names.black),
                or_unknown(tag("Event")),
                or_unknown(tag("Site")),
                or_unknown(tag("Round")),
            ],
            entry: ScidEntry {
                length: bytes.len() as u32,
                flags,
                chess960: game.chess960,
                result: game.result,
                eco: eco_value(eco),
                date,
                event_date,
                ratings: ratings.as_ref().map(|rating| rating.value),
                kinds: ratings.as_ref().map(|rating| rating.kind),
                plies: writer.plies,
                counts: writer.counts,
                keys: writer.keys.finish(writer.now.board()),
                ..ScidEntry::default()
            },
            bytes,
        })
    }
}

/// A rating as the index has it.
#[derive(Default)]
struct Rating {
    value: u16,
    kind: u8,
    /// The tag that the rating comes from.
    tag: String,
}

/// The Elo of a player, or else another rating from the tags.
fn rating(game: &Game, color: Color) -> Rating {
    let elo = *game.elo.get(color);
    if elo > 0 {
        let value = if elo > HIGHEST_RATING { 0 } else { elo };
        return Rating {
            value,
            ..Rating::default()
        };
    }
    let kinds = (0..).zip(RATING_KINDS).skip(1);
    let mut ratings = kinds.filter_map(|(kind, name)| {
        let tag = format!("{}{name}", color.fold_wb("White", "Black"));
        let value = game.tags.get(&tag)?.parse().ok();
        let value = value.filter(|value| (1..=HIGHEST_RATING).contains(value))?;
        Some(Rating { value, kind, tag })
    });
    ratings.next().unwrap_or_default()
}

/// Appends a tag; false if it is too long.
fn write_tag(name: &str, value: &str, out: &mut Vec<u8>) -> bool {
    let common = COMMON_TAGS.iter().position(|common| *common == name);
    let name_length = u8::try_from(name.len()).ok();
    let name_length = name_length.filter(|length| (1..FIRST_COMMON).contains(length));
    let (Ok(value_length), true) = (
        u8::try_from(value.len()),
        common.or(name_length.map(usize::from)).is_some(),
    ) else {
        return false;
    };
    match (common, name_length) {
        (Some(number), _) => out.push(FIRST_COMMON + number as u8),
        (None, length) => {
            out.extend(length);
            out.extend(name.as_bytes());
        }
    }
    out.push(value_length);
    out.extend(value.as_bytes());
    true
}

/// Encodes the moves of a game.
struct GameEncoder {
    line: LineState,
    /// State of the lines around the current variation, with their boards.
    open: Vec<(LineState, Chess, Option<Chess>)>,
    now: Chess,
    before: Option<Chess>,
    comments: Vec<u8>,
    plies: u16,
    /// Flags for promotions on the main line.
    promotions: u32,
    keys: KeyCollector,
    /// Numbers of comments, variations, NAGs.
    counts: [u32; 3],
}

impl GameEncoder {
    fn new(first: &Chess, is_set_up: bool) -> Result<GameEncoder, SkipReason> {
        let pieces = if is_set_up {
            Pieces::from_position(first)
        } else {
            Some(Pieces::usual())
        };
        let pieces = pieces
            .ok_or_else(|| SkipReason::Position("more than 16 pieces of a side".to_owned()))?;
        Ok(GameEncoder {
            line: LineState::new(pieces, rooks(first)),
            open: Vec::new(),
            now: first.clone(),
            before: None,
            comments: Vec::new(),
            plies: 0,
            promotions: 0,
            keys: KeyCollector::new(!is_set_up),
            counts: [0; 3],
        })
    }

    fn write(&mut self, item: &Item, out: &mut Vec<u8>) -> Result<(), SkipReason> {
        let [comments, variations, nags] = &mut self.counts;
        match item {
            Item::Comment(text) => {
                *comments += 1;
                out.push(0x0c);
                self.comments.extend(text.replace('\0', " ").as_bytes());
                self.comments.push(0);
            }
            Item::Nag(nag) => {
                *nags += 1;
                out.extend([0x0b, *nag]);
            }
            Item::Begin => {
                *variations += 1;
                out.push(0x0d);
                let before = self.before.clone().unwrap_or_else(|| self.now.clone());
                self.open
                    .push((self.line, self.now.clone(), self.before.take()));
                self.line.back();
                self.now = before;
            }
            Item::End => {
                out.push(0x0e);
                if let Some((line, now, before)) = self.open.pop() {
                    (self.line, self.now, self.before) = (line, now, before);
                }
            }
            Item::Null => {
                let next = tabia_notation::pass(&self.now);
                self.play(0, None, next, out)?;
            }
            Item::Move(m) => {
                let (from, step) = step(*m);
                let number = self.line.number(from);
                let code = number.and_then(|_| code(step, &self.now));
                let (Some(number), Some(code)) = (number, code) else {
                    return Err(SkipReason::Text(format!("its move {m} cannot be written")));
                };
                let mut next = self.now.clone();
                next.play_unchecked(*m);
                self.play(
                    (number as u8) << 4 | code,
                    Some((number, step)),
                    Some(next),
                    out,
                )?;
            }
        }
        Ok(())
    }

    fn play(
        &mut self,
        byte: u8,
        step: Option<(usize, ScidMove)>,
        next: Option<Chess>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let impossible = || SkipReason::Text("one of its moves is impossible".to_owned());
        out.push(byte);
        if let Some((
            _,
            ScidMove::Plain {
                role: Role::Queen,
                from,
                to,
                ..
            },
        )) = step
            && from.file() != to.file()
            && from.rank() != to.rank()
        {
            out.push(u8::from(to) + 64);
        }
        self.line.play(step).map_err(|_| impossible())?;
        let next = next.ok_or_else(impossible)?;
        self.before = Some(std::mem::replace(&mut self.now, next));
        if self.open.is_empty() {
            self.plies = self.plies.wrapping_add(1);
            self.keys.see(self.now.board());
            let promotion = match step {
                Some((_, ScidMove::Plain { promotion, .. })) => promotion,
                _ => None,
            };
            self.promotions |= match promotion {
                Some(Role::Queen) => 2,
                Some(_) => 6,
                None => 0,
            };
        }
        Ok(())
    }
}

fn step(m: Move) -> (Square, ScidMove) {
    match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king.file() < rook.file());
            (king, ScidMove::Castle(side))
        }
        other => {
            let from = other.from().unwrap_or(other.to());
            let step = ScidMove::Plain {
                role: other.role(),
                from,
                to: other.to(),
                promotion: other.promotion(),
            };
            (from, step)
        }
    }
}

/// The low four bits of a move's byte.
fn code(step: ScidMove, position: &Chess) -> Option<u8> {
    let ScidMove::Plain {
        role,
        from,
        to,
        promotion,
    } = step
    else {
        return Some(if step == ScidMove::Castle(CastlingSide::QueenSide) {
            9
        } else {
            10
        });
    };
    let distance = i32::from(u8::from(to)) - i32::from(u8::from(from));
    let place = |steps: [i32; 8]| {
        let found = steps.iter().position(|step| *step == distance)?;
        Some(found as u8 + 1)
    };
    let straight = if from.rank() == to.rank() {
        u8::from(to.file())
    } else {
        8 + u8::from(to.rank())
    };
    match role {
        Role::King => place([-9, -8, -7, -1, 1, 7, 8, 9]),
        Role::Knight => place([-17, -15, -10, -6, 6, 10, 15, 17]),
        Role::Queen if from.file() != to.file() && from.rank() != to.rank() => {
            Some(from.file().into())
        }
        Role::Queen | Role::Rook => Some(straight),
        Role::Bishop => {
            let rises = (to.file() > from.file()) == (to.rank() > from.rank());
            Some(u8::from(to.file()) + if rises { 0 } else { 8 })
        }
        Role::Pawn => {
            let forward = position.turn().fold_wb(distance, -distance);
            let kind = match promotion {
                None => 0,
                Some(Role::Queen) => 3,
                Some(Role::Rook) => 6,
                Some(Role::Bishop) => 9,
                Some(_) => 12,
            };
            match forward {
                16 => Some(15),
                7..=9 => Some(kind + (forward - 7) as u8),
                _ => None,
            }
        }
    }
}
