/* Answers each FEN of standard input with a line for each move, and a blank line. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tabia.h>

static int fail(TabiaError *error) {
    fprintf(stderr, "%s\n", tabia_error_text(error));
    tabia_error_free(error);
    return 2;
}

int main(int argc, char **argv) {
    if (argc < 2 || tabia_abi() != TABIA_ABI)
        return 3;
    TabiaError *error = NULL;
    /* A mistake, whose error is freed. */
    if (tabia_open("/nowhere/main.ctg", NULL, &error) || !strstr(tabia_error_text(error), "nowhere"))
        return 4;
    tabia_error_free(error);
    TabiaBook *book = tabia_open(argv[1], argc > 2 ? argv[2] : "", &error);
    if (!book)
        return fail(error);
    fputs(tabia_notices(book), stderr);
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        size_t count = 0;
        if (tabia_probe(book, line, NULL, 0, &count, &error) < 0)
            return fail(error);
        TabiaMove *moves = malloc((count + 1) * sizeof *moves);
        if (tabia_probe(book, line, moves, count, &count, &error) < 0)
            return fail(error);
        for (size_t at = 0; at < count; at++) {
            const TabiaMove *mv = &moves[at];
            printf("%s %s %.17g %.17g %d %d %d %d %d %d %d\n", mv->uci, mv->san, mv->weight,
                   mv->probability, mv->games, mv->wins, mv->draws, mv->losses, mv->learn, mv->mark,
                   mv->annotation);
        }
        char drawn[8];
        if (tabia_choose(book, line, 7, drawn, sizeof drawn, &error) < 0)
            return fail(error);
        printf("%s\n\n", *drawn ? drawn : "-");
        free(moves);
    }
    tabia_close(book);
    return 0;
}
