//! What every reader of a format implements: a source of batches of games.

use crate::{Error, Game, GameFilter, GameParts, GamePlace, SkipReason, Skipped};

/// A source of games: a file or a stream.
pub trait GameSource: Send {
    /// Reads the next batch; `None` at the end.
    ///
    /// # Errors
    ///
    /// The source cannot be read further.
    fn next_batch(&mut self) -> Result<Option<Box<dyn GameBatch>>, Error>;

    /// Bytes of the source read so far (of the named file, as stored on disk).
    fn bytes_read(&self) -> u64;

    /// Whether a part is lost because the source is damaged or cut off. Final when
    /// every batch has been read to its end; the remarks give details.
    fn is_cut(&self) -> bool {
        false
    }

    /// Whether games contradict themselves, so that part of what they state was not
    /// used. Final when every batch has been read to its end; the remarks give details.
    fn has_contradictions(&self) -> bool {
        false
    }

    /// Remarks about the whole source: missing files, bytes that belong to no game.
    /// Complete when every batch has been read to its end.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An open source, or why it cannot be opened.
pub type OpenResult = Result<Box<dyn GameSource>, Error>;

/// A batch of games.
pub trait GameBatch: Send {
    /// Fills `game` with the next game; false at the end. The buffer is reused, so that
    /// reading does not allocate. A game that breaks off is returned up to that place,
    /// with [`Game::cut`] set.
    ///
    /// # Errors
    ///
    /// Why a game must be skipped. `game` is undefined then; the next call continues
    /// with the game after it.
    fn next_game(&mut self, wanted: GameParts, game: &mut Game) -> Result<bool, SkipReason>;

    /// Like [`GameBatch::next_game`], for callers that use only games that meet
    /// `filter`: if the tags already exclude a game, its moves are neither read nor
    /// checked. The caller still has to apply the filter.
    ///
    /// # Errors
    ///
    /// As for [`GameBatch::next_game`].
    fn next_for(
        &mut self,
        wanted: GameParts,
        _filter: &GameFilter,
        game: &mut Game,
    ) -> Result<bool, SkipReason> {
        self.next_game(wanted, game)
    }

    /// The name of the source, as the user gave it.
    fn source(&self) -> &str;

    /// The place of the last game in the source.
    fn place(&self) -> GamePlace;

    /// After an error: the number of games after the last one that are lost with it, because
    /// they are in the same damaged block. The next call continues with the game after them.
    fn lost_with_it(&self) -> u64 {
        0
    }

    /// Describes the last game, if the caller skips it.
    fn skip(&self, reason: SkipReason) -> Skipped {
        Skipped {
            source: self.source().to_owned(),
            place: self.place(),
            cut: false,
            reason,
        }
    }
}
