#include "trace/trace_collect.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_arguments.h"
#include "trace/trace_room.h"

#define ROOM(list, n, capacity) ((list) = trace_room((list), (n), &(capacity), sizeof *(list)))

int64_t trace_end_ns(const struct trace_event *event)
{
    return event->start_ns + event->duration_ns;
}

/* 73 minutes. */
#define LONGEST_NS ((INT64_C(1) << 42) - 1)

/* Times from which others can be subtracted, below 146 years, and lengths that can be added up. */
static bool is_timed(const struct trace_event *event)
{
    const int64_t latest_ns = INT64_C(1) << 62;
    return event->has_start && event->start_ns >= 0 && event->start_ns < latest_ns &&
           event->duration_ns >= 0 && event->duration_ns <= LONGEST_NS;
}

static uint32_t add_word(struct trace_collected *c, struct trace_text text)
{
    return trace_words_add(&c->words, text.data, text.length);
}

/* The number behind the '#' of "ProfilerStep#4"; INT64_MAX of one beyond. */
static int64_t step_number(struct trace_text name)
{
    const char *at = memchr(name.data, '#', name.length);
    int64_t number = 0;
    for (size_t i = at ? (size_t)(at - name.data) + 1 : name.length; i < name.length; i++) {
        if (name.data[i] < '0' || name.data[i] > '9')
            break;
        if (number > INT64_MAX / 10 - 1)
            return INT64_MAX;
        number = 10 * number + (name.data[i] - '0');
    }
    return number;
}

static void add_mark(struct trace_collected *c, const struct trace_event *event,
                     enum trace_kind kind)
{
    ROOM(c->mark, c->n_marks, c->mark_capacity);
    c->mark[c->n_marks++] =
        (struct trace_mark){.start_ns = event->start_ns,
                            .end_ns = trace_end_ns(event),
                            .track = event->track,
                            .kind = kind,
                            .number = kind == KIND_STEP ? step_number(event->name) : 0};
    static const char alone[] = "_SingleProcessDataLoaderIter";
    if (kind == KIND_LOADER)
        c->loader_workers =
            memmem(event->name.data, event->name.length, alone, strlen(alone)) ? 0 : 1;
}

static void add_operator(struct trace_collected *c, const struct trace_event *event)
{
    trace_outer_add(&c->outer, (struct trace_span){.start_ns = event->start_ns,
                                                   .end_ns = trace_end_ns(event),
                                                   .track = event->track,
                                                   .name = add_word(c, event->name)});
}

static void add_comm(struct trace_collected *c, const struct trace_event *event)
{
    struct trace_comm comm = trace_comm_of(c, event);
    if (!comm.op)
        return;
    ROOM(c->comm, c->n_comms, c->comm_capacity);
    c->comm[c->n_comms++] = comm;
}

/* Ascend's flows from the CPU are numbered by when the work starts on the device. */
static int64_t launch_key(const struct trace_event *event)
{
    int64_t number = 0;
    const struct trace_value *value =
        event->phase == 's' ? &event->id : trace_event_arg(event, TRACE_CORRELATION);
    if (!value || !value->json || !trace_value_int(value, &number))
        return TRACE_NO_KEY;
    return number & TRACE_NO_KEY;
}

static int64_t work_key(const struct trace_event *event)
{
    return trace_event_arg(event, TRACE_TASK_TYPE) ? event->start_ns & TRACE_NO_KEY
                                                   : launch_key(event);
}

static void add_launch(struct trace_collected *c, const struct trace_event *event)
{
    int64_t key = launch_key(event);
    if (key != TRACE_NO_KEY)
        trace_packed_add(&c->launches,
                         &(struct packed_record){{key, event->start_ns, event->track}});
}

static void add_comm_work(struct trace_collected *c, const struct trace_event *event)
{
    ROOM(c->comm_work, c->n_comm_works, c->comm_work_capacity);
    struct trace_comm *comm = &c->comm_work[c->n_comm_works++];
    *comm = trace_comm_of(c, event);
    comm->key = work_key(event);
}

/* Work at 0 was never timed. */
static void add_work(struct trace_collected *c, const struct trace_event *event)
{
    int64_t device = 0;
    if (event->start_ns == 0 && event->duration_ns == 0)
        return;
    if (trace_name_is_collective_work(event->name)) {
        add_comm_work(c, event);
        return;
    }
    trace_value_int(trace_event_arg(event, TRACE_DEVICE), &device);
    trace_packed_add(&c->works,
                     &(struct packed_record){{work_key(event), event->start_ns, event->duration_ns,
                                              add_word(c, event->name), (uint32_t)device}});
}

/* Names of processes tell TensorFlow's traces. */
static void look_at_process(struct trace_collected *c, const struct trace_event *event)
{
    struct arena scratch = {0};
    const struct trace_value *name = trace_event_arg(event, TRACE_NAME);
    const char *text =
        name && trace_text_is(event->name, "process_name") ? trace_value_text(&scratch, name) : "";
    c->tensorflow = c->tensorflow || strncmp(text, "/host:CPU", strlen("/host:CPU")) == 0;
    arena_free(&scratch);
}

static bool take(void *data, const struct trace_event *event, struct error *e)
{
    struct trace_collected *c = data;
    enum trace_kind kind = trace_kind_of(event);
    (void)e;
    if (event->phase == 'M')
        look_at_process(c, event);
    if (!is_timed(event))
        return true;
    if (kind >= KIND_STEP && kind <= KIND_FORWARD)
        add_mark(c, event, kind);
    else if (kind == KIND_COLLECTIVE)
        add_comm(c, event);
    else if (kind == KIND_LAUNCH)
        add_launch(c, event);
    else if (kind == KIND_WORK)
        add_work(c, event);
    if (kind == KIND_OPERATOR || kind == KIND_COLLECTIVE)
        add_operator(c, event);
    return true;
}

