/* The network of a run: taken as given, kept as measured, or measured now. */
#include "cli/network_step.h"

#include "base/file.h"
#include "measure/bandwidth.h"

static bool has_hosts(const struct job *job)
{
    for (int t = 0; t < job->n_types; t++) {
        if (job->type[t].n_hosts || job->type[t].n_subsystem_hosts)
            return true;
    }
    return false;
}

static bool ring_known(struct workspace *w, const struct network *network)
{
    struct link *link = ARENA_ARRAY(&w->arena, w->job.n_devices, struct link);
    struct error gaps = {0};
    bool known = network_ring(network, &w->job, link, &gaps);
    error_clear(&gaps);
    return known;
}

static bool measure(struct workspace *w, struct error *e)
{
    struct network network;
    struct text csv = {0};
    const char *path = workspace_path(w, "network.csv");
    if (!bandwidth_measure(&w->arena, &w->job, &w->progress, &network, e))
        return false;
    network_format(&network, &csv);
    bool ok = file_write(path, csv.data, csv.length, e);
    text_free(&csv);
    if (ok)
        progress_say(&w->progress, "network: measured, in %s", path);
    return ok;
}

bool network_step(struct workspace *w, bool again, struct error *e)
{
    struct network *network = NULL;
    if (w->job.network_file) {
        progress_say(&w->progress, "network: given, in %s", w->job.network_file);
        return true;
    }
    if (!workspace_network(w, &network, e))
        return false;
    if (!again && ring_known(w, network)) {
        progress_say(&w->progress, network ? "network: measured already, kept"
                                           : "network: given by the job's classes of links");
        return true;
    }
    return !has_hosts(&w->job) || measure(w, e);
}
