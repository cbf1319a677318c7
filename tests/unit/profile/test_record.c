/* Records written by hand, and the profiles that they make, computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "profile/profile.h"
#include "profile/record.h"

struct fixture {
    struct arena arena;
    struct error error;
    struct profile profile;
    struct record record[4];
    size_t n;
};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->arena);
    error_clear(&f->error);
    free(f);
    return 0;
}

static char *header(struct fixture *f, int rank, int world_size, int first, int last)
{
    return arena_format(
        &f->arena,
        "{\"kind\":\"header\",\"format\":\"foretrain.record/1\",\"device_type\":\"fast\","
        "\"rank\":%d,\"world_size\":%d,\"host\":\"n%d\",\"pid\":7,\"device\":{\"kind\":\"cpu\","
        "\"name\":\"EPYC\",\"index\":null},\"backend\":\"gloo\",\"framework\":\"torch 1.13.1\","
        "\"date\":\"2026-11-29T12:00:00Z\",\"first\":%d,\"last\":%d,\"batch\":16}\n",
        rank, world_size, rank + 1, first, last);
}

/* An iteration with the given step and forward, and what else it has as JSON members. */
static char *iteration(struct fixture *f, int i, double step_s, double forward_s, const char *more)
{
    return arena_format(&f->arena,
                        "{\"kind\":\"iteration\",\"i\":%d,\"t\":%d,\"step_s\":%g,\"forward_s\":%g,"
                        "\"first_backward_s\":0.01,\"backward_s\":0.2%s}\n",
                        i, i, step_s, forward_s, more);
}

#define END "{\"kind\":\"end\",\"iterations\":9,\"reason\":\"window complete\"}\n"

static char *join(struct fixture *f, const char *const *part, size_t n)
{
    struct text text = {0};
    for (size_t i = 0; i < n; i++)
        text_add(&text, part[i]);
    char *joined = arena_copy(&f->arena, text.data);
    text_free(&text);
    return joined;
}

#define JOIN(f, ...)                                                                               \
    join(f, (const char *const[]){__VA_ARGS__},                                                    \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool parse(struct fixture *f, const char *text)
{
    const char *file = arena_format(&f->arena, "rank%zu.jsonl", f->n);
    bool ok = record_parse(&f->arena, text, strlen(text), file, &f->record[f->n], &f->error);
    f->n += ok;
    return ok;
}

static void add_record(struct fixture *f, const char *text)
{
    if (!parse(f, text))
        fail_msg("%s", f->error.text);
}

static void merge(struct fixture *f)
{
    if (!record_merge(&f->arena, f->record, f->n, &f->profile, &f->error))
        fail_msg("%s", f->error.text);
}

static void assert_text(struct fixture *f, const char *expected)
{
    char *line = arena_copy_n(&f->arena, f->error.text, strcspn(f->error.text, "\n"));
    assert_string_equal(line, expected);
}

static void assert_no_merge(struct fixture *f, const char *expected)
{
    assert_false(record_merge(&f->arena, f->record, f->n, &f->profile, &f->error));
    assert_text(f, expected);
}

static void assert_no_parse(struct fixture *f, const char *text, const char *expected)
{
    assert_false(parse(f, text));
    assert_text(f, expected);
}

static bool has_note(const struct profile *p, const char *piece)
{
    for (size_t i = 0; i < p->n_notes; i++) {
        if (strstr(p->note_line[i], piece))
            return true;
    }
    return false;
}

/* Two ranks, window 2 to 3; iteration 1 is before it. */
static void add_two_ranks(struct fixture *f, const char *more_0, const char *more_1)
{
    add_record(f, JOIN(f, header(f, 0, 2, 2, 3), iteration(f, 1, 9, 9, ""),
                       iteration(f, 2, 1, 0.1, more_0), iteration(f, 3, 3, 0.3, more_0), END));
    add_record(f, JOIN(f, header(f, 1, 2, 2, 3), iteration(f, 1, 9, 9, ""),
                       iteration(f, 2, 2, 0.2, more_1), iteration(f, 3, 2, 0.4, more_1), END));
}

#define BYTES ",\"bytes_sent\":1000"

static void keeps_samples_device_by_device(void **state)
{
    struct fixture *f = *state;
    add_two_ranks(f, BYTES, BYTES);
    merge(f);
    const struct profile *p = &f->profile;
    const struct samples *step = &p->stage[STAGE_STEP];
    assert_int_equal(step->stats.n, 4);
    const double expected[] = {1, 3, 2, 2};
    assert_memory_equal(step->value, expected, sizeof expected);
    assert_true(step->stats.mean == 2);
    assert_float_equal(p->stage[STAGE_FORWARD].stats.mean, 0.25, 1e-15);
    assert_false(p->stage[STAGE_COPY].known);
    assert_false(p->stage[STAGE_LOADER_INTERVAL].known);
    assert_int_equal(p->n_devices, 2);
    assert_int_equal(p->ring_devices, 2);
    assert_string_equal(p->host[1], "n2");
    assert_false(p->shares_host);
    assert_string_equal(p->device_name, "EPYC");
    assert_true(p->batch == 16 && p->micro_batches == 1 && p->first == 2 && p->last == 3);
    assert_true(p->loader_workers == -1 && p->bytes_read == -1 && p->profiler_ratio == 0);
    assert_int_equal(p->n_notes, 0);
}

static void sorts_ranks_whatever_the_order_of_files(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 2, 1, BYTES), END));
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), END));
    merge(f);
    assert_true(f->profile.stage[STAGE_STEP].value[0] == 1);
    assert_string_equal(f->profile.host[0], "n1");
}

