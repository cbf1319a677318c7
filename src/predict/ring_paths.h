/* The latest paths around a ring: what all of the ring's collectives wait for. */
#ifndef FORETRAIN_PREDICT_RING_PATHS_H
#define FORETRAIN_PREDICT_RING_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* fmax without its care for NaN, which costs a call. */
__attribute__((unused)) static inline double later_of(double a, double b)
{
    return a > b ? a : b;
}

/*
 *   ready(i, 0)   = start_s[i]
 *   ready(i, r+1) = max( ready(i, r) + stay_s[i], ready(i-1, r) + pass_s[i-1] )
 */
struct ring_paths {
    const double *stay_s;  /* [n_devices], until a device can send on its link again */
    const double *pass_s;  /* [n_devices], until the next device can send on what it got */
    const double *start_s; /* [n_devices] */
    size_t n_devices;      /* at least 1 */
    double n_rounds;       /* above n_devices - 2, below 2^53; what is over a whole number is spent
                              staying */
    size_t slowest;        /* for ring_paths.c */
};

/*
 * end_s[n_devices] = ready(i, n_rounds), exactly; it overlaps no input. False where memory is
 * short, 40 bytes a device. O(n log n), whatever the rounds.
 */
bool ring_paths_end(struct ring_paths ring, double *end_s);

#endif
