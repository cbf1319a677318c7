/* What traces' names mean, which operators are outermost, and which steps count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "trace/trace_identity.h"
#include "trace/trace_judge.h"
#include "trace/trace_names.h"
#include "trace/trace_outer.h"
#include "trace/trace_words.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct trace_text text_of(const char *text)
{
    return (struct trace_text){text, strlen(text)};
}

static enum trace_kind kind_of(const char *category, const char *name, enum trace_arg arg)
{
    struct trace_event event = {.phase = 'X', .name = text_of(name), .category = text_of(category)};
    if (arg < TRACE_N_ARGS) {
        event.arg_mask = UINT64_C(1) << arg;
        event.arg[arg] = (struct trace_value){"1", 1};
    }
    return trace_kind_of(&event);
}

static void tells_what_an_event_is_in_every_version(void **state)
{
    static const struct {
        const char *category, *name;
        enum trace_arg arg;
        enum trace_kind kind;
    } known[] = {
        {"Operator", "ProfilerStep#5", TRACE_N_ARGS, KIND_STEP},
        {"user_annotation", "ProfilerStep#5", TRACE_N_ARGS, KIND_STEP},
        {"", "ProfilerStep#5", TRACE_N_ARGS, KIND_STEP},
        {"gpu_user_annotation", "ProfilerStep#5", TRACE_N_ARGS, KIND_OTHER},
        {"user_annotation", "enumerate(DataLoader)#_X.__next__", TRACE_N_ARGS, KIND_LOADER},
        {"Operator", "DistributedDataParallel.forward", TRACE_N_ARGS, KIND_FORWARD},
        {"cpu_op", "c10d::allreduce_", TRACE_N_ARGS, KIND_COLLECTIVE},
        {"user_annotation", "gloo:all_reduce", TRACE_N_ARGS, KIND_COLLECTIVE},
        {"cpu_op", "nccl:all_reduce", TRACE_N_ARGS, KIND_COLLECTIVE},
        {"gpu_user_annotation", "nccl:all_reduce", TRACE_N_ARGS, KIND_OTHER},
        {"cpu_op", "DevFn", TRACE_N_ARGS, KIND_OPERATOR},
        {"", "aten::linear", TRACE_N_ARGS, KIND_OPERATOR},
        {"", "MmBackward", TRACE_N_ARGS, KIND_OPERATOR},
        {"Operator", "## forward ##", TRACE_N_ARGS, KIND_OTHER},
        {"", "AscendCL@aclnnNLLLossBackward", TRACE_CONNECTION, KIND_OTHER},
        {"", "aclnnNLLLossBackward_NLLLossGrad", TRACE_TASK_TYPE, KIND_WORK},
        {"kernel", "gemm", TRACE_CORRELATION, KIND_WORK},
        {"Kernel", "gemm", TRACE_CORRELATION, KIND_WORK},
        {"Memcpy", "Memcpy HtoD", TRACE_CORRELATION, KIND_WORK},
        {"cuda_runtime", "cudaLaunchKernel", TRACE_CORRELATION, KIND_LAUNCH},
        {"Runtime", "cudaMemcpyAsync", TRACE_CORRELATION, KIND_LAUNCH},
        {"cuda_runtime", "cudaStreamGetPriority", TRACE_CORRELATION, KIND_OTHER},
        {"privateuse1_runtime", "cnInvokeKernel", TRACE_CORRELATION, KIND_LAUNCH},
        {"python_function", "torch::x", TRACE_N_ARGS, KIND_OTHER},
        {"ac2g", "ac2g", TRACE_N_ARGS, KIND_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        if (kind_of(known[i].category, known[i].name, known[i].arg) != known[i].kind)
            fail_msg("[%s] %s", known[i].category, known[i].name);
    }
}

static void knows_collectives_by_their_names(void **state)
{
    static const struct {
        const char *name, *collective;
    } known[] = {
        {"c10d::allreduce_", "all_reduce"},
        {"nccl:all_reduce", "all_reduce"},
        {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "all_reduce"},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "all_reduce"},
        {"hcom_allReduce__606_0_1@17", "all_reduce"},
        {"c10d::_allgather_base_", "all_gather"},
        {"nccl:_reduce_scatter_base", "reduce_scatter"},
        {"alltoallv", "all_to_all"},
        {"nccl:broadcast", "broadcast"},
        {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", NULL},
        {"record_param_comms", NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        const char *found = trace_collective_of(text_of(known[i].name));
        if (!found != !known[i].collective || (found && strcmp(found, known[i].collective) != 0))
            fail_msg("%s: %s", known[i].name, found ? found : "none");
    }
}

static void knows_collectives_kernels(void **state)
{
    static const char *const is[] = {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)",
                                     "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
                                     "ncclDevKernel_Generic(x)",
                                     "mscclKernel_Sum_float_LL(x)",
                                     "hcom_allReduce__606_0_1@17",
                                     "cnclAllReduce"};
    static const char *const is_not[] = {"void cudnn::bn_bw_1C11_kernel_new<float>", "Memcpy HtoD",
                                         "void at::native::reduce_kernel<512, 1>"};
    (void)state;
    for (size_t i = 0; i < COUNT(is); i++)
        assert_true(trace_name_is_collective_work(text_of(is[i])));
    for (size_t i = 0; i < COUNT(is_not); i++)
        assert_false(trace_name_is_collective_work(text_of(is_not[i])));
}

static void knows_backward_operators_by_their_names(void **state)
{
    (void)state;
    assert_true(trace_name_is_gradient("autograd::engine::evaluate_function: DivBackward1"));
    assert_true(trace_name_is_gradient("NllLossBackward"));
    assert_true(trace_name_is_gradient("DevFnBackward0"));
    assert_false(trace_name_is_gradient("aten::nll_loss_backward"));
    assert_false(trace_name_is_gradient("AddmmBackward0_helper"));
    assert_false(trace_name_is_gradient("torch::autograd::AccumulateGrad"));
    assert_true(trace_name_is_backward("torch::autograd::AccumulateGrad"));
    assert_true(trace_name_is_backward("torch.distributed.ddp.reducer::copy_bucket_to_grad"));
    assert_false(trace_name_is_backward("aten::linear"));
}

static void knows_how_long_an_element_is(void **state)
{
    (void)state;
    assert_int_equal(trace_dtype_bytes("Float"), 4);
    assert_int_equal(trace_dtype_bytes("c10::BFloat16"), 2);
    assert_int_equal(trace_dtype_bytes("long int"), 8);
    assert_int_equal(trace_dtype_bytes("Byte"), 1);
    assert_int_equal(trace_dtype_bytes("TensorList"), 0);
}

static void finds_the_rank_in_a_files_name(void **state)
{
    (void)state;
    assert_int_equal(trace_rank_of_name("rank0.pt.trace.json"), 0);
    assert_int_equal(trace_rank_of_name("a/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"), 34);
    assert_int_equal(trace_rank_of_name("worker3_step_12.1694128201545.pt.trace.json"), 3);
    assert_int_equal(trace_rank_of_name("x_Rank_7.json"), 7);
    assert_int_equal(trace_rank_of_name("rank1/host_123.1733.pt.trace.json"), -1);
    assert_int_equal(trace_rank_of_name("ranking.json"), -1);
    assert_int_equal(trace_rank_of_name("rank99999999999.json"), -1);
}

/* A forest of operators in random order leaves its roots. */
static void keeps_outermost_operators_whatever_their_order(void **state)
{
    enum { N_ROOTS = 700, N_INSIDE = 9, N = N_ROOTS * (1 + N_INSIDE) };
    struct trace_span span[N];
    struct random random = random_seed(1, 0);
    (void)state;
    for (int i = 0; i < N; i++) {
        int root = i / (1 + N_INSIDE), inside = i % (1 + N_INSIDE);
        int64_t start_ns = 1000 * (root / 2) + 40 * inside;
        span[i] = (struct trace_span){start_ns, start_ns + (inside ? 90 : 500),
                                      (uint32_t)(root % 2), (uint32_t)(inside ? N : root)};
    }
    for (int i = N - 1; i > 0; i--) {
        int other = (int)random_below(&random, (uint64_t)i + 1);
        struct trace_span moved = span[i];
        span[i] = span[other];
        span[other] = moved;
    }
    struct trace_outer outer = {0};
    for (int i = 0; i < N; i++)
        trace_outer_add(&outer, span[i]);
    trace_outer_finish(&outer);
    assert_int_equal(outer.n, N_ROOTS);
    for (int i = 0; i < N_ROOTS; i++) {
        int root = i < N_ROOTS / 2 ? 2 * i : 2 * (i - N_ROOTS / 2) + 1;
        assert_int_equal(outer.span[i].name, root);
    }
    assert_ptr_equal(trace_outer_find(&outer, 1, 2300), &outer.span[N_ROOTS / 2 + 2]);
    assert_null(trace_outer_find(&outer, 1, 2600));
    trace_outer_free(&outer);
}