static void leaves_out_edges_of_any_rank_in_all_ranks(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 4), iteration(f, 1, 1, 1, BYTES),
                       iteration(f, 2, 7, 1, BYTES ",\"edge\":true"), iteration(f, 3, 3, 1, BYTES),
                       iteration(f, 4, 5, 1, BYTES), END));
    add_record(f, JOIN(f, header(f, 1, 2, 1, 4), iteration(f, 1, 2, 1, BYTES ",\"edge\":false"),
                       iteration(f, 2, 2, 1, BYTES), iteration(f, 3, 4, 1, BYTES),
                       iteration(f, 4, 9, 1, BYTES ",\"edge\":true"), END));
    merge(f);
    assert_int_equal(f->profile.n_left_out, 2);
    const double expected[] = {1, 3, 2, 4};
    assert_int_equal(f->profile.stage[STAGE_STEP].stats.n, 4);
    assert_memory_equal(f->profile.stage[STAGE_STEP].value, expected, sizeof expected);
}

static void does_not_count_what_was_before_all_recorded(void **state)
{
    struct fixture *f = *state;
    add_record(f,
               JOIN(f, header(f, 0, 1, 2, 3), iteration(f, 2, 9, 9, ",\"counted\":false"),
                    iteration(f, 2, 1, 1, ""), iteration(f, 3, 1, 1, ",\"counted\":false"), END));
    merge(f);
    assert_int_equal(f->profile.n_left_out, 1);
    assert_true(f->profile.stage[STAGE_STEP].stats.mean == 1);
}

static void refuses_a_window_of_edges_only(void **state)
{
    struct fixture *f = *state;
    add_two_ranks(f, BYTES ",\"edge\":true", BYTES);
    assert_no_merge(f, "rank0.jsonl: none of the iterations 2 to 3 counts: each is at the edge of "
                       "a pass over the data");
}

static void divides_fetches_by_the_number_of_workers(void **state)
{
    struct fixture *f = *state;
    static const char loader_4[] =
        "{\"kind\":\"loader\",\"workers\":4,\"fetch_s\":[0.4,0.8],\"batch_size\":16}\n";
    static const char loader_0[] = "{\"kind\":\"loader\",\"workers\":0,\"fetch_s\":[0.3]}\n";
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), loader_4, END));
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), loader_0, END));
    merge(f);
    const struct samples *interval = &f->profile.stage[STAGE_LOADER_INTERVAL];
    const double expected[] = {0.1, 0.2, 0.3};
    assert_int_equal(interval->stats.n, 3);
    assert_memory_equal(interval->value, expected, sizeof expected);
    assert_int_equal(f->profile.loader_workers, 0);
    assert_true(has_note(&f->profile, "different numbers of workers"));
}

static void says_when_the_loader_fetched_nothing(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, ""),
                       "{\"kind\":\"loader\",\"workers\":2,\"fetch_s\":[]}\n", END));
    merge(f);
    assert_int_equal(f->profile.loader_workers, 2);
    assert_false(f->profile.stage[STAGE_LOADER_INTERVAL].known);
    assert_true(has_note(&f->profile, "fetched no batch"));
}

#define BUCKETS                                                                                    \
    ",\"buckets\":[{\"index\":0,\"module\":0,\"bytes\":800,\"wire_bytes\":400,\"ready_s\":0.1,"    \
    "\"done_s\":0.3},{\"index\":1,\"module\":0,\"bytes\":200,\"wire_bytes\":100,\"ready_s\":0.2,"  \
    "\"done_s\":null}]"
#define BASIS(basis) "{\"kind\":\"network\",\"basis\":\"" basis "\",\"n_iterations\":2}\n"

