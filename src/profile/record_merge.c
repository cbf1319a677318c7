/* Ranks in, one profile out: first what they must have in common, then each part of the profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/merge.h"
#include "profile/record.h"
#include "profile/record_window.h"

static int by_rank(const void *a, const void *b)
{
    int x = ((const struct record *)a)->rank, y = ((const struct record *)b)->rank;
    return (x > y) - (x < y);
}

/* What a worker said went wrong comes before what others lack because of it. */
static bool check_complete(const struct record *record, size_t n, struct error *e)
{
    for (size_t r = 0; r < n; r++) {
        if (record[r].error_text) {
            error_set(e, ERROR_HOST, "%s: the worker gave up: %s", record[r].file,
                      record[r].error_text);
            return false;
        }
    }
    for (size_t r = 0; r < n; r++) {
        if (!record[r].ended) {
            error_set(e, ERROR_HOST, "%s: incomplete: it stops after line %d, without an end line",
                      record[r].file, record[r].n_lines);
            return false;
        }
    }
    return true;
}

static bool fail_differ(const struct record *a, const struct record *b, const char *what,
                        const char *value_a, const char *value_b, struct error *e)
{
    struct arena arena = {0};
    error_set(e, ERROR_INPUT,
              "%s and %s do not belong together: %s is %s in one and %s in the other", a->file,
              b->file, what, text_printable(&arena, value_a, 0),
              text_printable(&arena, value_b, 0));
    arena_free(&arena);
    return false;
}

static bool check_same_int(const struct record *a, const struct record *b, const char *what,
                           int value_a, int value_b, struct error *e)
{
    if (value_a == value_b)
        return true;
    struct arena arena = {0};
    fail_differ(a, b, what, arena_format(&arena, "%d", value_a),
                arena_format(&arena, "%d", value_b), e);
    arena_free(&arena);
    return false;
}

static bool check_same_batch(const struct record *a, const struct record *b, struct error *e)
{
    if (a->batch == b->batch)
        return true;
    struct arena arena = {0};
    fail_differ(a, b, "batch", a->batch < 0 ? "missing" : arena_format(&arena, "%.9g", a->batch),
                b->batch < 0 ? "missing" : arena_format(&arena, "%.9g", b->batch), e);
    arena_free(&arena);
    return false;
}

static bool check_same(const struct record *a, const struct record *b, struct error *e)
{
    if (strcmp(a->device_type, b->device_type) != 0)
        return fail_differ(a, b, "device_type", a->device_type, b->device_type, e);
    if (a->rank == b->rank) {
        error_set(e, ERROR_INPUT, "%s and %s are both of rank %d", a->file, b->file, a->rank);
        return false;
    }
    return check_same_int(a, b, "world_size", a->world_size, b->world_size, e) &&
           check_same_int(a, b, "first", a->first, b->first, e) &&
           check_same_int(a, b, "last", a->last, b->last, e) && check_same_batch(a, b, e);
}

static bool check_ranks(const struct record *record, size_t n, const struct profile *preset,
                        struct error *e)
{
    for (size_t r = 1; r < n; r++) {
        if (!check_same(&record[r - 1], &record[r], e))
            return false;
    }
    size_t expected = preset->n_devices > 0   ? (size_t)preset->n_devices
                      : preset->n_sampled > 0 ? (size_t)preset->n_sampled
                      : preset->one_ring      ? n
                                              : (size_t)record[0].world_size;
    bool some = preset->one_ring || preset->n_sampled > 0;
    if (n == expected && (some || n == (size_t)record[0].world_size))
        return true;
    error_set(e, ERROR_INPUT,
              "%s: %zu record%s of device type %s, whose ranks are %zu of a world of %d",
              record[0].file, n, n == 1 ? "" : "s", record[0].device_type, expected,
              record[0].world_size);
    return false;
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_copy(arena, text) : NULL;
}

static void fill_hosts(struct arena *arena, const struct record *record, struct profile *p)
{
    size_t n = (size_t)p->n_devices;
    if (p->n_sampled > 0)
        return;
    p->host = ARENA_ARRAY(arena, n, const char *);
    for (size_t r = 0; r < n; r++) {
        if (!record[r].host) {
            p->host = NULL;
            return;
        }
        p->host[r] = arena_copy(arena, record[r].host);
        for (size_t before = 0; before < r; before++)
            p->shares_host |= strcmp(p->host[before], p->host[r]) == 0;
    }
}

