/* Probes per second of libtabia on one processor, a position after the other.
 *
 *   cargo build --release -p tabia-c
 *   cc -O2 -Icrates/c/include benches/libtabia.c target/release/libtabia.a -lm -o target/libtabia
 *   target/libtabia BOOK [OPTIONS] [POSITIONS]
 *
 * The positions are the first that the lines of the book reach; each is probed ten times. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tabia.h"

static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

int main(int argc, char **argv) {
    TabiaError *error = NULL;
    TabiaBook *book = tabia_open(argc > 1 ? argv[1] : "<starter>", argc > 2 ? argv[2] : "", &error);
    if (!book)
        return fputs(tabia_error_text(error), stderr), 2;
    size_t wanted = argc > 3 ? (size_t)atol(argv[3]) : 20000, known = 0;
    char (*fens)[96] = malloc(wanted * sizeof *fens);
    TabiaWalk *walk = tabia_walk_new(book, NULL);
    while (known < wanted && tabia_walk_next(walk, fens[known], sizeof *fens, NULL) == 1)
        known++;
    tabia_walk_free(walk);
    tabia_reserve(book, 30 * known);
    static const char *const names[] = {"probe", "choose", "out of book"};
    for (int what = 0; what < 3; what++) {
        size_t moves = 0;
        double begun = processor_time();
        for (int again = 0; again < 10; again++)
            for (size_t at = 0; at < known; at++) {
                TabiaMove found[64];
                size_t count = 0;
                char drawn[8];
                if (what == 0)
                    tabia_probe(book, fens[at], found, 64, &count, NULL);
                else if (what == 1)
                    tabia_choose(book, fens[at], at, drawn, sizeof drawn, NULL);
                else
                    tabia_probe(book, "8/5k2/8/8/8/2K5/8/4R3 w - - 0 1", found, 64, &count, NULL);
                moves += count;
            }
        double seconds = processor_time() - begun;
        printf("%-12s %9.0f a second, %.1f moves each\n", names[what], 10 * known / seconds,
               moves / 10.0 / known);
    }
    free(fens);
    tabia_close(book);
}
