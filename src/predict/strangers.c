/* A name misspelt in a network file leaves a link to a class that it was to overrule: say so. */
#include "predict/parts.h"

static bool mark(const struct network *network, const char *name, bool *known)
{
    long found = network_find(network, name);
    if (found != NETWORK_NO_NAME)
        known[found] = true;
    return found != NETWORK_NO_NAME;
}

/* Marks the names that the job's devices have; the first device that has none of them, by name. */
static const char *mark_devices(struct arena *arena, const struct job *job,
                                const struct network *network, bool *known)
{
    const char *unnamed = NULL;
    for (size_t d = 0; d < job->n_devices; d++) {
        struct arena scratch = {0};
        const char *name = job_device_name(&scratch, job, d);
        const char *host = job_device_host(job, d, NULL);
        bool by_host = host && mark(network, host, known);
        if (!mark(network, name, known) && !by_host && !unnamed)
            unnamed = arena_copy(arena, name);
        arena_free(&scratch);
    }
    return unnamed;
}

static void mark_subsystems(const struct job *job, const struct network *network, bool *known)
{
    for (int t = 0; t < job->n_types; t++) {
        for (size_t h = 0; h < job->type[t].n_subsystem_hosts; h++)
            mark(network, job->type[t].subsystem_host[h].name, known);
    }
}

void forecast_warn_strangers(struct arena *arena, const struct job *job,
                             const struct network *network, struct warnings *warnings)
{
    if (!network || !network->n)
        return;
    bool *known = ARENA_ARRAY(arena, network->n, bool);
    mark_subsystems(job, network, known);
    const char *unnamed = mark_devices(arena, job, network, known);
    size_t stranger = 0;
    while (stranger < network->n && known[stranger])
        stranger++;
    if (unnamed && stranger < network->n)
        warn(warnings,
             "The network file names '%s', which the job does not have, and not '%s', which it "
             "has: its links are those of the job's classes.",
             network->name[stranger], unnamed);
}
