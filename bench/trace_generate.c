/*
 * A profiler trace in the proportions of a real one: `bench_trace_generate BYTES SEED`, to standard
 * output. What it holds and how long its events are is taken from a trace of ResNet-50 on two A100
 * with torch 2.4: of 100 events 35 operators, 22 launches, 9 kernels and copies, 34 ends of flows;
 * and 13500 events a step. Its steps can be imported.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

static const char *const forward[] = {
    "aten::empty",      "aten::conv2d",           "aten::_convolution", "aten::cudnn_convolution",
    "aten::batch_norm", "aten::cudnn_batch_norm", "aten::relu_",        "aten::add_",
    "aten::copy_",      "aten::as_strided",       "aten::mul_",         "aten::empty_strided",
};

static const char *const backward[] = {
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
    "autograd::engine::evaluate_function: CudnnBatchNormBackward0",
    "autograd::engine::evaluate_function: ConvolutionBackward0",
    "torch::distributed::reducer::mul_out",
};

static const char *const launches[] = {"cudaLaunchKernel", "cudaMemsetAsync", "cudaMemcpyAsync",
                                       "cudaEventRecord", "cudaStreamIsCapturing"};

static const char *const kernels[] = {
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4_"
    "warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn",
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3>)",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, "
    "true>(cudnnTensorStruct, "
    "float const*, cudnn::reduced_divisor)",
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<3>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor"
    "<float, 3, 2, 2> >(int)",
};

#define PICK(r, list) (list)[random_below((r), sizeof(list) / sizeof *(list))]

enum { FORWARD_EVENTS = 5500, CALL_EVENT = 10500, BACKWARD_EVENTS = 11000, STEP_EVENTS = 13500 };
enum { MAIN_THREAD = 2910249, BACKWARD_THREAD = 2919752 };

struct generator {
    struct random random;
    uint64_t clock_ns, n;
    uint64_t step_ns, optimizer_ns; /* when they began */
    uint64_t outermost_end_ns;      /* of the last operator that lies in no other */
    int thread;                     /* that it is on */
    uint64_t launch;                /* the last one's correlation */
};

static bool is_in_backward(const struct generator *g)
{
    uint64_t at = g->n % STEP_EVENTS;
    return at >= FORWARD_EVENTS && at < BACKWARD_EVENTS;
}

static int thread_of(const struct generator *g)
{
    return is_in_backward(g) ? BACKWARD_THREAD : MAIN_THREAD;
}

static double microseconds(uint64_t ns)
{
    return (double)ns * 1e-3;
}

/* Of 13 operators some 10 lie in another's time. */
static uint64_t operator_ns(struct generator *g)
{
    uint64_t length_ns = random_below(&g->random, 200000);
    int thread = thread_of(g);
    if (g->clock_ns >= g->outermost_end_ns || thread != g->thread)
        g->outermost_end_ns = g->clock_ns + length_ns;
    g->thread = thread;
    uint64_t left_ns = g->outermost_end_ns - g->clock_ns;
    return length_ns < left_ns ? length_ns : left_ns;
}

static int put_operator(struct generator *g)
{
    unsigned long long id = g->n;
    const char *name = is_in_backward(g) ? PICK(&g->random, backward) : PICK(&g->random, forward);
    int n = printf(
        "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 2910249, "
        "\"tid\": %d,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      "
        "\"External id\": %llu,\"Record function id\": %llu, ",
        name, thread_of(g), microseconds(g->clock_ns), microseconds(operator_ns(g)), id, id % 3);
    if (random_below(&g->random, 6) == 0)
        n += printf("\"Sequence number\": %llu, \"Fwd thread id\": 0, ", id % 5000);
    return n + printf("\"Ev Idx\": %llu\n    }\n  },\n", id);
}

/* The first three of the names give the device work. */
static int put_launch(struct generator *g)
{
    unsigned long long id = g->n;
    uint64_t name = random_below(&g->random, sizeof launches / sizeof *launches);
    if (name < 3)
        g->launch = id;
    return printf("  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": "
                  "2910249, \"tid\": %d,\n    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      "
                  "\"External id\": %llu, \"cbid\": 211, \"correlation\": %llu\n    }\n  },\n",
                  launches[name], thread_of(g), microseconds(g->clock_ns),
                  microseconds(random_below(&g->random, 20000)), id / 2, id);
}

