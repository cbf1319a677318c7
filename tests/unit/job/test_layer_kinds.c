/* Models typed as layers: as JSON for the worker, and its table beside ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/job.h"
#include "job/layer_kinds.h"

static void layers_become_json(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {a: {count: 4, batch: 8}}\n"
        "model:\n"
        "  input: [3, 32, 32]\n"
        "  layers:\n"
        "  - {kind: conv2d, out: 8, kernel: [3, 5], padding: 0, bias: false, activation: relu}\n"
        "  - {kind: gelu}\n"
        "  - {kind: dropout, p: 0.5}\n"
        "  loss: cross_entropy\n"
        "  optimizer: {kind: sgd, lr: 1, nesterov: true}\n";
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    if (!job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e))
        fail_msg("%s", e.text);
    assert_int_equal(job.model.kind, MODEL_LAYERS);
    assert_string_equal(
        job.model.json,
        "{\"input\":[3,32,32],\"layers\":[{\"kind\":\"conv2d\",\"out\":8,\"kernel\":[3,5],"
        "\"padding\":0,\"bias\":false,\"activation\":\"relu\"},{\"kind\":\"gelu\"},"
        "{\"kind\":\"dropout\",\"p\":0.5}],\"loss\":\"cross_entropy\","
        "\"optimizer\":{\"kind\":\"sgd\",\"lr\":1,\"nesterov\":true}}");
    arena_free(&arena);
}

static void an_optimizer_may_be_one_word(void **state)
{
    (void)state;
    static const char yaml[] = "devices: {a: {count: 4, batch: 8}}\n"
                               "model: {input: [3], layers: [{kind: relu}], loss: mse, "
                               "optimizer: adamw}\n";
    struct arena arena = {0};
    struct error e = {0};
    struct job job = {0};
    if (!job_parse(&arena, yaml, strlen(yaml), "lab.yaml", ".", &job, &e))
        fail_msg("%s", e.text);
    assert_non_null(strstr(job.model.json, "\"optimizer\":{\"kind\":\"adamw\"}"));
    arena_free(&arena);
}

/* The tests run in the folder tests/. */
static void the_worker_has_the_same_table(void **state)
{
    (void)state;
    if (access("/usr/bin/python3", X_OK) != 0)
        skip();
    FILE *worker = popen("exec /usr/bin/python3 -B -c 'import json, sys\n"
                         "sys.path.insert(0, \"../worker\")\n"
                         "from foretrain_worker import layers\n"
                         "print(json.dumps(layers.tables()))'",
                         "r");
    assert_non_null(worker);
    json_t *theirs = json_loadf(worker, 0, NULL);
    assert_int_equal(pclose(worker), 0);
    json_t *ours = layer_kinds_list();
    assert_non_null(theirs);
    static const char *const part[] = {"layers", "activations", "losses", "optimizers"};
    for (size_t i = 0; i < 4; i++) {
        char *a = json_dumps(json_object_get(ours, part[i]), JSON_INDENT(1) | JSON_SORT_KEYS);
        char *b = json_dumps(json_object_get(theirs, part[i]), JSON_INDENT(1) | JSON_SORT_KEYS);
        assert_non_null(a);
        assert_non_null(b);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    json_decref(ours);
    json_decref(theirs);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(layers_become_json),
        cmocka_unit_test(an_optimizer_may_be_one_word),
        cmocka_unit_test(the_worker_has_the_same_table),
    };
    return cmocka_run_group_tests_name("layer kinds", test, NULL, NULL);
}
