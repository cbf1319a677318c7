#include "base/random.h"

#include <assert.h>
#include <math.h>

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct random random_seed(uint64_t seed, uint64_t stream)
{
    struct random r;
    uint64_t x = seed ^ splitmix(&stream);
    for (int i = 0; i < 4; i++)
        r.state[i] = splitmix(&x);
    return r;
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t random_next(struct random *r)
{
    uint64_t *s = r->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
    assert(bound > 0);
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)random_next(r) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = -bound % bound;
        while ((uint64_t)product < threshold)
            product = (wide)random_next(r) * bound;
    }
    return (uint64_t)(product >> 64);
}

double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
    const double two_pi = 6.283185307179586;
    double size = sqrt(-2 * log(1 - random_unit(r)));
    return size * cos(two_pi * random_unit(r));
}
