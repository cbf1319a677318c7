/*
 * The values of all links lie in one matrix, which is written after each round, so that a
 * measurement that ends early, however it ends, is gone on with by the next one.
 */
#include "measure/bandwidth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/bandwidth_pairs.h"
#include "measure/bandwidth_round.h"
#include "measure/bandwidth_together.h"

/* Beside the test itself: starting, connecting, latency. */
static const double OVERHEAD_HERE_S = 0.4, OVERHEAD_S = 1.5;

static const double PATIENCE_S = 10;

/* A file whose writing takes longer than a tenth of the time is not written after each round. */
static const double WRITING_SHARE = 0.1;

enum { TRIES = 3, MOST_TOLD = 200, MOST_FAILURES_TOLD = 20 };

struct task {
    struct arena *arena;
    const struct job *job;
    const struct bandwidth_options *options;
    struct launcher *launcher;
    const struct progress *progress;
    struct round_tools tools;
    struct network network;
    const char **address; /* [network.n], NULL: not asked for, or not reached */
    struct error *lost;   /* [network.n], why it was not reached */
    struct error *why;    /* [n_pairs], why a link has no value yet */
    struct host_pair *pair;
    size_t n_pairs;
    size_t n_rounds, round; /* in all, and the present one */
    double started_s, written_s, writing_s;
    struct round_ends *ends; /* [n_pairs] */
    int try;                 /* ends are measured in the first only */
    size_t n_without_latency;
    struct error latency_why; /* of the first of them */
};

static int duration_of(const struct bandwidth_options *options)
{
    return options->duration_s ? options->duration_s : BANDWIDTH_TEST_S;
}

static bool read_kept(struct arena *arena, const struct bandwidth_options *options,
                      struct network *kept, struct error *e)
{
    bool there = options->file && !options->again && file_exists(options->file);
    return !there || network_read(arena, options->file, kept, e);
}

static void list_pairs(struct arena *arena, const bool *wanted, struct bandwidth_plan *plan)
{
    size_t n = plan->network.n, n_wanted = 0;
    for (size_t i = 0; i < n * n; i++)
        n_wanted += wanted[i];
    plan->pair = ARENA_ARRAY(arena, n_wanted, struct host_pair);
    for (size_t i = 0; i < n * n; i++) {
        if (wanted[i] && plan->network.link[i].source == LINK_UNKNOWN)
            plan->pair[plan->n_pairs++] = (struct host_pair){(int)(i / n), (int)(i % n)};
        else if (wanted[i])
            plan->n_known++;
    }
}

/* Rounds for the pairs whose hosts are on the machines `machine[n]`. */
static void schedule(struct arena *arena, const struct host_pair *pair, size_t n_pairs,
                     const int *machine, size_t n_hosts, struct rounds *rounds)
{
    struct arena scratch = {0};
    struct host_pair *there = ARENA_ARRAY(&scratch, n_pairs, struct host_pair);
    for (size_t i = 0; i < n_pairs; i++)
        there[i] = (struct host_pair){machine[pair[i].from], machine[pair[i].to]};
    rounds_schedule(arena, there, n_pairs, (int)n_hosts, rounds);
    arena_free(&scratch);
}

bool bandwidth_plan(struct arena *arena, const struct job *job,
                    const struct bandwidth_options *options, struct bandwidth_plan *plan,
                    struct error *e)
{
    struct bandwidth_plan made = {0};
    struct network kept = {0};
    bool here = job->launcher.kind == LAUNCHER_LOCAL;
    if (!read_kept(arena, options, &kept, e) ||
        !bandwidth_hosts(arena, job, &kept, &made.network, e))
        return false;
    list_pairs(arena, bandwidth_wanted(arena, job, options->pairs, &made.network), &made);
    int *machine = ARENA_ARRAY(arena, made.network.n, int);
    for (size_t i = 0; i < made.network.n && !here; i++)
        machine[i] = (int)i;
    schedule(arena, made.pair, made.n_pairs, machine, made.network.n, &made.rounds);
    made.estimate_s = (double)made.rounds.n_rounds *
                      (duration_of(options) + (here ? OVERHEAD_HERE_S : OVERHEAD_S));
    *plan = made;
    return true;
}

static struct link *link_of(const struct task *task, struct host_pair pair)
{
    return &task->network.link[(size_t)pair.from * task->network.n + (size_t)pair.to];
}

