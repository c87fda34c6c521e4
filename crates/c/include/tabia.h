/* libtabia: opening books of ChessBase (.ctg), Polyglot (.bin), Arena (.abk),
 * Shredder (.bkt) and Chessmaster (.obk).
 *
 * Made from crates/c/src/lib.rs: UPDATE=1 cargo test -p tabia-c header
 *
 * Errors: a function that fails returns NULL or -1 and writes an error to *error, which the
 * caller frees; else it writes NULL there. `error` may be NULL. No call ends the process,
 * and nothing is thrown.
 *
 * Memory: what a function returns is freed by the function of this library that is named
 * with it, never by free(). Texts that come in are copied; all are UTF-8 and end with NUL.
 *
 * Threads: any number of them may probe one book at once. Walks and errors are used by one
 * thread at a time.
 *
 * Licence: GPL-3.0-or-later, which holds for programs that use the library, too.
 */


#ifndef TABIA_H
#define TABIA_H

#include <stddef.h>
#include <stdint.h>

/*
 The number of this interface. It changes when a program has to be compiled again;
 tabia_abi() is that of the library in use.
 */
#define TABIA_ABI 1

/*
 The mark of a move: none.
 */
#define TABIA_MARK_NONE 0

/*
 The mark of a move: a main move (green in ChessBase).
 */
#define TABIA_MARK_MAIN 1

/*
 The mark of a move: to be avoided (red in ChessBase).
 */
#define TABIA_MARK_AVOID 2

/*
 An open book, with the options for choosing moves. Any number of threads may use it at
 once; the one that closes it must be the last.
 */
typedef struct TabiaBook TabiaBook;

/*
 Why a call has failed. It belongs to the caller, who frees it with tabia_error_free().
 */
typedef struct TabiaError TabiaError;

/*
 A walk through the positions of a book. One thread at a time may use it; it may be used
 and freed after its book is closed.
 */
typedef struct TabiaWalk TabiaWalk;

/*
 A move of a position, all from the view of its player.
 */
typedef struct {
  /*
   UCI notation, castling as the king's move: "e1g1".
   */
  char uci[8];
  /*
   SAN: "O-O".
   */
  char san[8];
  /*
   Its weight in the draw, 0 if the options exclude it.
   */
  double weight;
  /*
   The probability that it is drawn, 0 to 1.
   */
  double probability;
  /*
   Games with it, -1 if the book does not count games.
   */
  int32_t games;
  /*
   Games that its player has won, -1 if unknown.
   */
  int32_t wins;
  /*
   Drawn games, -1 if unknown.
   */
  int32_t draws;
  /*
   Games that its player has lost, -1 if unknown.
   */
  int32_t losses;
  /*
   The learn value, -125 to 125: positive speaks for the move. -1 too in a format
   without learn values: there `mark` is -1.
   */
  int32_t learn;
  /*
   TABIA_MARK_NONE, TABIA_MARK_MAIN or TABIA_MARK_AVOID; -1 in a format without marks.
   */
  int32_t mark;
  /*
   The number (NAG) of its annotation: 1 "!", 2 "?", 3 "!!", 4 "??", 5 "!?", 6 "?!", 0
   none; -1 in a format without annotations.
   */
  int32_t annotation;
} TabiaMove;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Opens a book: the path of a .ctg, .bin, .abk, .bkt or .obk in UTF-8, or "<starter>" for
 the one in the library. `options` are those that decide between moves, by their names in a
 configuration or in UCI: "variety=15 depth=12"; NULL or "" for the defaults. NULL with an
 error if that fails. The book belongs to the caller, who closes it with tabia_close().

 Conditions:
 The strings end with NUL; `error` is NULL or may be written to.
 */
TabiaBook *tabia_open(const char *path, const char *options, TabiaError **error);

/*
 Closes a book; NULL does nothing.

 Conditions:
 The book is from tabia_open(), and nobody uses it any more.
 */
void tabia_close(TabiaBook *book);

/*
 What is wrong with the files of a book that could be opened nevertheless, one sentence a
 line; "" if nothing is. The text belongs to the book.

 Conditions:
 The book is open.
 */
const char *tabia_notices(const TabiaBook *book);

/*
 The sentence of an error, in UTF-8. It belongs to the error.

 Conditions:
 The error has not been freed.
 */
const char *tabia_error_text(const TabiaError *error);

/*
 Frees an error; NULL does nothing.

 Conditions:
 The error is from a call of this library and has not been freed.
 */
void tabia_error_free(TabiaError *error);

/*
 Looks a position up: a FEN, NULL for the start position, perhaps with "moves" and moves
 after it, whose positions are then not repeated. Writes up to `capacity` moves, the
 heaviest first, and to `count` how many there are, perhaps more than that. 1 if the
 position is in the book, 0 if not, -1 with an error.

 Conditions:
 The book is open; `moves` has room for `capacity` moves, or `capacity` is 0; `count` and
 `error` are NULL or may be written to.
 */
int tabia_probe(const TabiaBook *book,
                const char *fen,
                TabiaMove *moves,
                size_t capacity,
                size_t *count,
                TabiaError **error);

/*
 Announces probes. If they are worth it, a .ctg is read once on all processors, 100 MB in
 some 0.3 seconds of processor time, and a filter of a 32nd of its size (three bytes for a
 position) stays in memory: each probe then takes about a quarter of the time. Answers are
 those of the file as it is; once it has changed, probes are as slow as before until it is
 opened again. Other formats do nothing.

 Conditions:
 The book is open.
 */
void tabia_reserve(const TabiaBook *book, uint64_t probes);

/*
 Draws a move of a position by the options, and writes it to `mv` in UCI notation with a
 NUL: 8 bytes are enough. The same seed draws the same move in the same position. 1 if
 there is a move, 0 (and "") if not, -1 with an error.

 Conditions:
 The book is open; `mv` has room for `size` bytes; `error` is NULL or may be written to.
 */
int tabia_choose(const TabiaBook *book,
                 const char *fen,
                 uint64_t seed,
                 char *mv,
                 size_t size,
                 TabiaError **error);

/*
 Begins a walk through the positions that the lines of a book reach from the start
 position, each once, the most played first. NULL with an error if that fails. The walk
 belongs to the caller, who frees it with tabia_walk_free(). It takes some 150 bytes for
 each position.

 Conditions:
 The book is open; `error` is NULL or may be written to.
 */
TabiaWalk *tabia_walk_new(const TabiaBook *book, TabiaError **error);

/*
 Writes the next position of a walk to `fen`, with a NUL: 96 bytes are enough. 1 if there
 is one, 0 (and "") at the end, -1 with an error, after which the walk ends.

 Conditions:
 The walk has not been freed; `fen` has room for `size` bytes; `error` is NULL or may be
 written to.
 */
int tabia_walk_next(TabiaWalk *walk, char *fen, size_t size, TabiaError **error);

/*
 Frees a walk; NULL does nothing.

 Conditions:
 The walk is from tabia_walk_new() and has not been freed.
 */
void tabia_walk_free(TabiaWalk *walk);

/*
 The version of the library, as "0.1.0". The text is never freed.
 */
const char *tabia_version(void);

/*
 TABIA_ABI of the library in use.
 */
uint32_t tabia_abi(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TABIA_H */
