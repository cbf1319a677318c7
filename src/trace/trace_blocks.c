#include "trace/trace_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "trace/scan.h"

enum { STRIDE = BLOCK_HEADROOM + BLOCK_BYTES + SCAN_PADDING };

static size_t n_in_use(const struct trace_blocks *blocks)
{
    return blocks->n_filled - blocks->n_released;
}

/* The block to fill next, when it is free; NULL when stopped. Once all are full it sleeps until
 * half of them are free: to be woken for each costs more than to fill it. */
static struct trace_block *next_free(struct trace_blocks *blocks)
{
    pthread_mutex_lock(&blocks->mutex);
    if (n_in_use(blocks) == N_BLOCKS) {
        while (!blocks->stopped && n_in_use(blocks) > N_BLOCKS / 2)
            pthread_cond_wait(&blocks->changed, &blocks->mutex);
    }
    struct trace_block *block =
        blocks->stopped ? NULL : &blocks->block[blocks->n_filled % N_BLOCKS];
    pthread_mutex_unlock(&blocks->mutex);
    return block;
}

static void hand_over(struct trace_blocks *blocks, bool filled, const struct error *e)
{
    pthread_mutex_lock(&blocks->mutex);
    blocks->n_filled += filled;
    blocks->ended = !filled;
    blocks->error = *e;
    if (blocks->n_filled - blocks->n_taken <= 1)
        pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
}

/* In pieces of one length, which compilers turn into vector code. Behind the text lie zeros. */
static size_t count_line_breaks(const char *p, const char *end)
{
    enum { PIECE = SCAN_PADDING };
    size_t sum = 0;
    for (; p < end; p += PIECE) {
        unsigned char n = 0;
        for (int i = 0; i < PIECE; i++)
            n = (unsigned char)(n + (p[i] == '\n'));
        sum += n;
    }
    return sum;
}

static void *fill_blocks(void *data)
{
    struct trace_blocks *blocks = data;
    struct trace_stream *stream = blocks->stream;
    struct error e = {0};
    struct trace_block *block;
    bool filled = true;
    while (filled && (block = next_free(blocks))) {
        block->length = 0;
        bool ok = stream->fill(stream, block->data, BLOCK_BYTES, &block->length, &e);
        filled = ok && block->length > 0;
        memset(block->data + block->length, 0, SCAN_PADDING);
        block->n_lines = count_line_breaks(block->data, block->data + block->length);
        hand_over(blocks, filled, &e);
    }
    return NULL;
}

bool trace_blocks_start(struct trace_blocks *blocks, struct trace_stream *stream, struct error *e)
{
    *blocks = (struct trace_blocks){.stream = stream};
    blocks->memory = memory_resize(NULL, N_BLOCKS, STRIDE);
    for (size_t i = 0; i < N_BLOCKS; i++)
        blocks->block[i].data = blocks->memory + i * STRIDE + BLOCK_HEADROOM;
    pthread_mutex_init(&blocks->mutex, NULL);
    pthread_cond_init(&blocks->changed, NULL);
    int code = pthread_create(&blocks->thread, NULL, fill_blocks, blocks);
    if (code == 0)
        return true;
    error_set(e, ERROR_HOST, "cannot start a thread: %s", strerror(code));
    free(blocks->memory);
    return false;
}

bool trace_blocks_take(struct trace_blocks *blocks, struct trace_block **block, struct error *e)
{
    pthread_mutex_lock(&blocks->mutex);
    while (!blocks->ended && blocks->n_taken == blocks->n_filled)
        pthread_cond_wait(&blocks->changed, &blocks->mutex);
    bool there = blocks->n_taken < blocks->n_filled;
    *block = there ? &blocks->block[blocks->n_taken++ % N_BLOCKS] : NULL;
    pthread_mutex_unlock(&blocks->mutex);
    if (there || blocks->error.kind == ERROR_NONE)
        return true;
    error_clear(e);
    *e = blocks->error;
    blocks->error = (struct error){0};
    return false;
}

void trace_blocks_release(struct trace_blocks *blocks)
{
    pthread_mutex_lock(&blocks->mutex);
    blocks->n_released++;
    if (n_in_use(blocks) == N_BLOCKS / 2)
        pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
}

void trace_blocks_stop(struct trace_blocks *blocks)
{
    pthread_mutex_lock(&blocks->mutex);
    blocks->stopped = true;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->mutex);
    if (blocks->stream->stop)
        blocks->stream->stop(blocks->stream);
    pthread_join(blocks->thread, NULL);
    pthread_cond_destroy(&blocks->changed);
    pthread_mutex_destroy(&blocks->mutex);
    error_clear(&blocks->error);
    free(blocks->memory);
}
