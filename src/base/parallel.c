/* Threads take the next few items until there are none; where none can be started, the caller does
 * all of it. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST_THREADS = 256 };

struct loop {
    parallel_work *work;
    void *self;
    size_t n, most;
    atomic_size_t next;
};

static void *take_items(void *argument)
{
    struct loop *loop = argument;
    for (;;) {
        size_t first = atomic_fetch_add(&loop->next, loop->most);
        if (first >= loop->n)
            return NULL;
        size_t left = loop->n - first;
        loop->work(loop->self, first, first + (left < loop->most ? left : loop->most));
    }
}

static size_t n_processors(void)
{
    cpu_set_t ours;
    int n = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 1;
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (size_t)n;
}

void parallel_run(parallel_work *work, void *self, size_t n, size_t most)
{
    struct loop loop = {.work = work, .self = self, .n = n, .most = most};
    pthread_t thread[MOST_THREADS];
    size_t n_parts = (n + most - 1) / most, n_threads = n_processors(), n_started = 0;
    if (n_threads > n_parts)
        n_threads = n_parts;
    while (n_started + 1 < n_threads &&
           pthread_create(&thread[n_started], NULL, take_items, &loop) == 0)
        n_started++;
    take_items(&loop);
    for (size_t i = 0; i < n_started; i++)
        pthread_join(thread[i], NULL);
}