/* Rounded times: [10, 20] holds [12, 14]; [19, 30] begins a little before its end, and is left out
 * with [21, 22]; [30, 40] holds [30, 30]. */
static void of_overlapping_operators_the_first_counts_whatever_their_order(void **state)
{
    enum { N = 6, N_ORDERS = 720 };
    static const struct trace_span given[N] = {{10, 20, 0, 1}, {12, 14, 0, 2}, {19, 30, 0, 3},
                                               {21, 22, 0, 4}, {30, 30, 0, 5}, {30, 40, 0, 6}};
    (void)state;
    for (int order = 0; order < N_ORDERS; order++) {
        struct trace_span span[N];
        struct trace_outer outer = {0};
        memcpy(span, given, sizeof span);
        for (int i = N, left = order; i > 0; left /= i, i--) {
            struct trace_span taken = span[left % i];
            span[left % i] = span[i - 1];
            trace_outer_add(&outer, taken);
        }
        trace_outer_finish(&outer);
        assert_int_equal(outer.n, 2);
        assert_int_equal(outer.span[0].name, 1);
        assert_int_equal(outer.span[1].name, 6);
        trace_outer_free(&outer);
    }
}

static void numbers_words_once(void **state)
{
    struct arena arena = {0};
    struct trace_words words = {.arena = &arena};
    char name[16];
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            int length = snprintf(name, sizeof name, "word %u", i);
            assert_int_equal(trace_words_add(&words, name, (size_t)length), i);
        }
    }
    assert_int_equal(trace_words_add(&words, "word 12", 6), trace_words_add(&words, "word 1", 6));
    trace_words_free(&words);
    arena_free(&arena);
}

