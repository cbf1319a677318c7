/*
 * Seeded random numbers, the same on every machine: xoshiro256** by Blackman and Vigna (2018),
 * seeded through splitmix64. The state is passed in, never global.
 */
#ifndef FORETRAIN_BASE_RANDOM_H
#define FORETRAIN_BASE_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* Streams with the same seed and different `stream` are independent. */
struct random random_seed(uint64_t seed, uint64_t stream);
uint64_t random_next(struct random *r);

/* Uniform in [0, bound), without bias; bound > 0 (Lemire 2019, multiply and reject). */
uint64_t random_below(struct random *r, uint64_t bound);

/* Uniform in [0, 1), 53 bits. */
double random_unit(struct random *r);

/* Normal, mean 0 and deviation 1 (Box and Muller 1958, one of the pair). */
double random_normal(struct random *r);

#endif
