/*
 * Time by batch. Every fitted value is a weighted sum of the measured ones, with the same weights
 * for all stages, so that a step stays the sum of its stages and errors of means go the same way.
 */
#include "predict/batch_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct measured {
    struct arena *arena;
    const struct profile **at; /* [n], by batch */
    double *batch, *weight;    /* [n] */
    size_t n;
    const struct profile *nearest; /* to the wanted batch, whose samples are scaled */
};

typedef const struct samples *which(const struct profile *profile, size_t index);

static const struct samples *stage_of(const struct profile *profile, size_t stage)
{
    return &profile->stage[stage];
}

static const struct samples *ready_of(const struct profile *profile, size_t bucket)
{
    return &profile->bucket[bucket].ready;
}

static const struct samples *done_of(const struct profile *profile, size_t bucket)
{
    return &profile->bucket[bucket].done;
}

/* Beyond the end that is nearest, with the slope of the least squares line through all. */
static void extend(const double *batch, size_t n, double wanted, double *weight)
{
    size_t end = wanted < batch[0] ? 0 : n - 1;
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += batch[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (batch[i] - mean) * (batch[i] - mean);
    for (size_t i = 0; i < n; i++)
        weight[i] = (wanted - batch[end]) * (batch[i] - mean) / squares;
    weight[end] += 1;
}

/* value(wanted) = sum of weight[i] * value(batch[i]), of two or more in ascending order. */
static void weigh(const double *batch, size_t n, double wanted, double *weight)
{
    memset(weight, 0, n * sizeof *weight);
    if (wanted < batch[0] || wanted > batch[n - 1]) {
        extend(batch, n, wanted, weight);
        return;
    }
    size_t i = 1;
    while (batch[i] < wanted)
        i++;
    double share = (wanted - batch[i - 1]) / (batch[i] - batch[i - 1]);
    weight[i - 1] = 1 - share;
    weight[i] = share;
}

static double weighted_mean(const struct measured *m, which *samples, size_t index)
{
    double mean = 0;
    for (size_t i = 0; i < m->n; i++)
        mean += m->weight[i] * samples(m->at[i], index)->stats.mean;
    return fmax(0, mean);
}

/* The nearest batch's samples with another mean; unknown where one profile does not hold them. */
static struct samples fit_samples(const struct measured *m, which *samples, size_t index)
{
    const struct samples *nearest = samples(m->nearest, index);
    bool known = nearest->known;
    for (size_t i = 0; i < m->n; i++)
        known = known && samples(m->at[i], index)->known;
    if (!known)
        return (struct samples){0};
    double from = nearest->stats.mean, to = weighted_mean(m, samples, index);
    if (from > 0)
        return samples_times(m->arena, nearest, to / from);
    struct stats always = {.n = nearest->stats.n, .mean = to, .min = to, .max = to};
    return (struct samples){.known = true, .stats = always};
}

static void fit_times(const struct measured *m, struct profile *out)
{
    for (size_t s = 0; s < N_STAGES; s++)
        out->stage[s] = fit_samples(m, stage_of, s);
    out->bucket = ARENA_ARRAY(m->arena, out->n_buckets, struct bucket);
    for (size_t b = 0; b < out->n_buckets; b++) {
        out->bucket[b] = m->nearest->bucket[b];
        out->bucket[b].ready = fit_samples(m, ready_of, b);
        out->bucket[b].done = fit_samples(m, done_of, b);
    }
}

/* A device alone has its whole backward pass, with that of all micro-batches. */
static const struct samples *computing(const struct profile *p, size_t part)
{
    static const enum stage in_ring[] = {STAGE_FORWARD, STAGE_OPTIMIZER, STAGE_BACKWARD_COMPUTE,
                                         STAGE_BACKWARD_UNSYNCED};
    static const enum stage alone[] = {STAGE_FORWARD, STAGE_OPTIMIZER, STAGE_BACKWARD};
    return &p->stage[p->stage[STAGE_BACKWARD_COMPUTE].known ? in_ring[part] : alone[part]];
}

static size_t n_computing(const struct profile *p)
{
    return p->stage[STAGE_BACKWARD_COMPUTE].known ? 4 : 3;
}

static double computing_s(const struct profile *p)
{
    double sum_s = 0;
    for (size_t part = 0; part < n_computing(p); part++) {
        const struct samples *samples = computing(p, part);
        sum_s += samples->known ? samples->stats.mean : 0;
    }
    return sum_s;
}

/* Standard error of the time to compute, squared; negative where there are no samples. */
static double variance_of_mean(const struct profile *p)
{
    double sum = 0;
    for (size_t part = 0; part < n_computing(p); part++) {
        const struct samples *samples = computing(p, part);
        if (samples->known && samples->stats.n < 2)
            return -1;
        if (samples->known)
            sum += pow(samples->stats.sd, 2) / (double)samples->stats.n;
    }
    return sum;
}

/* Of two batches it is known only how well their means are. */
static bool error_of_means(const struct measured *m, double fitted_s, double *error)
{
    double sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        double variance = variance_of_mean(m->at[i]);
        if (variance < 0)
            return false;
        sum += m->weight[i] * m->weight[i] * variance;
    }
    *error = sqrt(sum) / fitted_s;
    return true;
}