enum { MOST_STEPS = 16 };

/* Steps of so many ms, all else known. */
static void make_steps(const double *step_ms, size_t n, struct record_iteration *it)
{
    for (size_t i = 0; i < n; i++) {
        it[i] = (struct record_iteration){.i = (int)i + 1};
        it[i].time_s[STAGE_STEP] = step_ms[i] / 1e3;
    }
}

static void assert_verdicts(const struct record_iteration *it, size_t n, const char *expected)
{
    static const char letter[N_TRACE_VERDICTS] = {
        [STEP_COUNTS] = '.',    [STEP_CUT] = 'c',      [STEP_INCOMPLETE] = 'i',
        [STEP_UNMATCHED] = 'm', [STEP_UNSTEADY] = 'u', [STEP_OUTLIER] = 'o',
    };
    enum trace_verdict verdict[MOST_STEPS];
    char found[MOST_STEPS + 1] = "";
    for (size_t i = 0; i < n; i++)
        verdict[i] = STEP_COUNTS;
    trace_judge(it, n, true, verdict);
    for (size_t i = 0; i < n; i++)
        found[i] = letter[verdict[i]];
    assert_string_equal(found, expected);
}

static void leaves_out_first_steps_that_are_not_steady(void **state)
{
    static const double v100_ms[] = {35, 72, 96, 96, 96}, even_ms[] = {222, 219, 224};
    struct record_iteration it[MOST_STEPS];
    (void)state;
    make_steps(v100_ms, COUNT(v100_ms), it);
    assert_verdicts(it, COUNT(v100_ms), "uu...");
    make_steps(even_ms, COUNT(even_ms), it);
    assert_verdicts(it, COUNT(even_ms), "...");
}

static void leaves_out_outliers(void **state)
{
    static const double step_ms[] = {124, 126, 127, 163, 125, 124, 60},
                        noisy_ms[] = {100, 122, 166, 82, 107, 150, 90};
    struct record_iteration it[MOST_STEPS];
    (void)state;
    make_steps(step_ms, COUNT(step_ms), it);
    assert_verdicts(it, COUNT(step_ms), "...o..o");
    make_steps(noisy_ms, COUNT(noisy_ms), it);
    assert_verdicts(it, COUNT(noisy_ms), ".......");
}

static void leaves_out_steps_that_lack_something(void **state)
{
    static const double step_ms[] = {100, 100, 100, 100};
    struct record_bucket ran = {.done_s = 1}, lost = {.done_s = -1};
    struct record_iteration it[MOST_STEPS];
    (void)state;
    make_steps(step_ms, COUNT(step_ms), it);
    for (size_t i = 0; i < COUNT(step_ms); i++) {
        it[i].bucket = i == 1 ? &lost : &ran;
        it[i].n_buckets = i != 3;
    }
    it[2].time_s[STAGE_FORWARD] = -1;
    assert_verdicts(it, COUNT(step_ms), ".mii");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_an_event_is_in_every_version),
        cmocka_unit_test(knows_collectives_by_their_names),
        cmocka_unit_test(knows_collectives_kernels),
        cmocka_unit_test(knows_backward_operators_by_their_names),
        cmocka_unit_test(knows_how_long_an_element_is),
        cmocka_unit_test(finds_the_rank_in_a_files_name),
        cmocka_unit_test(keeps_outermost_operators_whatever_their_order),
        cmocka_unit_test(of_overlapping_operators_the_first_counts_whatever_their_order),
        cmocka_unit_test(numbers_words_once),
        cmocka_unit_test(leaves_out_first_steps_that_are_not_steady),
        cmocka_unit_test(leaves_out_outliers),
        cmocka_unit_test(leaves_out_steps_that_lack_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
