/*
 * Times the draw from a training set: `bench_draw FOLDER`. Prints the seconds that scanning the
 * folder and drawing 4 x 1,000 samples take.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "measure/draw.h"

static bool scan_and_draw(struct arena *arena, const char *folder, struct error *e)
{
    const struct draw_request request[] = {
        {"fast", 2, {1000, AMOUNT_SAMPLES}},
        {"slow", 2, {1000, AMOUNT_SAMPLES}},
    };
    struct data_set set;
    struct draw_share share[4];
    double start_s = clock_now_s();
    if (!draw_scan_folder(arena, folder, &set, e))
        return false;
    double scanned_s = clock_now_s();
    if (!draw_make(arena, &set, request, 2, 1, share, e))
        return false;
    double drawn_s = clock_now_s();
    printf("%zu %.4f %.4f\n", set.n, scanned_s - start_s, drawn_s - scanned_s);
    return true;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct error e = {0};
    if (argc != 2) {
        fputs("usage: bench_draw FOLDER\n", stderr);
        return ERROR_USAGE;
    }
    if (!scan_and_draw(&arena, argv[1], &e)) {
        fprintf(stderr, "%s\n", e.text);
        return (int)e.kind;
    }
    arena_free(&arena);
    return 0;
}
