/* Every item is worked on once, whatever the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel.h"

enum { MOST_ITEMS = 1000 };

struct visits {
    atomic_int item[MOST_ITEMS];
    atomic_size_t largest;
};

static void visit(void *self, size_t first, size_t end)
{
    struct visits *v = self;
    for (size_t i = first; i < end; i++)
        atomic_fetch_add(&v->item[i], 1);
    size_t size = end - first, before = atomic_load(&v->largest);
    while (size > before && !atomic_compare_exchange_weak(&v->largest, &before, size))
        ;
}

static void expect_each_once(size_t n, size_t most)
{
    struct visits v = {0};
    parallel_run(visit, &v, n, most);
    for (size_t i = 0; i < MOST_ITEMS; i++)
        assert_int_equal(atomic_load(&v.item[i]), i < n);
    assert_true(atomic_load(&v.largest) <= most);
}

static void visits_every_item_once(void **state)
{
    (void)state;
    expect_each_once(MOST_ITEMS, 1);
    expect_each_once(MOST_ITEMS, 7);
    expect_each_once(MOST_ITEMS, MOST_ITEMS + 1);
    expect_each_once(1, 64);
}

static void does_nothing_where_there_is_nothing(void **state)
{
    (void)state;
    expect_each_once(0, 5);
}

int main(void)
{
    static const struct CMUnitTest test[] = {
        cmocka_unit_test(visits_every_item_once),
        cmocka_unit_test(does_nothing_where_there_is_nothing),
    };
    return cmocka_run_group_tests_name("parallel", test, NULL, NULL);
}