/* How far off a measured batch is when the others tell it. */
static double miss(const struct measured *m, size_t left_out)
{
    size_t n = m->n - 1;
    double *batch = ARENA_ARRAY(m->arena, n, double), *weight = ARENA_ARRAY(m->arena, n, double);
    double told_s = 0, truth_s = computing_s(m->at[left_out]);
    for (size_t i = 0; i < n; i++)
        batch[i] = m->batch[i + (i >= left_out)];
    weigh(batch, n, m->batch[left_out], weight);
    for (size_t i = 0; i < n; i++)
        told_s += weight[i] * computing_s(m->at[i + (i >= left_out)]);
    return told_s / truth_s - 1;
}

/* Between the batches the inner ones are left out in turn, beyond them the ends. */
static double error_of_others(const struct measured *m, bool extrapolated)
{
    double squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool end = i == 0 || i + 1 == m->n;
        if (end != extrapolated)
            continue;
        squares += pow(miss(m, i), 2);
        count++;
    }
    return sqrt(squares / (double)count);
}

static void find_error(const struct measured *m, double fitted_s, struct batch_fit *fit)
{
    fit->error_known = error_of_means(m, fitted_s, &fit->error);
    if (m->n > 2) {
        fit->error = fmax(fit->error, error_of_others(m, fit->extrapolated));
        fit->error_known = true;
    }
}

static const char *note_of(struct arena *arena, const struct batch_fit *fit)
{
    struct text list = {0};
    for (size_t i = 0; i < fit->n; i++)
        text_format(&list, "%s%g", i == 0 ? "" : i + 1 < fit->n ? ", " : " and ", fit->batch[i]);
    const char *error =
        fit->error_known
            ? arena_format(arena, "give or take %.1f %%%s", 100 * fit->error,
                           fit->n > 2 ? "" : " if it is a line: a third batch would show")
            : "how far off is not known: there are no samples and no third batch";
    const char *note =
        arena_format(arena, "times with batch %g are %s those with %s, %s", fit->wanted,
                     fit->extrapolated ? "extrapolated from" : "between", list.data, error);
    text_free(&list);
    return note;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 0.01 * a;
}

static bool same_buckets(const struct profile *a, const struct profile *b)
{
    bool same = a->n_buckets == b->n_buckets;
    for (size_t i = 0; same && i < a->n_buckets; i++)
        same = is_close(a->bucket[i].wire_bytes, b->bucket[i].wire_bytes);
    return same;
}

/* NULL, or in what two profiles differ that a batch does not change. */
static const char *difference(const struct profile *a, const struct profile *b)
{
    return a->n_devices != b->n_devices || a->ring_devices != b->ring_devices ||
                   a->one_ring != b->one_ring
               ? "number of devices"
           : a->loader_workers != b->loader_workers        ? "loader workers"
           : !is_close(a->micro_batches, b->micro_batches) ? "micro-batches a step"
           : !same_buckets(a, b)                           ? "buckets"
                                                           : NULL;
}