static void means_bytes_over_devices_and_iterations(void **state)
{
    struct fixture *f = *state;
    add_record(f,
               JOIN(f, header(f, 0, 2, 1, 2), iteration(f, 1, 1, 1, ",\"bytes_sent\":500" BUCKETS),
                    iteration(f, 2, 1, 1, ",\"bytes_sent\":501" BUCKETS), BASIS("tcp_info"), END));
    add_record(f,
               JOIN(f, header(f, 1, 2, 1, 2), iteration(f, 1, 1, 1, ",\"bytes_sent\":502" BUCKETS),
                    iteration(f, 2, 1, 1, ",\"bytes_sent\":507" BUCKETS), BASIS("tcp_info"), END));
    merge(f);
    const struct profile *p = &f->profile;
    assert_true(p->bytes_sent == 502.5 && p->bytes_measured);
    assert_true(p->gradient_bytes == 1000);
    assert_int_equal(p->n_buckets, 2);
    assert_true(p->bucket[0].bytes == 800 && p->bucket[0].wire_bytes == 400);
    assert_int_equal(p->bucket[0].done.stats.n, 4);
    assert_false(p->bucket[1].done.known);
    assert_float_equal(p->bucket[1].ready.stats.mean, 0.2, 1e-15);
    assert_int_equal(p->n_notes, 0);
}

static void computes_bytes_from_buckets_where_none_were_counted(void **state)
{
    struct fixture *f = *state;
    for (int r = 0; r < 4; r++)
        add_record(f, JOIN(f, header(f, r, 4, 1, 1),
                           iteration(f, 1, 1, 1, ",\"bytes_sent\":null" BUCKETS), BASIS("computed"),
                           END));
    merge(f);
    assert_true(f->profile.bytes_sent == 2 * 3 * 500 / 4.0);
    assert_false(f->profile.bytes_measured);
}

static void notes_bytes_that_no_ring_sends(void **state)
{
    struct fixture *f = *state;
    add_record(f,
               JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ",\"bytes_sent\":1000" BUCKETS),
                    BASIS("tcp_info"), END));
    add_record(f,
               JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, ",\"bytes_sent\":1000" BUCKETS),
                    BASIS("tcp_info"), END));
    merge(f);
    assert_true(has_note(&f->profile, "each device sent 1000 bytes a step, +100 % off"));
}

static void refuses_records_that_say_nothing_of_bytes(void **state)
{
    struct fixture *f = *state;
    add_two_ranks(f, "", "");
    assert_no_merge(f, "rank0.jsonl: neither bytes_sent nor buckets: how much is all-reduced is "
                       "not known");
}

static void needs_no_bytes_for_a_single_device(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, BYTES BUCKETS), END));
    merge(f);
    assert_true(f->profile.bytes_sent == 0 && f->profile.gradient_bytes == 1000);
}

static void keeps_the_most_frequent_buckets_and_says_so(void **state)
{
    struct fixture *f = *state;
    static const char other[] = ",\"buckets\":[{\"index\":0,\"bytes\":1000,\"ready_s\":5}]";
    add_record(f, JOIN(f, header(f, 0, 1, 1, 3), iteration(f, 1, 1, 1, other),
                       iteration(f, 2, 1, 1, BUCKETS), iteration(f, 3, 1, 1, BUCKETS), END));
    merge(f);
    assert_int_equal(f->profile.n_buckets, 2);
    assert_int_equal(f->profile.bucket[0].ready.stats.n, 2);
    assert_true(has_note(&f->profile, "1 of 3 iterations had others"));
}

static void refuses_ranks_with_different_buckets(void **state)
{
    struct fixture *f = *state;
    add_two_ranks(f, BYTES BUCKETS, BYTES ",\"buckets\":[{\"index\":0,\"bytes\":1000}]");
    assert_no_merge(f, "rank1.jsonl: its gradients' buckets are not those of the other ranks: 1 in "
                       "iteration 2, 2 in most");
}

static void takes_the_ranks_of_one_type_from_a_mixed_ring(void **state)
{
    struct fixture *f = *state;
    f->profile.one_ring = true;
    f->profile.n_devices = 2;
    add_record(f, JOIN(f, header(f, 3, 4, 1, 1), iteration(f, 1, 1, 1, BUCKETS), END));
    add_record(f, JOIN(f, header(f, 1, 4, 1, 1), iteration(f, 1, 1, 1, BUCKETS), END));
    merge(f);
    assert_true(f->profile.one_ring);
    assert_int_equal(f->profile.n_devices, 2);
    assert_int_equal(f->profile.ring_devices, 4);
    assert_true(f->profile.bytes_sent == 2 * 3 * 500 / 4.0);
    assert_string_equal(f->profile.host[0], "n2");
}