static void fill_identity(struct arena *arena, const struct record *record, size_t n,
                          const struct profile *preset, struct profile *p)
{
    p->file = copy(arena, record[0].file);
    p->device_type = copy(arena, record[0].device_type);
    p->date = copy(arena, record[0].date);
    p->framework = copy(arena, record[0].framework);
    p->device_name = copy(arena, record[0].device_name);
    p->backend = copy(arena, record[0].backend);
    p->n_devices = preset->n_sampled > 0 ? record[0].world_size : (int)n;
    p->n_sampled = preset->n_sampled;
    p->one_ring = preset->one_ring;
    p->ring_devices = record[0].world_size;
    p->first = record[0].first;
    p->last = record[0].last;
    fill_hosts(arena, record, p);
}

static void fill_unknown(struct arena *arena, const struct record_window *w, struct profile *p)
{
    size_t n = 0;
    for (size_t r = 0; r < w->n_ranks; r++)
        n += w->record[r].n_unknown;
    p->unknown = ARENA_ARRAY(arena, n, struct profile_unknown);
    for (size_t r = 0; r < w->n_ranks; r++) {
        for (size_t i = 0; i < w->record[r].n_unknown; i++) {
            if (!profile_why_unknown(p, w->record[r].unknown[i].what))
                p->unknown[p->n_unknown++] = w->record[r].unknown[i];
        }
    }
}

static bool fill_batch(const struct record_window *w, struct profile *p, struct error *e)
{
    p->batch = fmax(0, w->record[0].batch);
    double micro_batches = 0;
    for (size_t k = 0; k < record_window_size(w); k++)
        micro_batches += record_window_at(w, k)->micro_batches;
    p->micro_batches = micro_batches / (double)record_window_size(w);
    if (p->batch > 0 || profile_why_unknown(p, "batch"))
        return true;
    error_set(e, ERROR_INPUT, "%s:1: batch is missing in the header", w->record[0].file);
    return false;
}

static void fill_loader(struct arena *arena, const struct record_window *w, struct profile *p)
{
    struct samples *interval = &p->stage[STAGE_LOADER_INTERVAL];
    size_t n = 0;
    p->loader_workers = -1;
    for (size_t r = 0; r < w->n_ranks; r++) {
        int workers = w->record[r].loader_workers;
        if (workers >= 0 && (p->loader_workers < 0 || workers < p->loader_workers))
            p->loader_workers = workers;
        n += w->record[r].n_intervals;
    }
    if (n == 0)
        return;
    interval->known = true;
    interval->value = ARENA_ARRAY(arena, n, double);
    n = 0;
    for (size_t r = 0; r < w->n_ranks; r++) {
        for (size_t k = 0; k < w->record[r].n_intervals; k++)
            interval->value[n++] = w->record[r].interval_s[k];
    }
    interval->stats = stats_of(interval->value, n);
}

/* A stage is known when it is in all iterations; seen in some only, it says nothing of a step. */
static void fill_stage(struct arena *arena, const struct record_window *w, enum stage stage,
                       struct merge_notes *notes, struct profile *p)
{
    size_t n = record_window_size(w), n_known = 0;
    double *value = ARENA_ARRAY(arena, n, double);
    for (size_t k = 0; k < n; k++) {
        value[k] = record_window_at(w, k)->time_s[stage];
        n_known += value[k] >= 0;
    }
    if (n_known < n && n_known > 0)
        merge_note(notes, "%s was seen in %zu of %zu iterations only, and is left out",
                   stage_key(stage), n_known, n);
    if (n_known < n)
        return;
    p->stage[stage] = (struct samples){.known = true, .value = value, .stats = stats_of(value, n)};
}

static void fill_stages(struct arena *arena, const struct record_window *w,
                        struct merge_notes *notes, struct profile *p)
{
    fill_loader(arena, w, p);
    for (int s = 0; s < N_STAGES; s++) {
        if (s != STAGE_LOADER_INTERVAL)
            fill_stage(arena, w, (enum stage)s, notes, p);
    }
}

