/* `foretrain bandwidth`: the network only. */
#include "base/units.h"
#include "cli/command.h"
#include "cli/network_step.h"
#include "report/json_values.h"
#include "report/report.h"

static void print_round(const struct bandwidth_plan *plan, size_t round, struct text *out)
{
    text_format(out, "round %zu:", round + 1);
    for (size_t i = plan->rounds.first[round]; i < plan->rounds.first[round + 1]; i++) {
        struct host_pair pair = plan->pair[plan->rounds.pair[i]];
        text_format(out, "%s %s -> %s", i > plan->rounds.first[round] ? "," : "",
                    plan->network.name[pair.from], plan->network.name[pair.to]);
    }
    text_add(out, "\n");
}

static void print_plan(const struct bandwidth_plan *plan, struct text *out)
{
    char links[UNITS_TEXT_SIZE], rounds[UNITS_TEXT_SIZE], known[UNITS_TEXT_SIZE],
        time[UNITS_TEXT_SIZE];
    text_format(out, "%s links in %s rounds, about %s; %s links have a value already\n",
                units_format_count((double)plan->n_pairs, links),
                units_format_count((double)plan->rounds.n_rounds, rounds),
                units_format_duration(plan->estimate_s, time),
                units_format_count((double)plan->n_known, known));
    for (size_t round = 0; round < plan->rounds.n_rounds; round++)
        print_round(plan, round, out);
}

static json_t *round_json(const struct bandwidth_plan *plan, size_t round)
{
    json_t *links = json_array();
    for (size_t i = plan->rounds.first[round]; i < plan->rounds.first[round + 1]; i++) {
        struct host_pair pair = plan->pair[plan->rounds.pair[i]];
        json_t *link = json_object();
        json_put(link, "from", json_text_or_null(plan->network.name[pair.from]));
        json_put(link, "to", json_text_or_null(plan->network.name[pair.to]));
        json_array_append_new(links, link);
    }
    return links;
}

static void print_plan_json(const struct bandwidth_plan *plan, struct text *out)
{
    json_t *root = json_object(), *rounds = json_array();
    json_put(root, "format", json_string("foretrain.bandwidth_plan/1"));
    json_put_count(root, "n_links", (double)plan->n_pairs);
    json_put_count(root, "n_known", (double)plan->n_known);
    json_put_real(root, "estimate_s", plan->estimate_s);
    for (size_t round = 0; round < plan->rounds.n_rounds; round++)
        json_array_append_new(rounds, round_json(plan, round));
    json_put(root, "rounds", rounds);
    json_print(root, out);
}

static bool show_plan(const struct options *options, struct error *e)
{
    struct workspace w;
    struct bandwidth_plan plan;
    struct text out = {0};
    bool ok = workspace_open(&w, options, e) && network_plan(&w, options, &plan, e);
    if (ok) {
        if (options->json)
            print_plan_json(&plan, &out);
        else
            print_plan(&plan, &out);
        ok = workspace_print(options, &out, e);
    }
    text_free(&out);
    workspace_close(&w);
    return ok;
}

/* There is none where the job gives all links. */
static bool show_network(const struct network *network, const struct options *options,
                         struct error *e)
{
    static const struct network none = {0};
    struct text out = {0};
    bool ok = true;
    if (options->json)
        report_network_json(network ? network : &none, &out);
    else if (network && network->n)
        report_network_text(network, &out);
    if (out.length)
        ok = workspace_print(options, &out, e);
    text_free(&out);
    return ok;
}

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct network *network = NULL;
    if (options->plan)
        return show_plan(options, e);
    bool ok = workspace_open(&w, options, e) && workspace_claim(&w, e) &&
              network_step(&w, options, e) && workspace_network(&w, &network, e) &&
              show_network(network, options, e);
    workspace_close(&w);
    return ok;
}

const struct command command_bandwidth = {
    .name = "bandwidth",
    .args = "JOB",
    .summary = "Measure the bandwidth between devices with iperf3",
    .help = "Measures between the hosts of the ring's neighbours and of the sub-systems, in rounds "
            "in which no host takes part twice, and keeps the values in network.csv in the run's "
            "folder as they arrive; run again, it measures what is missing. What the job gives is "
            "not measured.\n\n"
            "--pairs all measures every host with every other; --pairs sample three links for each "
            "pair of device types, whose median the ring's other links take. --together finds "
            "links that share an uplink: the forecast uses what the ring leaves of them.",
    .accepts = OPTION_RUN | OPTION_JSON | OPTION_AGAIN | OPTION_QUIET | OPTION_OUTPUT |
               OPTION_PAIRS | OPTION_SECONDS | OPTION_TOGETHER | OPTION_PLAN,
    .min_args = 1,
    .max_args = 1,
    .looks_at_signals = true,
    .run = run,
};