static bool write_network(struct task *task, struct error *e)
{
    struct text csv = {0};
    double start_s = clock_now_s();
    network_format(&task->network, &csv);
    bool ok = !task->options->file || file_write(task->options->file, csv.data, csv.length, e);
    text_free(&csv);
    task->written_s = clock_now_s();
    task->writing_s = task->written_s - start_s;
    return ok;
}

static bool write_now_and_then(struct task *task, struct error *e)
{
    double since_s = clock_now_s() - task->written_s;
    return since_s * WRITING_SHARE < task->writing_s || write_network(task, e);
}

static void note_result(struct task *task, const struct round_link *measured, struct host_pair pair)
{
    char bandwidth[UNITS_TEXT_SIZE], latency[UNITS_TEXT_SIZE];
    const struct iperf3_result *result = &measured->result;
    *link_of(task, pair) = (struct link){.bandwidth_Bps = result->bandwidth_Bps,
                                         .latency_s = measured->ends.latency_s,
                                         .source = LINK_MEASURED,
                                         .at_least = result->cpu_bound};
    if (task->n_pairs > MOST_TOLD)
        return;
    units_format(result->bandwidth_Bps, DIMENSION_BANDWIDTH, bandwidth);
    units_format(measured->ends.latency_s, DIMENSION_TIME, latency);
    progress_say(task->progress, "%s -> %s: %s%s%s%s", measured->from, measured->to, bandwidth,
                 measured->ends.latency_s > 0 ? ", " : "",
                 measured->ends.latency_s > 0 ? latency : "",
                 result->cpu_bound ? " or more: a CPU was the limit" : "");
}

static void note_ends(struct task *task, size_t index, struct round_link *measured)
{
    task->ends[index] = measured->ends;
    if (measured->ends.latency_s > 0 || measured->why.kind == ERROR_NONE)
        return;
    if (task->n_without_latency++ == 0) {
        task->latency_why = measured->why;
        measured->why = (struct error){0};
    }
}

static void show_round(const struct task *task, size_t n_links)
{
    char left[UNITS_TEXT_SIZE];
    double done = (double)task->round, took_s = clock_now_s() - task->started_s;
    double each_s = done > 0 ? took_s / done : task->tools.duration_s + OVERHEAD_S;
    units_format_duration(each_s * ((double)task->n_rounds - done), left);
    progress_status(task->progress, "bandwidth: round %zu of %zu, %zu link%s at once, %s left",
                    task->round + 1, task->n_rounds, n_links, n_links == 1 ? "" : "s", left);
}

/* One round of pairs, by their indices; each gets a value, or its `why` says what is wrong. */
static bool run_round(struct task *task, const size_t *index, size_t n, struct error *e)
{
    struct arena scratch = {0};
    struct round_link *link = ARENA_ARRAY(&scratch, n, struct round_link);
    for (size_t i = 0; i < n; i++) {
        struct host_pair pair = task->pair[index[i]];
        link[i] = (struct round_link){.from = task->network.name[pair.from],
                                      .to = task->network.name[pair.to],
                                      .from_address = task->address[pair.from],
                                      .to_address = task->address[pair.to]};
    }
    show_round(task, n);
    bool ok = task->try > 0 || round_latency(&task->tools, link, n, e);
    for (size_t i = 0; i < n && task->try == 0; i++)
        note_ends(task, index[i], &link[i]);
    for (size_t i = 0; i < n; i++)
        link[i].ends = task->ends[index[i]];
    ok = ok && round_bandwidth(&task->tools, link, n, e);
    for (size_t i = 0; i < n; i++) {
        error_clear(&task->why[index[i]]);
        if (ok && link[i].why.kind == ERROR_NONE)
            note_result(task, &link[i], task->pair[index[i]]);
        task->why[index[i]] = link[i].why;
    }
    task->round++;
    arena_free(&scratch);
    return ok && write_now_and_then(task, e);
}

static bool has_value(const struct task *task, size_t index)
{
    return link_of(task, task->pair[index])->source != LINK_UNKNOWN;
}

/* The first host of each address stands for the machine. */
static int *machines(struct arena *scratch, const struct task *task)
{
    size_t n = task->network.n;
    int *machine = ARENA_ARRAY(scratch, n, int);
    for (size_t i = 0; i < n; i++) {
        machine[i] = (int)i;
        for (size_t k = 0; k < i && task->address[i]; k++) {
            if (task->address[k] && strcmp(task->address[i], task->address[k]) == 0) {
                machine[i] = (int)k;
                break;
            }
        }
        if (launcher_is_local(task->launcher))
            machine[i] = 0;
    }
    return machine;
}

