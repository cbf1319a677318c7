/* Iterations of an epoch: how often the devices draw a mini-batch until the training data is used.
 */
#include "foretrain.h"

#include <math.h>

#include "predict/refuse.h"

/* Types whose D_t/b_t are this near to each other end together. */
static const double BALANCED = 1.01;

static bool is_positive(double value)
{
    return isfinite(value) && value > 0;
}

static bool check_share(const struct ft_share *share, size_t t, bool with_data, char *message)
{
    if (!is_positive(share[t].n_devices))
        return refuse(message, "n_devices of type %zu must be finite and above 0 (got %g)", t,
                      share[t].n_devices);
    if (!is_positive(share[t].batch))
        return refuse(message, "batch of type %zu must be finite and above 0 (got %g)", t,
                      share[t].batch);
    if (!isfinite(share[t].data) || share[t].data < 0)
        return refuse(message, "data of type %zu must be finite and not negative (got %g)", t,
                      share[t].data);
    if ((share[t].data > 0) != with_data)
        return refuse(message, "type %zu has data per device and type %zu has none",
                      with_data ? (size_t)0 : t, with_data ? t : (size_t)0);
    return true;
}

/*
 * The smallest whole number of iterations not below `x`; sums and quotients are off by some 1e-16
 * each, which must not cost an iteration.
 */
static double whole_iterations(double x)
{
    double nearest = rint(x);
    double whole = fabs(x - nearest) <= 1e-12 * x ? nearest : ceil(x);
    return whole < 1 ? 1 : whole;
}

/* What is left for the last of so many iterations, where x are needed. */
static double share_of_last(double x, double iterations)
{
    double share = x - (iterations - 1);
    return share > 0 && share < 1 ? share : 1;
}

static struct ft_epoch_forecast in_proportion(const struct ft_share *share, size_t n_types,
                                              double total)
{
    double batch = 0;
    for (size_t t = 0; t < n_types; t++)
        batch += share[t].n_devices * share[t].batch;
    double needed = isfinite(batch) ? total / batch : INFINITY;
    double iterations = whole_iterations(needed);
    return (struct ft_epoch_forecast){.iterations = iterations,
                                      .last_share = share_of_last(needed, iterations)};
}

static struct ft_epoch_forecast in_rounds(const struct ft_share *share, size_t n_types,
                                          double total)
{
    double round = 0, most = 0, fewest = INFINITY;
    size_t last = 0;
    for (size_t t = 0; t < n_types; t++) {
        double iterations = share[t].data / share[t].batch;
        round += share[t].n_devices * share[t].data;
        if (iterations > most) {
            most = iterations;
            last = t;
        }
        fewest = iterations < fewest ? iterations : fewest;
    }
    double rounds = isfinite(round) ? total / round : INFINITY;
    double needed = rounds * most, iterations = whole_iterations(needed);
    return (struct ft_epoch_forecast){.iterations = iterations,
                                      .last_share = share_of_last(needed, iterations),
                                      .rounds = rounds,
                                      .unbalanced = most > BALANCED * fewest,
                                      .last_to_finish = last};
}

bool ft_epoch(const struct ft_share *share, size_t n_types, double total,
              struct ft_epoch_forecast *epoch, char *message)
{
    if (!share || n_types == 0)
        return refuse(message, "there is no device type");
    if (!is_positive(total))
        return refuse(message, "the training data must be finite and above 0 (got %g)", total);
    bool with_data = share[0].data > 0;
    for (size_t t = 0; t < n_types; t++) {
        if (!check_share(share, t, with_data, message))
            return false;
    }
    struct ft_epoch_forecast f =
        with_data ? in_rounds(share, n_types, total) : in_proportion(share, n_types, total);
    if (!isfinite(f.iterations) || !isfinite(f.rounds))
        return refuse(message, "the iterations of an epoch are too many to count");
    *epoch = f;
    return true;
}