static void refuses_too_few_records_of_a_mixed_ring(void **state)
{
    struct fixture *f = *state;
    f->profile.one_ring = true;
    f->profile.n_devices = 2;
    add_record(f, JOIN(f, header(f, 3, 4, 1, 1), iteration(f, 1, 1, 1, BUCKETS), END));
    assert_no_merge(f,
                    "rank0.jsonl: 1 record of device type fast, whose ranks are 2 of a world of 4");
}

static void counts_micro_batches_and_accumulation(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 2),
                       iteration(f, 1, 1, 1,
                                 ",\"micro_batches\":4,\"samples\":64,\"backward_unsynced_s\":0.3"),
                       iteration(f, 2, 1, 1,
                                 ",\"micro_batches\":2,\"samples\":32,\"backward_unsynced_s\":0.1"),
                       END));
    merge(f);
    assert_true(f->profile.micro_batches == 3);
    assert_float_equal(f->profile.stage[STAGE_BACKWARD_UNSYNCED].stats.mean, 0.2, 1e-15);
    assert_int_equal(f->profile.n_notes, 0);
}

static void says_when_batches_are_not_what_the_job_says(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, ",\"samples\":8"), END));
    merge(f);
    assert_true(has_note(&f->profile, "a mini-batch had 8 samples in the mean, not 16"));
}

static void leaves_out_a_stage_that_was_seen_now_and_then(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 2), iteration(f, 1, 1, 1, ",\"copy_s\":0.1"),
                       iteration(f, 2, 1, 1, ",\"copy_s\":null"), END));
    merge(f);
    assert_false(f->profile.stage[STAGE_COPY].known);
    assert_true(has_note(&f->profile, "copy_s was seen in 1 of 2 iterations only"));
}

static void takes_a_rest_below_zero_as_zero(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 2), iteration(f, 1, 1, 1, ",\"rest_s\":-1e-9"),
                       iteration(f, 2, 1, 1, ",\"rest_s\":-0.1"), END));
    merge(f);
    assert_true(f->profile.stage[STAGE_REST].known);
    assert_true(f->profile.stage[STAGE_REST].stats.max == 0);
    assert_true(has_note(&f->profile, "in 1 of 2 iterations the stages add up to more"));
}

#define OPERATORS(count, mean, sd)                                                                 \
    "{\"kind\":\"operators\",\"n_iterations\":2,\"forward\":[{\"index\":0,\"name\":\"conv\","      \
    "\"count\":" #count ",\"mean_s\":" #mean ",\"sd_s\":" #sd "}],\"backward\":[]}\n"

static void pools_operators_over_ranks(void **state)
{
    struct fixture *f = *state;
    add_record(
        f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), OPERATORS(2, 1, 0), END));
    add_record(
        f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), OPERATORS(2, 3, 0), END));
    merge(f);
    assert_int_equal(f->profile.n_forward_ops, 1);
    const struct stats *s = &f->profile.forward_op[0].time_s;
    assert_int_equal(s->n, 4);
    assert_true(s->mean == 2);
    assert_float_equal(s->sd, sqrt(4.0 / 3), 1e-12);
}

static void scales_operators_when_the_profiler_slows_the_step(void **state)
{
    struct fixture *f = *state;
    add_record(f,
               JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 2, 1, ""),
                    iteration(f, 2, 2.4, 1, ",\"profiled\":true"),
                    iteration(f, 3, 2.5, 1, ",\"profiled\":true"),
                    iteration(f, 4, 9, 1, ",\"profiled\":true"), OPERATORS(2, 1.25, 0.125), END));
    merge(f);
    assert_true(f->profile.profiler_ratio == 1.25);
    assert_true(f->profile.forward_op[0].time_s.mean == 1);
    assert_true(f->profile.forward_op[0].time_s.sd == 0.1);
    assert_true(has_note(&f->profile, "1.25 times as long"));
}

static void leaves_operators_alone_when_the_profiler_costs_little(void **state)
{
    struct fixture *f = *state;
    add_record(f,
               JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 2, 1, ""),
                    iteration(f, 2, 2.1, 1, ",\"profiled\":true"), OPERATORS(2, 1.25, 0.1), END));
    merge(f);
    assert_float_equal(f->profile.profiler_ratio, 1.05, 1e-12);
    assert_true(f->profile.forward_op[0].time_s.mean == 1.25);
    assert_int_equal(f->profile.n_notes, 0);
}

#define ROUNDS(small, idle, busy, more)                                                            \
    "{\"kind\":\"rounds\",\"message_bytes\":" #small ",\"idle_s\":" #idle                          \
    ",\"busy_s\":" #busy more "}\n"
