/* The network of a run: taken as given, kept as measured, or measured now. */
#include "cli/network_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static bool has_hosts(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].n_hosts || job->type[t].n_subsystem_hosts)
            return true;
    }
    return false;
}

/* Whether each link of the ring has a value of its own, not one that was filled in. */
static bool ring_known(struct workspace *w, const struct network *network)
{
    struct link *link = ARENA_ARRAY(&w->arena, w->job.n_devices, struct link);
    struct error gaps = {0};
    bool known = network_ring(network, &w->job, link, &gaps);
    for (size_t i = 0; known && i < w->job.n_devices; i++)
        known = link[i].source != LINK_FILLED;
    error_clear(&gaps);
    return known;
}

static bool read_pairs(const char *word, enum bandwidth_pairs *pairs, struct error *e)
{
    static const char *const known[] = {
        [BANDWIDTH_RING] = "ring", [BANDWIDTH_ALL] = "all", [BANDWIDTH_SAMPLE] = "sample"};
    enum { N_KNOWN = sizeof known / sizeof *known };
    for (size_t i = 0; i < N_KNOWN; i++) {
        if (!word || strcmp(word, known[i]) == 0) {
            *pairs = (enum bandwidth_pairs)i;
            return true;
        }
    }
    error_set(e, ERROR_USAGE, "--pairs is ring, all or sample (got '%s')", word);
    const char *nearest = text_nearest(word, known, N_KNOWN);
    if (nearest)
        error_hint(e, "did you mean '%s'?", nearest);
    return false;
}

static bool read_seconds(const char *text, int *duration_s, struct error *e)
{
    enum { LONGEST_S = 3600 };
    char *end = NULL;
    long seconds = text ? strtol(text, &end, 10) : BANDWIDTH_TEST_S;
    if (text && (end == text || *end || seconds < 1 || seconds > LONGEST_S)) {
        error_set(e, ERROR_USAGE, "--seconds is a whole number from 1 to %d (got '%s')", LONGEST_S,
                  text);
        return false;
    }
    *duration_s = (int)seconds;
    return true;
}

static bool read_options(struct workspace *w, const struct options *options,
                         struct bandwidth_options *bandwidth, struct error *e)
{
    *bandwidth = (struct bandwidth_options){.together = options->together,
                                            .again = options->again,
                                            .file = workspace_path(w, "network.csv"),
                                            .folder = workspace_path(w, "bandwidth"),
                                            .worker = workspace_worker(w)};
    return read_pairs(options->pairs, &bandwidth->pairs, e) &&
           read_seconds(options->seconds, &bandwidth->duration_s, e);
}

bool network_plan(struct workspace *w, const struct options *options, struct bandwidth_plan *plan,
                  struct error *e)
{
    struct bandwidth_options bandwidth;
    return read_options(w, options, &bandwidth, e) &&
           bandwidth_plan(&w->arena, &w->job, &bandwidth, plan, e);
}

static bool measure(struct workspace *w, const struct bandwidth_options *bandwidth, struct error *e)
{
    struct network network;
    struct launcher *launcher = NULL;
    struct error unremoved = {0};
    if (!file_make_folders(bandwidth->folder, e) ||
        !launcher_open(&w->job, bandwidth->worker, &w->progress, &launcher, e))
        return false;
    bool ok = bandwidth_measure(&w->arena, &w->job, bandwidth, launcher, &w->progress, &network, e);
    launcher_close(launcher);
    file_remove_tree(bandwidth->folder, &unremoved);
    error_clear(&unremoved);
    if (ok)
        progress_say(&w->progress, "network: measured, in %s", bandwidth->file);
    return ok;
}

bool network_step(struct workspace *w, const struct options *options, struct error *e)
{
    struct network *network = NULL;
    struct bandwidth_options bandwidth;
    if (!read_options(w, options, &bandwidth, e))
        return false;
    if (w->job.network_file) {
        progress_say(&w->progress, "network: given, in %s", w->job.network_file);
        return true;
    }
    if (!workspace_network(w, &network, e))
        return false;
    bool asked = options->pairs || options->together || options->again;
    if (!asked && ring_known(w, network)) {
        progress_say(&w->progress, network && network->n
                                       ? "network: measured already, kept"
                                       : "network: given by the job's classes of links");
        return true;
    }
    return !has_hosts(&w->job) || measure(w, &bandwidth, e);
}
