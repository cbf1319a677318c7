/* Which Python is taken: by name, by FORETRAIN_PYTHON, by PATH; those tried here are small scripts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "measure/python.h"

struct fixture {
    struct arena arena;
    struct error e;
    struct text said;
    struct progress progress;
    struct python_search search;
    struct python python;
    char folder[64];
};

static void hear(void *self, const char *text)
{
    text_format(self, "%s\n", text);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_python.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->progress = (struct progress){.self = &f->said, .say = hear};
    f->search = (struct python_search){.arena = &f->arena, .path = ""};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assert_true(file_remove_tree(f->folder, &f->e));
    error_clear(&f->e);
    text_free(&f->said);
    arena_free(&f->arena);
    free(f);
    return 0;
}

/* Makes FOLDER/NAME/python3, a script with this body; every run adds a line to NAME/runs. */
static const char *make_python(struct fixture *f, const char *name, const char *body)
{
    const char *folder = path_join(&f->arena, f->folder, name);
    const char *path = arena_format(&f->arena, "%s/python3", folder);
    const char *script =
        arena_format(&f->arena, "#!/bin/sh\necho run >> %s/runs\n%s\n", folder, body);
    assert_true(file_make_folders(folder, &f->e));
    assert_true(file_write(path, script, strlen(script), &f->e));
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static const char *const good = "echo noise; echo 'foretrain-python 3.9.1 2.6.0+cu124'; echo more";
static const char *const bad =
    "echo 'Traceback:'; echo \"ModuleNotFoundError: No module named 'torch'\" >&2; exit 1";

static size_t count_runs(struct fixture *f, const char *name)
{
    char *text = NULL;
    const char *path = arena_format(&f->arena, "%s/%s/runs", f->folder, name);
    if (!file_exists(path))
        return 0;
    assert_true(file_read(&f->arena, path, 10000, &text, NULL, &f->e));
    return strlen(text) / strlen("run\n");
}

static bool find(struct fixture *f, const char *named)
{
    return python_find(&f->search, named, NULL, &f->progress, &f->python, &f->e);
}

static void takes_the_one_that_is_named(void **state)
{
    struct fixture *f = *state;
    const char *path = make_python(f, "mine", good);
    assert_true(find(f, path));
    assert_string_equal(f->python.path, path);
    assert_string_equal(f->python.version, "3.9.1");
    assert_string_equal(f->python.torch, "2.6.0+cu124");
}

static void refuses_a_named_one_without_torch(void **state)
{
    struct fixture *f = *state;
    make_python(f, "other", good);
    f->search.path = path_join(&f->arena, f->folder, "other");
    const char *path = make_python(f, "mine", bad);
    assert_false(find(f, path));
    assert_int_equal(f->e.kind, ERROR_HOST);
    assert_non_null(strstr(f->e.text, path));
    assert_non_null(strstr(f->e.text, "No module named 'torch'"));
    assert_false(find(f, "/no/such/python"));
    assert_non_null(strstr(f->e.text, "/no/such/python"));
}

static void takes_the_environments_before_the_path(void **state)
{
    struct fixture *f = *state;
    make_python(f, "first", good);
    f->search.path = path_join(&f->arena, f->folder, "first");
    f->search.environment_python = make_python(f, "env", good);
    assert_true(find(f, NULL));
    assert_string_equal(f->python.path, f->search.environment_python);
    f->search.environment_python = make_python(f, "broken", bad);
    assert_false(find(f, NULL));
    assert_non_null(strstr(f->e.text, "FORETRAIN_PYTHON"));
}

static void passes_over_those_without_torch_with_a_word(void **state)
{
    struct fixture *f = *state;
    const char *without = make_python(f, "without", bad);
    const char *with = make_python(f, "with", good);
    f->search.path = arena_format(&f->arena, "/no/such:%s/without:%s/with", f->folder, f->folder);
    assert_true(find(f, NULL));
    assert_string_equal(f->python.path, with);
    assert_string_equal(f->said.data,
                        arena_format(&f->arena,
                                     "passed over %s: ModuleNotFoundError: No module named "
                                     "'torch'\n",
                                     without));
}

static void tries_each_one_only_once(void **state)
{
    struct fixture *f = *state;
    make_python(f, "without", bad);
    make_python(f, "with", good);
    f->search.path = arena_format(&f->arena, "%s/without:%s/with", f->folder, f->folder);
    assert_true(find(f, NULL));
    size_t said = f->said.length;
    assert_true(find(f, NULL));
    assert_int_equal(f->said.length, said);
    assert_int_equal(count_runs(f, "without"), 1);
    assert_int_equal(count_runs(f, "with"), 1);
}

static void tries_it_under_the_types_variables(void **state)
{
    struct fixture *f = *state;
    const char *path = make_python(f, "mine", "echo foretrain-python 3.9.1 $TORCH_HERE");
    const char *env[] = {"TORCH_HERE=2.1", NULL};
    assert_true(python_find(&f->search, path, env, &f->progress, &f->python, &f->e));
    assert_string_equal(f->python.torch, "2.1");
    const char *other[] = {"TORCH_HERE=2.2", NULL};
    assert_true(python_find(&f->search, path, other, &f->progress, &f->python, &f->e));
    assert_string_equal(f->python.torch, "2.2");
}

static void shows_what_it_says_safely(void **state)
{
    struct fixture *f = *state;
    assert_false(find(f, make_python(f, "mine", "printf '\\033[2Jgone'; exit 1")));
    assert_null(strchr(f->e.text, '\x1b'));
    assert_non_null(strstr(f->e.text, "\\x1b[2Jgone"));
}

static void finds_the_one_with_torch_on_this_machine(void **state)
{
    struct fixture *f = *state;
    f->search = python_search_start(&f->arena);
    f->search.environment_python = NULL;
    if (!find(f, NULL))
        fail_msg("%s", f->e.text);
    assert_true(f->python.torch[0] >= '1' && f->python.torch[0] <= '9');
    assert_memory_equal(f->python.version, "3.", 2);
}

int main(void)
{
#define PYTHON_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        PYTHON_TEST(takes_the_one_that_is_named),
        PYTHON_TEST(refuses_a_named_one_without_torch),
        PYTHON_TEST(takes_the_environments_before_the_path),
        PYTHON_TEST(passes_over_those_without_torch_with_a_word),
        PYTHON_TEST(tries_each_one_only_once),
        PYTHON_TEST(tries_it_under_the_types_variables),
        PYTHON_TEST(shows_what_it_says_safely),
        PYTHON_TEST(finds_the_one_with_torch_on_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