/* D as counted; negative where an iteration has no count. */
static double counted_bytes(const struct record_window *w)
{
    size_t n = record_window_size(w);
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        double sent = record_window_at(w, k)->bytes_sent;
        if (sent < 0)
            return -1;
        sum += sent;
    }
    return sum / (double)n;
}

static bool all_by_kernel(const struct record_window *w)
{
    for (size_t r = 0; r < w->n_ranks; r++) {
        if (!w->record[r].tcp_info)
            return false;
    }
    return true;
}

static void note_odd_bytes(double counted, double computed, struct merge_notes *notes)
{
    double error = computed > 0 ? counted / computed - 1 : 0;
    if (fabs(error) > 0.1)
        merge_note(notes,
                   "each device sent %.0f bytes a step, %+.0f %% off the 2(n-1)/n of its buckets "
                   "that a ring sends",
                   counted, 100 * error);
}

/* A ring sends each bucket's bytes 2(n-1)/n times. */
static bool fill_bytes(const struct record_window *w, struct merge_notes *notes, struct profile *p,
                       struct error *e)
{
    double n = p->ring_devices, on_wire = 0;
    for (size_t b = 0; b < p->n_buckets; b++) {
        on_wire += p->bucket[b].wire_bytes;
        p->gradient_bytes += p->bucket[b].bytes;
    }
    double computed = 2 * (n - 1) / n * on_wire, counted = counted_bytes(w);
    if (profile_why_unknown(p, "all_reduce")) {
        p->gradient_bytes = 0;
        return true;
    }
    if (p->ring_devices > 1 && counted < 0 && p->n_buckets == 0) {
        error_set(e, ERROR_INPUT,
                  "%s: neither bytes_sent nor buckets: how much is all-reduced is not known",
                  w->record[0].file);
        return false;
    }
    p->bytes_measured = p->ring_devices > 1 && counted >= 0 && all_by_kernel(w);
    p->bytes_sent = p->ring_devices == 1 ? 0 : counted >= 0 ? counted : computed;
    if (p->bytes_measured)
        note_odd_bytes(counted, computed, notes);
    return true;
}

static bool same_interface(const struct record *a, const struct record *b)
{
    return a->interface && b->interface && strcmp(a->interface, b->interface) == 0 && a->host &&
           b->host && strcmp(a->host, b->host) == 0;
}

/* An interface that several ranks share has counted all of them, in each one's record. */
static void fill_interface(const struct record_window *w, struct profile *p)
{
    double sum = 0;
    size_t n = 0;
    for (size_t r = 0; r < w->n_ranks; r++) {
        size_t n_sharing = 0;
        for (size_t other = 0; other < w->n_ranks; other++)
            n_sharing += same_interface(&w->record[r], &w->record[other]);
        if (n_sharing == 0 || w->record[r].interface_sent_bytes <= 0)
            continue;
        sum += w->record[r].interface_sent_bytes / (double)n_sharing;
        n++;
    }
    if (n > 0)
        p->interface_bytes = sum / (double)n;
}

static void fill_read_bytes(const struct record_window *w, struct profile *p)
{
    double sum = 0;
    size_t n = 0;
    for (size_t r = 0; r < w->n_ranks; r++) {
        if (w->record[r].read_bytes >= 0) {
            sum += w->record[r].read_bytes;
            n++;
        }
    }
    p->bytes_read = n > 0 ? sum / (double)n : -1;
}

/* Same kind and place, and as many bytes. */
static struct profile_collective *find_collective(struct profile *p,
                                                  const struct record_collective *c)
{
    for (size_t i = 0; i < p->n_collectives; i++) {
        struct profile_collective *known = &p->collective[i];
        if (known->bytes == c->bytes && strcmp(known->op, c->op) == 0 &&
            strcmp(known->place, c->place) == 0)
            return known;
    }
    return NULL;
}

