/*
 * Reduce-scatter by exchanging halves, quarters, ... with partners 1, 2, 4, ... away, all-gather
 * the same way back. Devices beyond a power of two hand all they have to a neighbour first, and get
 * the result from it in the end.
 */
#include "predict/collective.h"

static size_t power_of_two_within(size_t n)
{
    size_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

/* The first 2 `n_folded` devices are pairs, of which the second takes part. */
static size_t place(size_t rank, size_t n_folded)
{
    return rank < n_folded ? 2 * rank + 1 : rank + n_folded;
}

static void fold(struct ft_collective *c, size_t n_folded, bool in)
{
    for (size_t k = 0; k < n_folded; k++)
        collective_add(c, 2 * k + !in, 2 * k + in, 1);
    collective_end_phase(c, PHASE_EXCHANGE, 1);
}

static void exchange(struct ft_collective *c, size_t n_ranks, size_t n_folded, size_t distance)
{
    for (size_t rank = 0; rank < n_ranks; rank++)
        collective_add(c, place(rank, n_folded), place(rank ^ distance, n_folded),
                       1 / (2 * (double)distance));
    collective_end_phase(c, PHASE_EXCHANGE, 1);
}

static void describe(struct ft_collective *c, size_t n_ranks, size_t n_folded)
{
    if (n_folded > 0)
        collective_describe(c, (struct ft_collective_stage){"fold in and out", n_folded, 2, 2, 1});
    collective_describe(c, (struct ft_collective_stage){"all-reduce", 1, n_ranks, n_ranks, 1});
}

bool collective_halving_doubling(struct ft_collective *c, char *message)
{
    (void)message;
    size_t n_ranks = power_of_two_within(c->n_devices), n_folded = c->n_devices - n_ranks;
    fold(c, n_folded, true);
    size_t first = c->n_phases;
    for (size_t distance = 1; distance < n_ranks; distance *= 2)
        exchange(c, n_ranks, n_folded, distance);
    for (size_t p = c->n_phases; p-- > first;)
        collective_repeat(c, p, 1);
    fold(c, n_folded, false);
    describe(c, n_ranks, n_folded);
    return true;
}
