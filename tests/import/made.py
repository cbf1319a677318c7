"""Small traces of a DDP training, written by hand: steps of 10 ms, two buckets each, on a device or on the CPU."""

import json

STEP_US = 10000
BUCKETS = ((3000, 3500, 1000, 1000000), (4500, 5000, 1500, 3000000))  # called, begins, takes (us), elements


class Trace:
    """Events of one rank; times in us."""

    def __init__(self, rank=0, world=2, backend="nccl", device=True, identity=True):
        self.events, self.correlation, self.device = [], 100, device
        self.header = {"schemaVersion": 1}
        if identity:
            self.header["distributedInfo"] = {"backend": backend, "rank": rank, "world_size": world}
        if device:
            self.header["deviceProperties"] = [{"id": 0, "name": "X100"}]

    def event(self, name, category, begin, length, thread=1, process=1, **arguments):
        self.events.append({"ph": "X", "name": name, "cat": category, "pid": process, "tid": thread, "ts": begin, "dur": length,
                            "args": arguments})

    def operator(self, name, begin, length, thread=1, **arguments):
        self.event(name, "cpu_op", begin, length, thread, **arguments)

    def mark(self, name, begin, length, thread=1, **arguments):
        self.event(name, "user_annotation", begin, length, thread, **arguments)

    def kernel(self, launched, begin, length, name="gemm", thread=1, **arguments):
        if not self.device:
            return
        self.correlation += 1
        self.event("cudaLaunchKernel", "cuda_runtime", launched, 2, thread, correlation=self.correlation)
        self.event(name, "kernel", begin, length, 7, 0, correlation=self.correlation, device=0, stream=7, **arguments)

    def all_reduce(self, called, begin, length, elements, thread=2, library="nccl", size=2, group="0", kernel=True, runner=99,
                   shapes=False):
        """`group` None: as gloo in torch 2.6, which writes no more than shapes. `runner`: gloo's thread."""
        arguments = {"Collective name": "allreduce", "In msg nelems": elements, "dtype": "Float", "Group size": size,
                     "Process Group Name": group}
        self.operator("c10d::allreduce_", called, 50, thread, **({"Input Dims": [[[elements]]]} if shapes else {}))
        if group is not None:
            self.operator("record_param_comms", called + 5, 40, thread, **arguments)
        if library == "gloo":
            ran = {"Input Dims": [[elements]], "Input type": ["float"]} if shapes else {}
            self.mark("gloo:all_reduce", begin, length, runner, **ran)
            return
        self.mark("nccl:all_reduce", called + 8, 30, thread)
        if kernel:
            self.kernel(called + 10, begin, length, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", thread, **arguments)

    def training_pass(self, at, buckets=BUCKETS, thread=2, **options):
        self.mark("DistributedDataParallel.forward", at + 500, 1500)
        self.operator("aten::linear", at + 600, 1300)
        self.kernel(at + 700, at + 800, 1200)
        for begin in (2300, 3300):
            self.operator("autograd::engine::evaluate_function: MmBackward0", at + begin, 600, thread)
            self.kernel(at + begin + 100, at + begin + 200, 900, thread=thread)
        self.operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at + 4450, 200, thread)
        for called, begin, length, elements in buckets:
            self.all_reduce(at + called, at + begin, length, elements, thread, **options)

    def optimizer(self, at):
        self.mark("Optimizer.step#SGD.step", at, 800)
        self.operator("aten::add_", at + 100, 500)
        self.kernel(at + 200, at + 300, 400)

    def step(self, number, at, buckets=BUCKETS, **options):
        self.mark(f"ProfilerStep#{number}", at, STEP_US)
        self.training_pass(at, buckets, **options)
        self.optimizer(at + 7000)

    def steps(self, n=6, at=1000000, first=1, **options):
        for k in range(n):
            self.step(first + k, at + k * STEP_US, **options)
        return self

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**self.header, "traceEvents": self.events}, file)
        return path

    def write_cut(self, path, n_kernels):
        """As the profiler orders it, kernels last, without the end: so many kernels are there."""
        self.events.sort(key=lambda event: event["cat"] == "kernel")
        kept = sum(event["cat"] != "kernel" for event in self.events) + n_kernels
        with open(path, "w", encoding="utf-8") as file:
            events = ",\n".join(json.dumps(event) for event in self.events[:kept])
            file.write(json.dumps(self.header)[:-1] + ', "traceEvents": [\n' + events + ',\n{"ph": "X", "na')
        return path