static struct profile_collective *new_collective(struct arena *arena, struct profile *p,
                                                 size_t *capacity,
                                                 const struct record_collective *c)
{
    if (p->n_collectives == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 8;
        struct profile_collective *grown = ARENA_ARRAY(arena, *capacity, struct profile_collective);
        for (size_t i = 0; i < p->n_collectives; i++)
            grown[i] = p->collective[i];
        p->collective = grown;
    }
    struct profile_collective *fresh = &p->collective[p->n_collectives++];
    *fresh = (struct profile_collective){
        .op = copy(arena, c->op), .place = copy(arena, c->place), .bytes = c->bytes};
    return fresh;
}

static double sum_of_known(double sum, double more)
{
    return sum < 0 || more < 0 ? -1 : sum + more;
}

static void add_collective(struct arena *arena, const struct record_collective *c, size_t *capacity,
                           struct profile *p)
{
    struct profile_collective *sum = find_collective(p, c);
    if (!sum)
        sum = new_collective(arena, p, capacity, c);
    sum->count_per_step++;
    sum->span_s = sum_of_known(sum->span_s, c->span_s);
    sum->transfer_s = sum_of_known(sum->transfer_s, c->transfer_s);
}

static void fill_collectives(struct arena *arena, const struct record_window *w, struct profile *p)
{
    size_t capacity = 0;
    for (size_t k = 0; k < record_window_size(w); k++) {
        const struct record_iteration *it = record_window_at(w, k);
        for (size_t i = 0; i < it->n_collectives; i++)
            add_collective(arena, &it->collective[i], &capacity, p);
    }
    for (size_t i = 0; i < p->n_collectives; i++) {
        struct profile_collective *c = &p->collective[i];
        c->span_s = c->span_s < 0 ? -1 : c->span_s / c->count_per_step;
        c->transfer_s = c->transfer_s < 0 ? -1 : c->transfer_s / c->count_per_step;
        c->count_per_step /= (double)record_window_size(w);
    }
}

/* Known where all ranks measured it, with the same messages. */
static void fill_rounds(const struct record_window *w, struct profile *p)
{
    const struct profile_rounds *first = &w->record[0].rounds;
    struct profile_rounds mean = {.message_bytes = first->message_bytes,
                                  .large_message_bytes = first->large_message_bytes};
    double share = 1 / (double)w->n_ranks;
    for (size_t r = 0; r < w->n_ranks; r++) {
        const struct profile_rounds *rounds = &w->record[r].rounds;
        if (rounds->message_bytes != mean.message_bytes ||
            rounds->large_message_bytes != mean.large_message_bytes)
            return;
        mean.idle_s += share * rounds->idle_s;
        mean.busy_s += share * rounds->busy_s;
        mean.lost_s += share * rounds->lost_s;
        mean.large_idle_s += share * rounds->large_idle_s;
        mean.large_busy_s += share * rounds->large_busy_s;
        mean.large_lost_s += share * rounds->large_lost_s;
    }
    p->rounds = mean;
}

/* The lowest rank that described its model speaks for all. */
static void fill_model(struct arena *arena, const struct record *record, size_t n,
                       struct profile *p)
{
    size_t r = 0;
    while (r + 1 < n && record[r].n_layers == 0)
        r++;
    p->layer = record[r].layer;
    p->n_layers = record[r].n_layers;
    p->n_parameters = record[r].n_parameters;
    p->parameter_bytes = record[r].parameter_bytes;
    p->model_gradient_bytes = record[r].model_gradient_bytes;
    p->loss = copy(arena, record[r].loss);
    p->optimizer = copy(arena, record[r].optimizer);
}

static void note_records(const struct record_window *w, struct merge_notes *notes)
{
    for (size_t r = 0; r < w->n_ranks; r++) {
        for (size_t i = 0; i < w->record[r].n_notes; i++)
            merge_note(notes, "%s", w->record[r].note_line[i]);
    }
}

static void note_devices(const struct record_window *w, struct merge_notes *notes)
{
    const struct record *first = &w->record[0];
    for (size_t r = 1; r < w->n_ranks; r++) {
        const struct record *other = &w->record[r];
        if (first->device_name && other->device_name &&
            strcmp(first->device_name, other->device_name) != 0)
            merge_note(notes, "devices differ: rank %d has %s, rank %d has %s", first->rank,
                       first->device_name, other->rank, other->device_name);
        if (first->framework && other->framework && strcmp(first->framework, other->framework) != 0)
            merge_note(notes, "frameworks differ: rank %d has %s, rank %d has %s", first->rank,
                       first->framework, other->rank, other->framework);
    }
}

