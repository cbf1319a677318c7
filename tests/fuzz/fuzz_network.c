/* Fuzz target: any bytes as a network file; what is read is sound, and reads back after writing. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "network/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_links(const struct network *network)
{
    for (size_t i = 1; i < network->n; i++)
        require(strcmp(network->name[i - 1], network->name[i]) < 0);
    for (size_t i = 0; i < network->n * network->n; i++) {
        const struct link *link = &network->link[i];
        if (link->source == LINK_UNKNOWN)
            continue;
        require(isfinite(link->bandwidth_Bps) && link->bandwidth_Bps > 0);
        require(isfinite(link->latency_s) && link->latency_s >= 0);
    }
}

static bool knows_a_link(const struct network *network)
{
    for (size_t i = 0; i < network->n * network->n; i++) {
        if (network->link[i].source != LINK_UNKNOWN)
            return true;
    }
    return false;
}

static void write_and_read_again(struct arena *arena, const struct network *network)
{
    struct text first = {0}, second = {0};
    struct network again = {0};
    struct error e = {0};
    network_format(network, &first);
    require(network_parse(arena, first.data, "again.csv", &again, &e));
    network_format(&again, &second);
    require(strcmp(first.data, second.data) == 0);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct network network = {0};
    struct error e = {0};
    const char *text = arena_copy_n(&arena, (const char *)data, size);
    if (network_parse(&arena, text, "net.csv", &network, &e)) {
        check_links(&network);
        if (knows_a_link(&network))
            write_and_read_again(&arena, &network);
    } else {
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    }
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
