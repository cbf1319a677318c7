/*
 * The time of a step and an epoch from numbers in memory, by the C library alone:
 *
 *     cc step_time.c -lforetrain -o step_time && ./step_time
 *
 * Two devices of a fast type and two of a slow one, in a ring; the two links between the types are
 * slower than the others.
 */
#include <foretrain.h>
#include <stdio.h>

int main(void)
{
    const struct ft_device_type type[] = {
        {.load_s = 0.0317, .forward_s = 0.0262, .first_backward_s = 0.0003},
        {.load_s = 0.0608, .forward_s = 0.0531, .first_backward_s = 0.0006},
    };
    const int type_at[] = {0, 0, 1, 1};
    const double bandwidth_Bps[] = {10e9, 2.36e9, 10e9, 2.36e9};
    const struct ft_ring ring = {.n_devices = 4,
                                 .type = type_at,
                                 .bandwidth_Bps = bandwidth_Bps,
                                 .payload_bytes = 102228128};
    const struct ft_share share[] = {
        {.n_devices = 2, .batch = 64, .data = 9091},
        {.n_devices = 2, .batch = 64, .data = 9091},
    };
    struct ft_step_forecast step;
    struct ft_epoch_forecast epoch;
    char message[FT_MESSAGE_SIZE];
    if (!ft_closed_form(type, 2, &ring, NULL, &step, message) ||
        !ft_epoch(share, 2, 36363636, &epoch, message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    printf("step %.3f s, decided by position %zu's %s\n", step.step_s, step.deciding,
           step.load_decides ? "loading" : "computing and all-reduce");
    printf("epoch %.0f iterations, %.0f s\n", epoch.iterations, epoch.iterations * step.step_s);
    return 0;
}
