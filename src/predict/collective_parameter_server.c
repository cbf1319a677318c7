/*
 * Each device is the server of its share: all push their gradients' shares to their servers, which
 * hand them out when they have them from all.
 */
#include "predict/collective.h"

#include "predict/refuse.h"

enum { MOST_DEVICES = 1024 };

bool collective_parameter_server(struct ft_collective *c, char *message)
{
    size_t n = c->n_devices;
    if (n > MOST_DEVICES)
        return refuse(message,
                      "parameter-server joins each device with each, so it has at most %d "
                      "(got %zu)",
                      MOST_DEVICES, n);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 1; k < n; k++)
            collective_add(c, i, (i + k) % n, 1 / (double)n);
    }
    collective_end_phase(c, PHASE_EXCHANGE, 1);
    collective_repeat(c, 0, 1);
    collective_describe(c, (struct ft_collective_stage){"push and pull", 1, n, n, 1});
    return true;
}