#define COMPARE(a, b)                                                                              \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

static int by_mark(const void *a, const void *b)
{
    const struct trace_mark *x = a, *y = b;
    COMPARE(x->start_ns, y->start_ns);
    COMPARE(y->end_ns, x->end_ns);
    COMPARE(x->kind, y->kind);
    COMPARE(x->track, y->track);
    return 0;
}

static int by_comm(const void *a, const void *b)
{
    const struct trace_comm *x = a, *y = b;
    COMPARE(x->start_ns, y->start_ns);
    COMPARE(y->end_ns, x->end_ns);
    COMPARE(x->track, y->track);
    COMPARE(x->key, y->key);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct trace_comm *x = *(struct trace_comm *const *)a,
                            *y = *(struct trace_comm *const *)b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Sorts, and keeps one of those that are the same in all that is compared; returns how many. */
static size_t sort_unique(void *item, size_t n, size_t size,
                          int compare(const void *, const void *))
{
    char *at = item;
    size_t kept = 0;
    if (n > 0)
        qsort(item, n, size, compare);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare(at + (kept - 1) * size, at + i * size) == 0)
            continue;
        memmove(at + kept * size, at + i * size, size);
        kept++;
    }
    return kept;
}

static struct trace_launch launch_of(const struct packed_record *record)
{
    const int64_t *column = record->column;
    return (struct trace_launch){
        .key = column[0], .start_ns = column[1], .track = (uint32_t)column[2]};
}

bool trace_launch_next(struct packed_reader *reader, struct trace_launch *launch)
{
    const struct packed_record *record = trace_packed_next_other(reader);
    if (record)
        *launch = launch_of(record);
    return record != NULL;
}

bool trace_launch_seek(struct packed_reader *reader, int64_t key, struct trace_launch *launch)
{
    const struct packed_record *record = trace_packed_seek(reader, key);
    if (record)
        *launch = launch_of(record);
    return record != NULL;
}

bool trace_work_next(struct packed_reader *reader, struct trace_work *work)
{
    const struct packed_record *record = trace_packed_next_other(reader);
    if (!record)
        return false;
    const int64_t *column = record->column;
    *work = (struct trace_work){.key = column[0],
                                .start_ns = column[1],
                                .duration_ns = column[2],
                                .name = (uint32_t)column[3],
                                .device = (uint32_t)column[4]};
    return true;
}

/* Collectives' work stays in the order of time, so it is told its launches. */
static void find_launches(struct trace_collected *c)
{
    struct trace_comm **work = memory_resize(NULL, c->n_comm_works + 1, sizeof *work);
    struct packed_reader launches = trace_packed_read(&c->launches);
    for (size_t i = 0; i < c->n_comm_works; i++)
        work[i] = &c->comm_work[i];
    qsort(work, c->n_comm_works, sizeof *work, by_key);
    for (size_t i = 0; i < c->n_comm_works; i++)
        work[i]->launched = trace_launch_seek(&launches, work[i]->key, &work[i]->launch);
    trace_packed_read_end(&launches);
    free(work);
}

static size_t count_works(const struct trace_collected *c)
{
    size_t n = 0;
    struct trace_work work;
    struct packed_reader works = trace_packed_read(&c->works);
    while (trace_work_next(&works, &work))
        n++;
    trace_packed_read_end(&works);
    return n;
}

static void sort_all(struct trace_collected *c)
{
    c->n_marks = sort_unique(c->mark, c->n_marks, sizeof *c->mark, by_mark);
    c->n_comms = sort_unique(c->comm, c->n_comms, sizeof *c->comm, by_comm);
    c->n_comm_works = sort_unique(c->comm_work, c->n_comm_works, sizeof *c->comm_work, by_comm);
    trace_packed_finish(&c->launches);
    trace_packed_finish(&c->works);
    c->n_works = count_works(c);
    find_launches(c);
    trace_outer_finish(&c->outer);
}

static void report(void *data, uint64_t done_bytes, uint64_t total_bytes)
{
    const struct trace_collected *c = data;
    c->options->progress(c->options->progress_data, c->file, done_bytes, total_bytes);
}

bool trace_collect(struct arena *arena, const char *path, const struct trace_options *options,
                   struct trace_collected *collected, struct error *e)
{
    struct trace_collected *c = collected;
    struct trace_reader reader = {.data = c,
                                  .event = take,
                                  .progress = options->progress ? report : NULL,
                                  .partial = options->partial};
    *c = (struct trace_collected){.arena = arena,
                                  .file = path,
                                  .options = options,
                                  .words = {.arena = arena},
                                  .launches.n_columns = 3,
                                  .works.n_columns = 5,
                                  .loader_workers = -1};
    c->no_word = trace_words_add(&c->words, "", 0);
    bool ok = trace_read(arena, path, &reader, &c->ending, e);
    if (ok)
        sort_all(c);
    else
        trace_collected_free(c);
    return ok;
}

void trace_collected_forget_works(struct trace_collected *c)
{
    trace_packed_free(&c->launches);
    trace_packed_free(&c->works);
}

void trace_collected_free(struct trace_collected *c)
{
    trace_words_free(&c->words);
    free(c->mark);
    free(c->comm);
    free(c->comm_work);
    trace_collected_forget_works(c);
    trace_outer_free(&c->outer);
}