static int put_kernel(struct generator *g, const char *name)
{
    unsigned long long id = g->n, correlation = g->launch;
    int stream = g->n % 9 ? 7 : 20, blocks = 1 << random_below(&g->random, 14);
    return printf(
        "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"tid\": %d,\n"
        "    \"ts\": %.3f, \"dur\": %.3f,\n    \"args\": {\n      \"External id\": %llu,\n      "
        "\"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": %d, \"correlation\": "
        "%llu,"
        "\n      \"registers per thread\": 32,\n      \"shared memory\": 0,\n      \"blocks per "
        "SM\": "
        "%.6f,\n      \"warps per SM\": %.6f,\n      \"grid\": [%d, 1, 1],\n      \"block\": [128, "
        "1, "
        "1],\n      \"est. achieved occupancy %%\": 100\n    }\n  },\n",
        name, stream, microseconds(g->clock_ns), microseconds(random_below(&g->random, 900000)),
        id / 2, stream, correlation, blocks / 108.0, blocks / 27.0, blocks);
}

static int put_mark(const struct generator *g, const char *name, uint64_t begin_ns)
{
    return printf(
        "  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"%s\", \"pid\": "
        "2910249, \"tid\": %d,\n    \"ts\": %.3f, \"dur\": %.3f\n  },\n",
        name, MAIN_THREAD, microseconds(begin_ns), microseconds(g->clock_ns - begin_ns));
}

/* Of the gradients, in one bucket, behind what the thread does. */
static int put_all_reduce(struct generator *g)
{
    static const char call[] =
        "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"pid\": "
        "2910249, "
        "\"tid\": %d,\n    \"ts\": %.3f, \"dur\": 40.000,\n    \"args\": {\n      \"Collective "
        "name\": \"allreduce\", \"In msg nelems\": 25557032, \"dtype\": \"Float\", \"Group size\": "
        "2\n"
        "    }\n  },\n";
    if (g->clock_ns <= g->outermost_end_ns)
        g->clock_ns = g->outermost_end_ns + 1;
    g->outermost_end_ns = g->clock_ns + 40000;
    int n = printf(call, BACKWARD_THREAD, microseconds(g->clock_ns));
    n += printf(
        "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
        "\"pid\": 2910249, \"tid\": %d,\n    \"ts\": %.3f, \"dur\": 8.000,\n    \"args\": {\n"
        "      \"cbid\": 211, \"correlation\": %llu\n    }\n  },\n",
        BACKWARD_THREAD, microseconds(g->clock_ns + 10000), (unsigned long long)g->n);
    g->launch = g->n;
    return n + put_kernel(
                   g, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
}

/* What comes once a step, where its parts end. */
static int put_once(struct generator *g)
{
    char name[64];
    uint64_t at = g->n % STEP_EVENTS, begin_ns = g->step_ns;
    if (at == FORWARD_EVENTS - 1)
        return put_mark(g, "DistributedDataParallel.forward", begin_ns);
    if (at == CALL_EVENT)
        return put_all_reduce(g);
    if (at == BACKWARD_EVENTS)
        g->optimizer_ns = g->clock_ns;
    if (at != STEP_EVENTS - 1)
        return 0;
    g->step_ns = g->clock_ns;
    snprintf(name, sizeof name, "ProfilerStep#%llu", (unsigned long long)(g->n / STEP_EVENTS));
    return put_mark(g, "Optimizer.step#SGD.step", g->optimizer_ns) + put_mark(g, name, begin_ns);
}

static int put_flow(struct generator *g)
{
    return printf("  {\n    \"ph\": \"%s\", \"id\": %llu, \"pid\": %d, \"tid\": %d, \"ts\": %.3f,\n"
                  "    \"cat\": \"ac2g\", \"name\": \"ac2g\"%s\n  },\n",
                  g->n % 2 ? "s" : "f", (unsigned long long)g->n, g->n % 2 ? 2910249 : 0,
                  g->n % 2 ? 2910249 : 7, microseconds(g->clock_ns),
                  g->n % 2 ? "" : ", \"bp\": \"e\"");
}

static int put_event(struct generator *g)
{
    uint64_t kind = random_below(&g->random, 100);
    g->n++;
    g->clock_ns += random_below(&g->random, 10000);
    int n = put_once(g);
    return n + (kind < 35   ? put_operator(g)
                : kind < 57 ? put_launch(g)
                : kind < 66 ? put_kernel(g, PICK(&g->random, kernels))
                            : put_flow(g));
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench_trace_generate BYTES SEED\n");
        return 2;
    }
    double left = strtod(argv[1], NULL);
    struct generator g = {.random = random_seed(strtoull(argv[2], NULL, 10), 0),
                          .clock_ns = 445867652464879,
                          .step_ns = 445867652464879};
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    printf(
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": 0, \"name\": \"NVIDIA "
        "A100\"}\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
        "\"world_size\": 2},\n  \"traceEvents\": [\n");
    while (left > 0)
        left -= put_event(&g);
    printf("  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
           "\"\", "
           "\"tid\": \"\", \"ts\": %.3f\n  }\n  ],\n  \"displayTimeUnit\": \"ms\",\n  "
           "\"baseTimeNanoseconds\": 1711964646000000000\n}\n",
           microseconds(g.clock_ns));
    return fflush(stdout) == 0 ? 0 : 1;
}