#define LARGE(bytes, idle, busy, lost)                                                             \
    ",\"lost_s\":1,\"large_message_bytes\":" #bytes ",\"large_idle_s\":" #idle                     \
    ",\"large_busy_s\":" #busy ",\"large_lost_s\":" #lost

static void takes_rounds_that_all_ranks_measured(void **state)
{
    struct fixture *f = *state;
    static const char sent[] = ",\"bytes_sent\":1";
    const struct profile_rounds *rounds = &f->profile.rounds;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, sent),
                       ROUNDS(4096, 0.5, 3, LARGE(1e6, 2, 5, 7)), END));
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, sent),
                       ROUNDS(4096, 1.5, 3, LARGE(1e6, 4, 7, 9)), END));
    merge(f);
    assert_true(rounds->message_bytes == 4096 && rounds->idle_s == 1 && rounds->busy_s == 3);
    assert_true(rounds->lost_s == 1 && rounds->large_message_bytes == 1e6);
    assert_true(rounds->large_idle_s == 3 && rounds->large_busy_s == 6);
    assert_true(rounds->large_lost_s == 8);
    f->n = 1;
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, sent),
                       ROUNDS(4096, 1.5, 3, ""), END));
    merge(f);
    assert_true(rounds->message_bytes == 0);
    f->n = 1;
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), iteration(f, 1, 1, 1, sent), END));
    merge(f);
    assert_true(rounds->message_bytes == 0);
}

static void refuses_rounds_that_cannot_be(void **state)
{
    struct fixture *f = *state;
    assert_no_parse(f, JOIN(f, header(f, 0, 1, 1, 1), ROUNDS(0, 1, 1, "")),
                    "rank0.jsonl:2:34: message_bytes must be a number, at least 1 (got 0)");
    assert_no_parse(f, JOIN(f, header(f, 0, 1, 1, 1), ROUNDS(1, 1, -1, "")),
                    "rank0.jsonl:2:56: busy_s must be a number, at least 0 (got -1)");
}

static void adds_up_collectives_by_kind_bytes_and_place(void **state)
{
    struct fixture *f = *state;
#define COLLECTIVE(op, bytes, span)                                                                \
    "{\"op\":\"" op "\",\"bytes\":" #bytes ",\"place\":\"forward\",\"span_s\":" #span "}"
    static const char two[] = ",\"collectives\":[" COLLECTIVE(
        "broadcast", 400, 0.25) "," COLLECTIVE("all_reduce", 8, null) "]";
    static const char one[] = ",\"collectives\":[" COLLECTIVE("broadcast", 400, 0.75) "]";
    add_record(f, JOIN(f, header(f, 0, 1, 1, 2), iteration(f, 1, 1, 1, two),
                       iteration(f, 2, 1, 1, one), END));
    merge(f);
    const struct profile *p = &f->profile;
    assert_int_equal(p->n_collectives, 2);
    assert_string_equal(p->collective[0].op, "broadcast");
    assert_true(p->collective[0].count_per_step == 1 && p->collective[0].span_s == 0.5);
    assert_true(p->collective[1].count_per_step == 0.5 && p->collective[1].span_s == -1);
}

static void halves_an_interface_that_two_ranks_share(void **state)
{
    struct fixture *f = *state;
    static const char network[] =
        "{\"kind\":\"network\",\"basis\":\"tcp_info\",\"interface\":\"lo\","
        "\"interface_sent_bytes\":8000,\"n_iterations\":2}\n";
    static const char io[] = "{\"kind\":\"io\",\"read_bytes\":300,\"n_iterations\":2}\n";
    char *second = header(f, 1, 2, 1, 1);
    memcpy(strstr(second, "\"n2\""), "\"n1\"", 4);
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, BYTES), network, io, END));
    add_record(f, JOIN(f, second, iteration(f, 1, 1, 1, BYTES), network, END));
    merge(f);
    assert_true(f->profile.interface_bytes == 2000);
    assert_true(f->profile.bytes_read == 150);
    assert_true(f->profile.shares_host);
}

