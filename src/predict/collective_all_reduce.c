/* One all-reduce by any collective, checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/collective.h"
#include "predict/message.h"
#include "predict/refuse.h"

static bool check_start(const double *start_s, size_t n_devices, char *message)
{
    for (size_t i = 0; i < n_devices; i++) {
        if (!is_amount(start_s[i]))
            return refuse(message,
                          "start_s of position %zu must be finite and not negative (got %g)", i,
                          start_s[i]);
    }
    return true;
}

bool collective_check_links(const struct ft_collective *c, const struct ft_link *link,
                            char *message)
{
    for (size_t k = 0; k < c->n_messages; k++) {
        const struct ft_pair *p = &c->pair[k];
        if (!isfinite(link[k].bandwidth_Bps) || link[k].bandwidth_Bps <= 0)
            return refuse(message,
                          "bandwidth_Bps from position %zu to %zu must be finite and above 0 (got "
                          "%g)",
                          p->from, p->to, link[k].bandwidth_Bps);
        if (!is_amount(link[k].latency_s))
            return refuse(message,
                          "latency_s from position %zu to %zu must be finite and not negative (got "
                          "%g)",
                          p->from, p->to, link[k].latency_s);
        if (!message_check_curve(&link[k], message))
            return false;
    }
    return true;
}

/* Working memory first, so that nothing is written before all is known to be right. */
static bool all_reduce(const struct ft_collective *c, const struct ft_link *link,
                       const double *start_s, double payload_bytes, struct collective_work *work,
                       double *time_s, double *end_s, char *message)
{
    double last_s = 0;
    collective_cost(c, link, payload_bytes, NULL, work);
    for (size_t i = 0; i < c->n_devices; i++)
        last_s = fmax(last_s, start_s[i]);
    if (!isfinite(8 * (last_s + collective_longest_s(c, payload_bytes, work, time_s))))
        return refuse(message, "an all-reduce of %g bytes takes too long to count", payload_bytes);
    memcpy(time_s, start_s, c->n_devices * sizeof *time_s);
    if (!collective_run(c, payload_bytes, work, time_s))
        return refuse(message, "there is no memory for %zu devices", c->n_devices);
    memcpy(end_s, time_s, c->n_devices * sizeof *end_s);
    return true;
}

bool ft_collective_all_reduce(const struct ft_collective *c, const struct ft_link *link,
                              const double *start_s, double payload_bytes, double *end_s,
                              char *message)
{
    if (!c || !start_s || (!link && c->n_messages > 0))
        return refuse(message, "a collective needs its links and starts");
    if (!is_amount(payload_bytes))
        return refuse(message, "payload_bytes must be finite and not negative (got %g)",
                      payload_bytes);
    if (!collective_check_links(c, link, message) || !check_start(start_s, c->n_devices, message))
        return false;
    struct collective_work work;
    double *time_s = malloc(c->n_devices * sizeof *time_s);
    bool ok = collective_work_make(c, &work) && time_s
                  ? all_reduce(c, link, start_s, payload_bytes, &work, time_s, end_s, message)
                  : refuse(message, "there is no memory for %zu devices", c->n_devices);
    collective_work_free(&work);
    free(time_s);
    return ok;
}