/* Pairs without a value whose hosts are reached. */
static size_t list_open(const struct task *task, struct host_pair *open, size_t *index)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_pairs; i++) {
        struct host_pair pair = task->pair[i];
        if (has_value(task, i) || !task->address[pair.from] || !task->address[pair.to])
            continue;
        open[n] = pair;
        index[n++] = i;
    }
    return n;
}

static bool run_rounds(struct task *task, struct error *e)
{
    struct arena scratch = {0};
    struct host_pair *open = ARENA_ARRAY(&scratch, task->n_pairs, struct host_pair);
    size_t *index = ARENA_ARRAY(&scratch, task->n_pairs, size_t);
    size_t n_open = list_open(task, open, index);
    struct rounds rounds;
    schedule(&scratch, open, n_open, machines(&scratch, task), task->network.n, &rounds);
    task->started_s = clock_now_s();
    task->n_rounds = rounds.n_rounds;
    task->round = 0;
    bool ok = true;
    for (size_t k = 0; k < rounds.n_rounds && ok; k++) {
        size_t n = rounds.first[k + 1] - rounds.first[k];
        size_t *of_round = ARENA_ARRAY(&scratch, n, size_t);
        for (size_t i = 0; i < n; i++)
            of_round[i] = index[rounds.pair[rounds.first[k] + i]];
        ok = run_round(task, of_round, n, e);
    }
    arena_free(&scratch);
    return ok;
}

static size_t count_open(const struct task *task)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_pairs; i++)
        n += !has_value(task, i);
    return n;
}

static bool run_all_tries(struct task *task, struct error *e)
{
    for (task->try = 0; task->try < TRIES && count_open(task) > 0; task->try++) {
        if (task->try > 0)
            progress_say(task->progress, "bandwidth: %zu links failed, tried again",
                         count_open(task));
        if (!run_rounds(task, e))
            return false;
    }
    return true;
}

static bool *hosts_of_pairs(struct arena *scratch, const struct task *task)
{
    bool *needed = ARENA_ARRAY(scratch, task->network.n, bool);
    for (size_t i = 0; i < task->n_pairs; i++)
        needed[task->pair[i].from] = needed[task->pair[i].to] = true;
    for (size_t i = 0; i < task->job->n_devices && task->options->together; i++) {
        struct host_pair pair;
        if (bandwidth_ring_link(task->job, &task->network, i, &pair))
            needed[pair.from] = needed[pair.to] = true;
    }
    return needed;
}

/* Finds the addresses of all hosts that take part, of which some may not be reached. */
static void reach_hosts(struct task *task)
{
    struct arena scratch = {0};
    const bool *needed = hosts_of_pairs(&scratch, task);
    const char **host = ARENA_ARRAY(&scratch, task->network.n, const char *);
    size_t *place = ARENA_ARRAY(&scratch, task->network.n, size_t);
    struct error *why = ARENA_ARRAY(&scratch, task->network.n, struct error);
    size_t n = 0;
    for (size_t i = 0; i < task->network.n; i++) {
        if (!needed[i])
            continue;
        place[n] = i;
        host[n++] = task->network.name[i];
    }
    launcher_reach(task->launcher, host, n, why);
    for (size_t i = 0; i < n; i++) {
        char address[LAUNCHER_ADDRESS_SIZE];
        if (why[i].kind == ERROR_NONE &&
            launcher_address(task->launcher, host[i], address, &why[i]))
            task->address[place[i]] = arena_copy(task->arena, address);
        task->lost[place[i]] = why[i];
    }
    arena_free(&scratch);
}

static const char *why_text(const struct task *task, size_t index)
{
    struct host_pair pair = task->pair[index];
    const struct error *why = task->lost[pair.from].text ? &task->lost[pair.from]
                              : task->lost[pair.to].text ? &task->lost[pair.to]
                                                         : &task->why[index];
    return why->text ? why->text : "not tried";
}