static void describes_the_model(void **state)
{
    struct fixture *f = *state;
    static const char model[] =
        "{\"kind\":\"model\",\"modules\":[{\"name\":\"net\",\"layers\":[{\"index\":0,\"name\":"
        "\"conv1\",\"kind\":\"Conv2d\",\"input_shapes\":[[16,3,32,32],[4]],\"output_shapes\":[],"
        "\"parameters\":9408,\"activation\":\"relu\"}],\"parameters\":9500,\"parameter_bytes\":"
        "{\"float32\":400,\"float16\":20},\"gradient_bytes\":{\"float32\":40}},{\"name\":\"d\","
        "\"layers\":[{\"index\":0,\"name\":"
        "\"fc\","
        "\"kind\":\"Linear\",\"activation\":null}],\"parameters\":500,\"parameter_bytes\":{"
        "\"float32\":7}}],\"loss\":\"cross_entropy\","
        "\"optimizers\":[{\"kind\":\"SGD\",\"settings\":{\"lr\":0.1,\"nesterov\":false,\"k\":2}},"
        "{\"kind\":\"Adam\",\"settings\":{}}]}\n";
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), model, iteration(f, 1, 1, 1, ""), END));
    merge(f);
    const struct profile *p = &f->profile;
    assert_int_equal(p->n_layers, 2);
    assert_string_equal(p->layer[0].input_shapes, "16x3x32x32, 4");
    assert_null(p->layer[0].output_shapes);
    assert_string_equal(p->layer[0].activation, "relu");
    assert_null(p->layer[1].activation);
    assert_true(p->n_parameters == 10000);
    assert_int_equal(p->parameter_bytes.n, 2);
    assert_string_equal(p->parameter_bytes.item[0].dtype, "float32");
    assert_true(p->parameter_bytes.item[0].bytes == 407 && p->parameter_bytes.item[1].bytes == 20);
    assert_true(p->model_gradient_bytes.n == 1 && p->model_gradient_bytes.item[0].bytes == 40);
    assert_string_equal(p->loss, "cross_entropy");
    assert_string_equal(p->optimizer, "SGD (lr=0.1, nesterov=false, k=2) and Adam");
}

static void hands_on_notes_once(void **state)
{
    struct fixture *f = *state;
    static const char note[] = "{\"kind\":\"note\",\"text\":\"no transport seen\"}\n";
    static const char unknown[] = "{\"kind\":\"weather\",\"rain\":true}\n";
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), note, unknown, iteration(f, 1, 1, 1, BYTES), END));
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1), note, iteration(f, 1, 1, 1, BYTES), END));
    merge(f);
    assert_int_equal(f->profile.n_notes, 1);
    assert_string_equal(f->profile.note_line[0], "no transport seen");
}

static void refuses_a_record_without_an_end(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, "")));
    assert_no_merge(f, "rank0.jsonl: incomplete: it stops after line 2, without an end line");
}

static void takes_a_cut_last_line_as_no_end(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, ""), "{\"kind\":\"en"));
    assert_no_merge(f, "rank0.jsonl: incomplete: it stops after line 2, without an end line");
}

static void repeats_what_the_worker_said_went_wrong(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1)));
    add_record(f, JOIN(f, header(f, 1, 2, 1, 1),
                       "{\"kind\":\"error\",\"text\":\"FSDP is not DDP\\u001b[31m\"}\n"));
    assert_no_merge(f, "rank1.jsonl: the worker gave up: FSDP is not DDP\\x1b[31m");
    assert_int_equal(f->error.kind, ERROR_HOST);
}

static void takes_an_error_before_any_header(void **state)
{
    struct fixture *f = *state;
    add_record(f, "{\"kind\":\"error\",\"text\":\"no torch\"}\n");
    assert_no_merge(f, "rank0.jsonl: the worker gave up: no torch");
}

static void refuses_ranks_of_different_worlds(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    add_record(f, JOIN(f, header(f, 1, 3, 1, 1), iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl and rank1.jsonl do not belong together: world_size is 2 in one "
                       "and 3 in the other");
}

static void refuses_ranks_of_different_types(void **state)
{
    struct fixture *f = *state;
    char *second = header(f, 1, 2, 1, 1);
    memcpy(strstr(second, "fast"), "slow", 4);
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    add_record(f, JOIN(f, second, iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl and rank1.jsonl do not belong together: device_type is fast in "
                       "one and slow in the other");
}

static void refuses_ranks_of_different_batches(void **state)
{
    struct fixture *f = *state;
    char *second = header(f, 1, 2, 1, 1);
    memcpy(strstr(second, ":16}"), ":17}", 4);
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    add_record(f, JOIN(f, second, iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl and rank1.jsonl do not belong together: batch is 16 in one and "
                       "17 in the other");
}

static void refuses_two_files_of_one_rank(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    assert_false(record_merge(&f->arena, f->record, f->n, &f->profile, &f->error));
    assert_non_null(strstr(f->error.text, "are both of rank 0"));
}

static void refuses_a_world_with_ranks_missing(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 2, 1, 1), iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f,
                    "rank0.jsonl: 1 record of device type fast, whose ranks are 2 of a world of 2");
}

static void says_which_iterations_are_missing(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 5), iteration(f, 1, 1, 1, ""),
                       iteration(f, 3, 1, 1, ""), iteration(f, 4, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl: lacks 2 of the 5 iterations 1 to 5 that count (the first: 2)");
}

static void survives_a_window_of_two_thousand_million(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 2147483647), iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl: lacks 2147483646 of the 2147483647 iterations 1 to 2147483647 "
                       "that count (the first: 2)");
}

