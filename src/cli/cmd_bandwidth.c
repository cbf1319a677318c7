/* `foretrain bandwidth`: the network only. */
#include "cli/command.h"
#include "cli/network_step.h"
#include "report/report.h"

static bool run(const struct options *options, struct error *e)
{
    struct workspace w;
    struct network *network = NULL;
    bool ok = workspace_open(&w, options, e) && workspace_claim(&w, e) &&
              network_step(&w, options->again, e) && workspace_network(&w, &network, e);
    if (ok && network) {
        struct text out = {0};
        report_network_text(network, &out);
        ok = workspace_print(options, &out, e);
        text_free(&out);
    }
    workspace_close(&w);
    return ok;
}

const struct command command_bandwidth = {
    .name = "bandwidth",
    .args = "JOB",
    .summary = "Measure the bandwidth between devices with iperf3",
    .help = "Measures between the hosts of the ring's neighbours and of the sub-systems, and keeps "
            "the values in "
            "network.csv in the run's folder. What the job gives is not measured.",
    .accepts = OPTION_RUN | OPTION_AGAIN | OPTION_QUIET | OPTION_OUTPUT,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
