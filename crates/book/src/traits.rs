//! What each format is: one row of traits for each, from which follows how its books are
//! opened, changed, compared and taught.

use crate::loaded::{Loader, abk, bkt, obk};
use crate::{Format, bin};

/// What a format is and can store.
pub(crate) struct Traits {
    /// How its books are read.
    pub reader: Reader,
    /// Extensions of the files beside a book that belong to it.
    companions: &'static [&'static str],
    /// Whether there are results of games, not weights alone.
    has_results: bool,
    /// What of a book can be changed.
    pub marks: Marks,
}

/// How the books of a format are read, and what an entry of one is.
pub(crate) enum Reader {
    /// Where they lie: an entry is a position, under a key of ChessBase's.
    Ctg,
    /// Where they lie: an entry is a move, under Polyglot's key of its position.
    Bin,
    /// Whole, when they are opened: an entry is a move, and gets Polyglot's key.
    Loaded(&'static Loader),
}

/// What can be changed in the books of a format.
pub(crate) enum Marks {
    /// All that a ChessBase book has, and which lines there are.
    All,
    /// Numbers beside the moves.
    Numbers(Numbers),
    /// Nothing: they are only read.
    None,
}

/// The numbers beside a move that can be changed.
pub(crate) struct Numbers {
    /// The weight, or the priority.
    pub weight: Number,
    /// The greatest weight, and what is asked for with a greater one.
    pub most_weight: (u16, &'static str),
    /// Whether the weights of a move that is stored twice are added.
    pub weights_add: bool,
    /// Polyglot's two learn counts.
    pub learn: Option<Number>,
}

/// A number of an entry, its highest byte first.
#[derive(Clone, Copy)]
pub(crate) struct Number {
    /// Its first byte, counted from the start of the entry.
    at: usize,
    bytes: usize,
}

impl Number {
    /// Its last byte, counted from the start of the entry.
    pub(crate) const fn last_byte(self) -> u64 {
        (self.at + self.bytes - 1) as u64
    }

    /// Its value in an entry; `None` if the entry is cut off.
    pub(crate) fn read(self, entry: &[u8]) -> Option<u32> {
        let bytes = entry.get(self.at..)?.get(..self.bytes)?;
        let value = bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u32::from(*byte));
        Some(value)
    }
}

impl Format {
    /// The row of the format.
    pub(crate) const fn traits(self) -> &'static Traits {
        match self {
            Format::Ctg => &Traits {
                reader: Reader::Ctg,
                companions: &["cto", "ctb"],
                has_results: true,
                marks: Marks::All,
            },
            Format::Bin => &Traits {
                reader: Reader::Bin,
                companions: &[],
                has_results: false,
                marks: Marks::Numbers(Numbers {
                    weight: Number { at: 10, bytes: 2 },
                    most_weight: (u16::MAX, "weights above 65535"),
                    weights_add: true,
                    learn: Some(Number { at: 12, bytes: 4 }),
                }),
            },
            Format::Abk => &Traits {
                reader: Reader::Loaded(&abk::LOADER),
                companions: &[],
                has_results: true,
                marks: Marks::Numbers(Numbers {
                    weight: Number { at: 3, bytes: 1 },
                    most_weight: (9, "weights above 9"),
                    weights_add: false,
                    learn: None,
                }),
            },
            Format::Bkt => &Traits {
                reader: Reader::Loaded(&bkt::LOADER),
                companions: &[],
                has_results: false,
                marks: Marks::None,
            },
            Format::Obk => &Traits {
                reader: Reader::Loaded(&obk::LOADER),
                companions: &[],
                has_results: false,
                marks: Marks::None,
            },
        }
    }

    /// Extensions of the files beside a book that belong to it.
    #[must_use]
    pub const fn companions(self) -> &'static [&'static str] {
        self.traits().companions
    }

    /// Whether there are results of games, not weights alone.
    #[must_use]
    pub const fn has_results(self) -> bool {
        self.traits().has_results
    }

    /// Whether an entry of a book is a position with its games and marks, which are the same
    /// by whatever move it is reached, and not a move with its own numbers.
    #[must_use]
    pub const fn stores_positions(self) -> bool {
        match self.traits().reader {
            Reader::Ctg => true,
            Reader::Bin | Reader::Loaded(_) => false,
        }
    }

    /// Whether a sound book has no position that is not found when it is read.
    #[must_use]
    pub const fn finds_every_position(self) -> bool {
        match self.traits().reader {
            Reader::Ctg | Reader::Bin => true,
            Reader::Loaded(loader) => loader.finds_every_position,
        }
    }

    /// The length of an entry in bytes, if all are as long.
    pub(crate) const fn entry_bytes(self) -> Option<u64> {
        match self.traits().reader {
            Reader::Ctg => None,
            Reader::Bin => Some(bin::ENTRY_BYTES as u64),
            Reader::Loaded(loader) => Some(loader.entry_bytes as u64),
        }
    }

    /// Whether books of this format can be changed and written.
    #[must_use]
    pub const fn is_writable(self) -> bool {
        match self.traits().marks {
            Marks::All | Marks::Numbers(_) => true,
            Marks::None => false,
        }
    }

    /// Whether lines can be added to a book and removed from it.
    #[must_use]
    pub const fn has_lines_to_change(self) -> bool {
        match self.traits().marks {
            Marks::All => true,
            Marks::Numbers(_) | Marks::None => false,
        }
    }

    /// The greatest number that this format stores with a move, if it stores one that can
    /// be changed.
    #[must_use]
    pub const fn most_weight(self) -> Option<u16> {
        match &self.traits().marks {
            Marks::All | Marks::None => None,
            Marks::Numbers(numbers) => Some(numbers.most_weight.0),
        }
    }
}
