/* A loop over many items on all processors that this process may use. */
#ifndef FORETRAIN_BASE_PARALLEL_H
#define FORETRAIN_BASE_PARALLEL_H

#include <stddef.h>

/* Works on items `first` to `end` - 1; called from several threads at once. */
typedef void parallel_work(void *self, size_t first, size_t end);

/*
 * Gives all of `n` items to `work`, at most `most` of them at a time. Which thread takes which is
 * not fixed: a result must not depend on it.
 */
void parallel_run(parallel_work *work, void *self, size_t n, size_t most);

#endif
