/* `foretrain show`: what a profile, a network, a job or a run's folder holds. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/command.h"
#include "cli/workspace.h"
#include "measure/bandwidth_files.h"
#include "report/report.h"

static bool print_once(const struct options *options, struct text *out, struct error *e)
{
    bool ok = workspace_print(options, out, e);
    text_free(out);
    return ok;
}

static bool show_profile(struct arena *arena, const char *path, const struct options *options,
                         struct error *e)
{
    struct profile profile;
    struct text out = {0};
    if (!profile_read(arena, path, &profile, e))
        return false;
    if (options->json)
        profile_format(&profile, profile.samples_file, &out);
    else
        report_profile_text(&profile, &out);
    return print_once(options, &out, e);
}

/* Several files are one network. */
static bool show_networks(struct arena *arena, const char *const *path, size_t n,
                          const struct options *options, struct error *e)
{
    struct network network;
    struct text out = {0};
    if (!bandwidth_paths_read(arena, path, n, &network, e))
        return false;
    if (options->json)
        report_network_json(&network, &out);
    else
        report_network_text(&network, &out);
    return print_once(options, &out, e);
}

static bool show_network(struct arena *arena, const char *path, const struct options *options,
                         struct error *e)
{
    return show_networks(arena, &path, 1, options, e);
}

static bool show_nccl_tests(struct arena *arena, const char *path, const struct options *options,
                            struct error *e)
{
    struct nccl_table table;
    struct text out = {0};
    if (!nccl_tests_read_file(arena, path, &table, e))
        return false;
    if (options->json)
        report_nccl_tests_json(&table, &out);
    else
        report_nccl_tests_text(&table, &out);
    return print_once(options, &out, e);
}

static bool show_topology(struct arena *arena, const char *path, const struct options *options,
                          struct error *e)
{
    struct topology topology;
    struct text out = {0};
    if (!topology_read(arena, path, &topology, e))
        return false;
    if (options->json)
        report_topology_json(&topology, &out);
    else
        report_topology_text(&topology, &out);
    return print_once(options, &out, e);
}

static bool show_job(struct arena *arena, const char *path, const struct options *options,
                     struct error *e)
{
    struct job job;
    struct text out = {0};
    if (!job_load(arena, path, &job, e))
        return false;
    if (options->json)
        report_job_json(&job, &out);
    else
        report_job_text(&job, &out);
    return print_once(options, &out, e);
}

/* Profiles of the job's types that are there and can be read. */
static size_t read_profiles(struct workspace *w, struct profile *profile)
{
    size_t n = 0;
    for (int t = 0; t < w->job.n_types; t++) {
        struct error unread = {0};
        if (workspace_profile(w, t, &profile[n], &unread))
            n++;
        error_clear(&unread);
    }
    return n;
}

static bool print_run(struct workspace *w, const struct options *options,
                      const struct network *network, struct error *e)
{
    struct profile *profile = ARENA_ARRAY(&w->arena, (size_t)w->job.n_types, struct profile);
    size_t n_profiles = read_profiles(w, profile);
    struct forecast forecast;
    struct error missing = {0};
    struct text out = {0};
    bool known = workspace_forecast(w, &forecast, &missing);
    if (options->json && !known) {
        *e = missing;
        return false;
    }
    if (options->json)
        report_forecast_json(&forecast, &out);
    else
        report_run_text(&w->job, profile, n_profiles, network, known ? &forecast : NULL,
                        missing.text, &out);
    bool ok = workspace_print(options, &out, e);
    error_clear(&missing);
    text_free(&out);
    return ok;
}

static bool show_run(const char *path, const struct options *options, struct error *e)
{
    struct workspace w;
    struct network *network = NULL;
    bool ok = workspace_open_run(&w, path, options, e) && workspace_network(&w, &network, e) &&
              print_run(&w, options, network, e);
    workspace_close(&w);
    return ok;
}

static const struct {
    const char *content; /* words that such a file begins with, within its first bytes */
    const char *ending;
    bool (*show)(struct arena *, const char *, const struct options *, struct error *);
} kind[] = {
    {"\"foretrain.profile/", NULL, show_profile},
    {NULL, ".yaml", show_job},
    {NULL, ".yml", show_job},
    {"\"sum_received\"", NULL, show_network},
    {"busbw", NULL, show_nccl_tests},
    {"#iterations", NULL, show_nccl_tests},
    {NULL, ".csv", show_network},
    {NULL, ".tsv", show_network},
    {"GPU0", NULL, show_topology},
};
enum { N_KINDS = sizeof kind / sizeof *kind };

static bool show_file(struct arena *arena, const char *path, const struct options *options,
                      struct error *e)
{
    enum { LIMIT = 256 << 20 };
    char *text = NULL;
    if (!file_read(arena, path, LIMIT, &text, NULL, e))
        return false;
    for (size_t i = 0; i < N_KINDS; i++) {
        bool is = kind[i].content ? strstr(text, kind[i].content) != NULL
                                  : text_ends_with(path, kind[i].ending);
        if (is)
            return kind[i].show(arena, path, options, e);
    }
    error_set(e, ERROR_INPUT,
              "%s: neither a profile (foretrain.profile/1), a job (.yaml), a network (.csv) nor a "
              "run's folder",
              path);
    return false;
}

static bool run(const struct options *options, struct error *e)
{
    struct arena arena = {0};
    struct stat st;
    const char *path = options->args[0];
    if (strcmp(path, "-") == 0) {
        error_set(e, ERROR_USAGE, "show takes the name of a file or a run's folder, not '-'");
        return false;
    }
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    size_t n = (size_t)options->n_args;
    bool ok = n > 1    ? show_networks(&arena, (const char *const *)options->args, n, options, e)
              : folder ? show_run(path, options, e)
                       : show_file(&arena, path, options, e);
    arena_free(&arena);
    return ok;
}

const struct command command_show = {
    .name = "show",
    .args = "FILE...",
    .summary = "What a profile, a network, a job or a run's folder holds",
    .help =
        "FILE is a profile (foretrain.profile/1), a job (.yaml), a network (.csv, the "
        "JSON of iperf3), a table of all_reduce_perf or of nvidia-smi topo -m, or the folder of "
        "a run. Several FILEs of bandwidth are shown as one network.",
    .accepts = OPTION_JSON | OPTION_OUTPUT,
    .min_args = 1,
    .max_args = 10000,
    .run = run,
};