/* Links without a value are marked as failed, and all told together. */
static bool report_failures(struct task *task, struct error *e)
{
    struct text text = {0};
    size_t n = 0;
    for (size_t i = 0; i < task->n_pairs; i++) {
        struct host_pair pair = task->pair[i];
        if (has_value(task, i))
            continue;
        link_of(task, pair)->failed = true;
        if (n++ < MOST_FAILURES_TOLD)
            text_format(&text, "\n  %s -> %s: %s", task->network.name[pair.from],
                        task->network.name[pair.to], why_text(task, i));
    }
    if (n > MOST_FAILURES_TOLD)
        text_format(&text, "\n  and %zu more", n - MOST_FAILURES_TOLD);
    if (n > 0) {
        error_set(e, ERROR_HOST, "%zu of %zu links could not be measured, tried %d times:%s", n,
                  task->n_pairs, TRIES, text.data);
        error_hint(e, "the other values are kept; run it again to measure these alone");
    }
    text_free(&text);
    return n == 0;
}

static void warn_of_latency(const struct task *task)
{
    if (task->n_without_latency > 0)
        progress_warn(task->progress, "the latency of %zu link%s is not known; of the first: %s",
                      task->n_without_latency, task->n_without_latency == 1 ? "" : "s",
                      task->latency_why.text ? task->latency_why.text : "");
}

static void warn_of_lower_bounds(const struct task *task)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_pairs; i++)
        n += link_of(task, task->pair[i])->at_least;
    if (n > 0)
        progress_warn(
            task->progress,
            "%zu of %zu values are lower bounds (measured>=): a CPU was busy to more than "
            "90 %% while iperf3 ran, the links may be faster",
            n, task->n_pairs);
}

static bool read_pingpong(struct task *task, struct error *e)
{
    enum { LIMIT = 1 << 16 };
    char *text = NULL;
    if (launcher_is_local(task->launcher) || !task->options->worker)
        return true;
    if (!file_read(task->arena, path_join(task->arena, task->options->worker, "pingpong.py"), LIMIT,
                   &text, NULL, e))
        return false;
    task->tools.pingpong = text;
    return true;
}

static bool open_task(struct task *task, struct error *e)
{
    struct bandwidth_plan plan;
    if (!bandwidth_plan(task->arena, task->job, task->options, &plan, e) || !read_pingpong(task, e))
        return false;
    task->network = plan.network;
    task->pair = plan.pair;
    task->n_pairs = plan.n_pairs;
    task->address = ARENA_ARRAY(task->arena, task->network.n, const char *);
    task->lost = ARENA_ARRAY(task->arena, task->network.n, struct error);
    task->why = ARENA_ARRAY(task->arena, task->n_pairs, struct error);
    task->ends = ARENA_ARRAY(task->arena, task->n_pairs, struct round_ends);
    return true;
}

static void close_task(struct task *task)
{
    for (size_t i = 0; task->lost && i < task->network.n; i++)
        error_clear(&task->lost[i]);
    for (size_t i = 0; task->why && i < task->n_pairs; i++)
        error_clear(&task->why[i]);
    error_clear(&task->latency_why);
}

static void fill_sample(struct task *task)
{
    size_t n = task->options->pairs == BANDWIDTH_SAMPLE
                   ? bandwidth_fill_from_sample(task->job, &task->network)
                   : 0;
    if (n > 0)
        progress_say(task->progress,
                     "bandwidth: %zu links of the ring have the median of their sample", n);
}

/* What is measured is written whether all went well or not. */
static bool measure(struct task *task, struct error *e)
{
    struct error unwritten = {0};
    reach_hosts(task);
    bool ok = run_all_tries(task, e);
    warn_of_latency(task);
    warn_of_lower_bounds(task);
    ok = ok && report_failures(task, e);
    if (ok && task->options->together)
        ok = bandwidth_together(&task->tools, task->job, &task->network, task->address, e);
    if (ok)
        fill_sample(task);
    if (!write_network(task, ok ? e : &unwritten)) {
        if (!ok)
            error_in(e, "writing what was measured: %s", unwritten.text);
        ok = false;
    }
    error_clear(&unwritten);
    return ok;
}

bool bandwidth_measure(struct arena *arena, const struct job *job,
                       const struct bandwidth_options *options, struct launcher *launcher,
                       const struct progress *progress, struct network *network, struct error *e)
{
    struct task task = {
        .arena = arena,
        .job = job,
        .options = options,
        .launcher = launcher,
        .progress = progress,
        .tools = {.launcher = launcher,
                  .progress = progress,
                  .folder = options->folder,
                  .duration_s = duration_of(options),
                  .patience_s = options->patience_s > 0 ? options->patience_s : PATIENCE_S,
                  .first_port = options->first_port}};
    bool ok = open_task(&task, e) && measure(&task, e);
    if (ok)
        *network = task.network;
    close_task(&task);
    return ok;
}
