/* Fuzz target: any bytes as nvidia-smi's table; what is read joins each pair the same both ways. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/job.h"
#include "network/topology.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_pairs(const struct topology *t)
{
    require(t->n >= 1 && t->n <= TOPOLOGY_MOST_DEVICES);
    for (size_t i = 0; i < t->n; i++) {
        require(!t->class[i * t->n + i]);
        for (size_t j = 0; j < i; j++) {
            require(job_is_path_class(t->class[i * t->n + j]));
            require(strcmp(t->class[i * t->n + j], t -> class[j * t->n + i]) == 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct topology topology;
    struct error e = {0};
    const char *text = arena_copy_n(&arena, (const char *)data, size);
    topology_is_table(text);
    if (topology_parse(&arena, text, "topo.txt", &topology, &e)) {
        struct text out = {0};
        check_pairs(&topology);
        report_topology_text(&topology, &out);
        text_free(&out);
    } else {
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    }
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