static void refuses_an_iteration_twice(void **state)
{
    struct fixture *f = *state;
    add_record(f, JOIN(f, header(f, 0, 1, 1, 1), iteration(f, 1, 1, 1, ""),
                       iteration(f, 1, 1, 1, ""), END));
    assert_no_merge(f, "rank0.jsonl:3: a second line of iteration 1");
}

static void names_broken_values_with_their_place(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *line, *message;
    } row[] = {
        {"{\"kind\":\"iteration\",\"i\":1,\"step_s\":NaN}\n",
         "rank0.jsonl:2:36: step_s must be a number (got NaN)"},
        {"{\"kind\":\"iteration\",\"i\":1,\"step_s\":-1,\"forward_s\":1,\"first_backward_s\":1}\n",
         "rank0.jsonl:2:36: step_s must be a number, at least 0 (got -1)"},
        {"{\"kind\":\"iteration\",\"i\":1,\"step_s\":1,\"first_backward_s\":1}\n",
         "rank0.jsonl:2:1: forward_s is missing"},
        {"{\"kind\":\"iteration\",\"i\":1.5}\n",
         "rank0.jsonl:2:25: i must be a whole number, at least 1 (got 1.5)"},
        {"{\"kind\":\"iteration\",\"i\":0}\n",
         "rank0.jsonl:2:25: i must be a whole number, at least 1 (got 0)"},
        {"{\"kind\":\"iteration\",\"step_s\":1}\n", "rank0.jsonl:2:1: i is missing"},
        {"{\"kind\":\"iteration\",\"i\":9,\"buckets\":[{\"index\":0}]}\n",
         "rank0.jsonl:2:38: bytes is missing"},
        {"{\"kind\":\"loader\",\"workers\":1,\"fetch_s\":[1,Infinity]}\n",
         "rank0.jsonl:2:43: fetch_s must be a number (got Infinity)"},
        {"{\"kind\":\"io\",\"read_bytes\":1,\"n_iterations\":0}\n",
         "rank0.jsonl:2:44: n_iterations must be a whole number, at least 1 (got 0)"},
        {"{\"kind\":7}\n", "rank0.jsonl:2:9: kind must be text in quotes (got 7)"},
        {"{}\n", "rank0.jsonl:2:1: kind is missing"},
        {"{\"kind\":\"note\"\n", "rank0.jsonl:2:14: not valid JSON: '}' expected near end of file"},
        {"[1]\n", "rank0.jsonl:2:1: this must be an object {...} (got [1.0])"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_no_parse(f, JOIN(f, header(f, 0, 1, 1, 3), row[i].line, END), row[i].message);
}

static void refuses_files_that_are_no_records(void **state)
{
    struct fixture *f = *state;
    assert_no_parse(f, "", "rank0.jsonl: empty: expected a record (foretrain.record/1)");
    assert_no_parse(f, "\n\n", "rank0.jsonl: empty: expected a record (foretrain.record/1)");
    assert_no_parse(f, END,
                    "rank0.jsonl:1:9: the first line must be the header (got kind \"end\")");
    assert_no_parse(f, JOIN(f, header(f, 0, 1, 1, 1), header(f, 0, 1, 1, 1)),
                    "rank0.jsonl:2:1: a second header: two ranks wrote to this file");
    assert_no_parse(f, header(f, 2, 2, 1, 1),
                    "rank0.jsonl:1:1: rank must be below world_size = 2 (got 2)");
    assert_no_parse(f, header(f, 0, 2, 3, 1),
                    "rank0.jsonl:1:1: last must be at least first = 3 (got 1)");
    assert_no_parse(f, "{\"kind\":\"header\",\"format\":\"foretrain.record/7\"}\n",
                    "rank0.jsonl:1:27: format must be \"foretrain.record/1\", which this version "
                    "reads (got \"foretrain.record/7\")");
}

static void makes_a_profile_from_files(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/test_record.XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path[2];
    for (int r = 0; r < 2; r++) {
        path[r] = arena_format(&f->arena, "%s/rank%d.jsonl", folder, r);
        char *text = JOIN(f, header(f, r, 2, 1, 1), iteration(f, 1, r + 1, 1, BUCKETS), END);
        assert_true(file_write(path[r], text, strlen(text), &f->error));
    }
    struct profile again = {0};
    char *out = arena_format(&f->arena, "%s/fast.json", folder);
    assert_true(profile_from_records(&f->arena, path, 2, &f->profile, &f->error));
    assert_true(f->profile.stage[STAGE_STEP].stats.mean == 1.5);
    assert_true(profile_write(out, &f->profile, &f->error));
    assert_true(profile_read(&f->arena, out, &again, &f->error));
    assert_true(again.stage[STAGE_STEP].stats.mean == 1.5);
    assert_int_equal(again.bucket[0].done.stats.n, 2);
    assert_non_null(again.bucket[0].done.value);
    assert_null(again.samples_file);
    path[1] = "/nowhere/rank1.jsonl";
    assert_false(profile_from_records(&f->arena, path, 2, &f->profile, &f->error));
    assert_int_equal(f->error.kind, ERROR_FILE);
    assert_true(file_remove_tree(folder, &f->error));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* The example of docs/formats.md, "A record of your own", for two ranks. */
static void the_smallest_record_of_the_documentation_is_enough(void **state)
{
    struct fixture *f = *state;
    char *text = NULL;
    assert_true(file_read(&f->arena, "../docs/formats.md", 1 << 20, &text, NULL, &f->error));
    struct text record = {0};
    char *at = strstr(text, "The smallest record, of one of two ranks:");
    assert_non_null(at);
    for (char *line = strtok(at, "\n"); line && !strstr(line, "##"); line = strtok(NULL, "\n")) {
        if (strncmp(line, "    {", 5) == 0)
            text_format(&record, "%s\n", line);
    }
    char *second = arena_copy(&f->arena, record.data);
    strstr(second, "\"rank\":0")[strlen("\"rank\":")] = '1';
    assert_true(
        record_parse(&f->arena, record.data, record.length, "rank0", &f->record[0], &f->error));
    assert_true(record_parse(&f->arena, second, record.length, "rank1", &f->record[1], &f->error));
    if (!record_merge(&f->arena, f->record, 2, &f->profile, &f->error))
        fail_msg("%s", f->error.text);
    assert_true(fabs(f->profile.stage[STAGE_STEP].stats.mean - 0.305) < 1e-12);
    assert_true(f->profile.bytes_sent == 4e6);
    text_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_smallest_record_of_the_documentation_is_enough),
        TEST(keeps_samples_device_by_device),
        TEST(sorts_ranks_whatever_the_order_of_files),
        TEST(leaves_out_edges_of_any_rank_in_all_ranks),
        TEST(does_not_count_what_was_before_all_recorded),
        TEST(refuses_a_window_of_edges_only),
        TEST(divides_fetches_by_the_number_of_workers),
        TEST(says_when_the_loader_fetched_nothing),
        TEST(means_bytes_over_devices_and_iterations),
        TEST(computes_bytes_from_buckets_where_none_were_counted),
        TEST(notes_bytes_that_no_ring_sends),
        TEST(refuses_records_that_say_nothing_of_bytes),
        TEST(needs_no_bytes_for_a_single_device),
        TEST(keeps_the_most_frequent_buckets_and_says_so),
        TEST(refuses_ranks_with_different_buckets),
        TEST(takes_the_ranks_of_one_type_from_a_mixed_ring),
        TEST(refuses_too_few_records_of_a_mixed_ring),
        TEST(counts_micro_batches_and_accumulation),
        TEST(says_when_batches_are_not_what_the_job_says),
        TEST(leaves_out_a_stage_that_was_seen_now_and_then),
        TEST(takes_a_rest_below_zero_as_zero),
        TEST(pools_operators_over_ranks),
        TEST(scales_operators_when_the_profiler_slows_the_step),
        TEST(leaves_operators_alone_when_the_profiler_costs_little),
        TEST(adds_up_collectives_by_kind_bytes_and_place),
        TEST(takes_rounds_that_all_ranks_measured),
        TEST(refuses_rounds_that_cannot_be),
        TEST(halves_an_interface_that_two_ranks_share),
        TEST(describes_the_model),
        TEST(hands_on_notes_once),
        TEST(refuses_a_record_without_an_end),
        TEST(takes_a_cut_last_line_as_no_end),
        TEST(repeats_what_the_worker_said_went_wrong),
        TEST(takes_an_error_before_any_header),
        TEST(refuses_ranks_of_different_worlds),
        TEST(refuses_ranks_of_different_types),
        TEST(refuses_ranks_of_different_batches),
        TEST(refuses_two_files_of_one_rank),
        TEST(refuses_a_world_with_ranks_missing),
        TEST(says_which_iterations_are_missing),
        TEST(survives_a_window_of_two_thousand_million),
        TEST(refuses_an_iteration_twice),
        TEST(names_broken_values_with_their_place),
        TEST(refuses_files_that_are_no_records),
        TEST(makes_a_profile_from_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
