/* Fuzz target: any bytes as a part of a sweep, and as the values of a quantity; what is read is
 * sound. A part begins with a brace. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plan/sweep.h"
#include "plan/sweep_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

enum { N_SYSTEMS = 3 };

static void read_part(const char *text)
{
    struct outcome outcome[N_SYSTEMS] = {0};
    struct sweep sweep = {.n_axes = 1, .axis = {{.n = N_SYSTEMS}}, .outcome = outcome};
    struct error e = {0};
    if (sweep_part_parse(text, "part.json", "00", (struct sweep_part){1, 1}, &sweep, &e)) {
        for (size_t i = 0; i < N_SYSTEMS; i++) {
            require(isfinite(outcome[i].step_s) && outcome[i].step_s >= 0);
            require(outcome[i].any == (outcome[i].n_devices > 0));
        }
    } else {
        require(e.kind == ERROR_INPUT && e.text && e.text[0]);
    }
    error_clear(&e);
}

static void read_axis(const char *text)
{
    static const char job_text[] = "devices: {a: {count: 4, batch: 1}}\n";
    struct arena arena = {0};
    struct job job;
    struct sweep sweep = {0};
    struct error e = {0};
    require(job_parse(&arena, job_text, strlen(job_text), "job.yaml", ".", &job, &e));
    if (sweep_add_axis(&arena, &job, text, &sweep, &e)) {
        require(sweep.axis[0].n >= 1);
        for (size_t i = 0; i < sweep.axis[0].n; i++)
            require(isfinite(sweep.axis[0].value[i]) && sweep.axis[0].value[i] >= 0);
    } else {
        require(e.kind == ERROR_USAGE && e.text && e.text[0]);
    }
    error_clear(&e);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    if (size == 0)
        return 0;
    const char *text = arena_copy_n(&arena, (const char *)data, size);
    if (data[0] == '{')
        read_part(text);
    else
        read_axis(text);
    arena_free(&arena);
    return 0;
}