static void note_loader(const struct record_window *w, const struct profile *p,
                        struct merge_notes *notes)
{
    bool differ = false;
    for (size_t r = 0; r < w->n_ranks; r++)
        differ |= w->record[r].workers_differ || (w->record[r].loader_workers >= 0 &&
                                                  w->record[r].loader_workers != p->loader_workers);
    if (differ)
        merge_note(notes, "loaders have different numbers of workers; the fewest is %d",
                   p->loader_workers);
    if (p->loader_workers >= 0 && !p->stage[STAGE_LOADER_INTERVAL].known &&
        !profile_why_unknown(p, stage_key(STAGE_LOADER_INTERVAL)))
        merge_note(notes, "the loader fetched no batch in the window: how fast it can deliver is "
                          "not known");
}

/* Samples that a mini-batch really had, where the record knows. */
static void note_batch(const struct record_window *w, const struct profile *p,
                       struct merge_notes *notes)
{
    double samples = 0, micro_batches = 0;
    for (size_t k = 0; k < record_window_size(w); k++) {
        const struct record_iteration *it = record_window_at(w, k);
        if (it->samples < 0)
            return;
        samples += it->samples;
        micro_batches += it->micro_batches;
    }
    double mean = samples / micro_batches;
    if (fabs(mean - p->batch) > 0.01 * p->batch)
        merge_note(notes, "a mini-batch had %.6g samples in the mean, not %.6g", mean, p->batch);
}

static void note_overlap(const struct record_window *w, struct merge_notes *notes)
{
    size_t n = 0;
    for (size_t k = 0; k < record_window_size(w); k++)
        n += record_window_at(w, k)->overlaps;
    if (n > 0)
        merge_note(notes, "in %zu of %zu iterations the stages add up to more than the step", n,
                   record_window_size(w));
}

static void fill_rest(struct arena *arena, const struct record_window *w, struct merge_notes *notes,
                      struct profile *p)
{
    fill_interface(w, p);
    fill_read_bytes(w, p);
    fill_collectives(arena, w, p);
    fill_rounds(w, p);
    fill_model(arena, w->record, w->n_ranks, p);
    merge_operators(arena, w, notes, p);
    note_devices(w, notes);
    note_loader(w, p, notes);
    note_batch(w, p, notes);
    note_overlap(w, notes);
}

static bool fill_profile(struct arena *arena, const struct record_window *w,
                         const struct profile *preset, struct merge_notes *notes, struct profile *p,
                         struct error *e)
{
    fill_identity(arena, w->record, w->n_ranks, preset, p);
    p->n_left_out = w->n_left_out;
    note_records(w, notes);
    fill_unknown(arena, w, p);
    fill_stages(arena, w, notes, p);
    if (!fill_batch(w, p, e) || !merge_buckets(arena, w, notes, p, e) ||
        !fill_bytes(w, notes, p, e))
        return false;
    fill_rest(arena, w, notes, p);
    p->note_line = notes->line;
    p->n_notes = notes->n;
    return true;
}

bool record_merge(struct arena *arena, struct record *record, size_t n, struct profile *profile,
                  struct error *e)
{
    struct record_window window;
    struct profile merged = {0};
    struct merge_notes notes = {.arena = arena};
    if (!check_complete(record, n, e))
        return false;
    qsort(record, n, sizeof *record, by_rank);
    if (!check_ranks(record, n, profile, e) || !record_window_make(arena, record, n, &window, e) ||
        !fill_profile(arena, &window, profile, &notes, &merged, e))
        return false;
    *profile = merged;
    return true;
}

bool profile_from_records(struct arena *arena, const char *const *path, size_t n,
                          struct profile *profile, struct error *e)
{
    if (n == 0) {
        error_set(e, ERROR_INPUT, "no records to make a profile of");
        return false;
    }
    struct record *record = ARENA_ARRAY(arena, n, struct record);
    for (size_t r = 0; r < n; r++) {
        if (!record_read(arena, path[r], &record[r], e))
            return false;
    }
    return record_merge(arena, record, n, profile, e);
}