static bool check_profiles(const struct measured *m, struct error *e)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct profile *a = m->at[i ? i - 1 : 0], *b = m->at[i];
        const char *what = difference(a, b);
        if (!(b->batch > 0) || !(computing_s(b) > 0))
            error_set(e, ERROR_INPUT, "profile %s does not hold %s", b->file,
                      b->batch > 0 ? "a time to compute" : "the batch it was made with");
        else if (i > 0 && a->batch == b->batch)
            error_set(e, ERROR_INPUT, "profiles %s and %s were both made with batch %g", a->file,
                      b->file, a->batch);
        else if (what)
            error_set(e, ERROR_INPUT, "profiles %s and %s differ in their %s, not only in batch",
                      a->file, b->file, what);
        else
            continue;
        return false;
    }
    return true;
}

static int by_batch(const void *a, const void *b)
{
    const struct profile *x = *(const struct profile *const *)a;
    const struct profile *y = *(const struct profile *const *)b;
    return (x->batch > y->batch) - (x->batch < y->batch);
}

static struct measured sort(struct arena *arena, const struct profile *profile, size_t n,
                            double wanted)
{
    struct measured m = {.arena = arena,
                         .at = ARENA_ARRAY(arena, n, const struct profile *),
                         .batch = ARENA_ARRAY(arena, n, double),
                         .weight = ARENA_ARRAY(arena, n, double),
                         .n = n};
    for (size_t i = 0; i < n; i++)
        m.at[i] = &profile[i];
    qsort(m.at, n, sizeof *m.at, by_batch);
    m.nearest = m.at[0];
    for (size_t i = 0; i < n; i++) {
        m.batch[i] = m.at[i]->batch;
        if (fabs(m.batch[i] - wanted) < fabs(m.nearest->batch - wanted))
            m.nearest = m.at[i];
    }
    return m;
}

/* What the nearest profile says beside times. */
static struct profile adapt(const struct measured *m, double batch)
{
    struct profile out = *m->nearest;
    if (out.bytes_read > 0)
        out.bytes_read *= batch / out.batch;
    out.batch = batch;
    out.forward_op = out.backward_op = NULL;
    out.n_forward_ops = out.n_backward_ops = 0;
    out.samples_file = NULL;
    for (size_t i = 0; i < m->n; i++)
        out.assumed = out.assumed || m->at[i]->assumed;
    fit_times(m, &out);
    return out;
}

static bool check_fit(const struct profile *out, struct error *e)
{
    double fitted_s = computing_s(out);
    if (isfinite(fitted_s) && fitted_s > 0 && out->stage[STAGE_FORWARD].stats.mean > 0)
        return true;
    error_set(e, ERROR_INPUT,
              "batch %g is too far from those that were measured: the times come to "
              "nothing",
              out->batch);
    error_hint(e, "measure a batch that is nearer");
    return false;
}

static bool refuse_single(const struct profile *profile, double batch, struct error *e)
{
    error_set(e, ERROR_INPUT, "profile %s was made with batch %g, not %g", profile->file,
              profile->batch, batch);
    error_hint(e, "two or more profiles with different batches give the time of others");
    return false;
}

bool batch_profile(struct arena *arena, const struct profile *profile, size_t n, double batch,
                   struct profile *out, struct batch_fit *fit, struct error *e)
{
    struct measured m = sort(arena, profile, n, batch);
    bool measured = m.nearest->batch == batch;
    if (n == 1 && !measured)
        return refuse_single(profile, batch, e);
    if (n > 1 && !check_profiles(&m, e))
        return false;
    struct batch_fit found = {.batch = m.batch,
                              .n = n,
                              .wanted = batch,
                              .measured = measured,
                              .extrapolated = batch < m.batch[0] || batch > m.batch[n - 1]};
    struct profile made = *m.nearest;
    if (!measured) {
        weigh(m.batch, n, batch, m.weight);
        made = adapt(&m, batch);
        if (!check_fit(&made, e))
            return false;
        find_error(&m, computing_s(&made), &found);
        struct batch_fit *kept = ARENA_NEW(arena, struct batch_fit);
        *kept = found;
        made.fit = kept;
        profile_add_note(arena, &made, note_of(arena, kept));
    }
    *out = made;
    *fit = found;
    return true;
}
