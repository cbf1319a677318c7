/* Fuzz target: any bytes as a table of nccl-tests; what is read is a curve that never falls. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "network/nccl_tests.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_curve(const struct link_curve *curve)
{
    double before_s = curve_message_s(curve->point, curve->n, 0);
    require(isfinite(before_s) && before_s >= 0);
    for (size_t i = 0; i < curve->n; i++) {
        struct ft_message point = curve->point[i];
        require(isfinite(point.bytes) && point.bytes > (i ? curve->point[i - 1].bytes : 0));
        require(isfinite(point.time_s) && point.time_s > 0 &&
                point.time_s >= before_s * (1 - 1e-9));
        before_s = point.time_s;
    }
}

static void check_table(const struct nccl_table *table, const struct link *link)
{
    struct text out = {0};
    require(table->n_ranks >= 2 && table->curve.n >= 1);
    require(isfinite(link->bandwidth_Bps) && link->bandwidth_Bps > 0);
    require(isfinite(link->latency_s) && link->latency_s >= 0);
    report_nccl_tests_text(table, &out);
    require(out.length > 0);
    text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct nccl_table table;
    struct error e = {0};
    const char *text = arena_copy_n(&arena, (const char *)data, size);
    if (nccl_tests_read(&arena, text, &table, &e)) {
        struct link link = nccl_tests_link(&arena, &table);
        check_curve(&table.curve);
        check_table(&table, &link);
    } else {
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    }
    error_clear(&e);
    arena_free(&arena);
    return 0;
}
