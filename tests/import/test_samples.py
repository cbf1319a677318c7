#!/usr/bin/python3
"""Every sample trace is read with the values that it is known to hold, or refused with the message that it must give."""

import glob
import os
import sys
import tempfile
import unittest

from samples import KINETO, ROOT, import_profile, run, skip_unless_there

sys.path.insert(0, f"{ROOT}/bench/accuracy")
import traces  # noqa: E402  pylint: disable=wrong-import-position

RESNET_BYTES = [8196000, 31502336, 26255360, 26550272, 9724160]

# file: what the profile must hold
READ = {
    "hta_ddp_resnet50_2xA100_torch2.4_rank0.json.gz": {
        "n": 2, "sampled": 1, "device": "NVIDIA A100-PG509-200", "backend": "nccl", "steps": 3, "buckets": RESNET_BYTES,
        "unknown": {"batch"}, "collectives": {("broadcast", "forward", 212480), ("broadcast", "forward", 424)}},
    "hta_ddp_resnet50_V100_world1_nsres_rank0.json.gz": {
        "n": 1, "device": "Tesla V100-SXM2-32GB", "backend": "nccl", "steps": 5, "buckets": RESNET_BYTES, "unknown": {"batch"}},
    "hta_dlrm_rank1_of_2_V100_2022.json.gz": {
        "n": 2, "sampled": 1, "device": "Tesla V100-SXM2-16GB", "steps": 6, "buckets": [181240752, 1068160, 17728292],
        "unknown": {"batch", "loader_interval_s"}, "loader_workers": 1},
    "hta_cpu_only_full_gloo_rank34.json.gz": {
        "n": 300, "sampled": 1, "backend": "gloo", "steps": 4, "left_out": 1, "unknown": {"batch"}},
    "kineto_resnet50_V100_nw0_torch1.9.json.gz": {
        "n": 1, "device": "Tesla V100-DGXS-32GB", "steps": 6, "buckets": [], "loader_workers": 0, "unknown": {"batch"}},
    "kineto_resnet50_V100_nw0_torch1.8_toplevel_array.json.gz": {
        "n": 1, "steps": 6, "loader_workers": 0, "unknown": {"batch"}},
    "kineto_resnet50_V100_nw4_torch1.9.json.gz": {
        "n": 1, "steps": 6, "loader_workers": 1, "unknown": {"batch", "loader_interval_s"}},
    "kineto_resnet50_V100_autograd_api_no_ProfilerStep.json.gz": {
        "n": 1, "steps": 5, "left_out": 1, "loader_workers": 0, "unknown": {"batch"}},
    "kineto_gpu_metrics_computeProperties.json": {
        "n": 1, "device": "Tesla V100-DGXS-32GB", "steps": 1, "loader_workers": 0, "unknown": {"batch"}},
    "ascend_trace_view.json": {"n": 1, "steps": 1, "loader_workers": 0, "unknown": {"batch"}},
}

# file: a part of its message; all end with status 3
REFUSED = {
    "hta_cat_Kernel_capital_async_gpu.json.gz": "nothing tells where a step begins",
    "hta_cpu_gloo_rank34_of_300.json.gz": "none of its 1 steps (by ProfilerStep) has a backward pass",
    "hta_cpu_side_only_rank0.json.gz": "communication time not in this trace: GPU activity was not recorded",
    "hta_err_distributedInfo_without_rank.json.gz": "nothing tells which rank made it",
    "hta_err_no_distributedInfo.json.gz": "nothing tells which rank made it",
    "hta_large_integer_trace.json.gz": "nothing tells where a step begins",
    "hta_not_a_trace_memory_timeline.raw.gz": "PyTorch's memory timeline, not a trace",
    "hta_not_kineto_execution_trace.json.gz": "this is a PyTorch execution trace",
    "hta_tiny_base.json.gz": "none of the trace's 18 kernels and copies is known as one",
    "kineto_h100_after_fix_trace.json": "nothing tells where a step begins",
    "kineto_h100_before_fix_out_of_order_trace.json": "nothing tells where a step begins",
    "kineto_tb_distributed_gloo_gpu_worker0.json": "nothing tells where a step begins",
    "kineto_tb_distributed_gloo_gpu_worker1.json": "nothing tells where a step begins",
    "tracelens_mi300_bert_small_inference.json.gz": "it is not of a training",
    "reported-broken/kineto109_ts0_kernels.json": "has a backward pass",
    "reported-broken/kineto336_windows_backslash.json": "nothing tells where a step begins",
    "reported-broken/pytorch113001_quote_and_newline_in_name.json": "expected ',' or '}'",
    "reported-broken/pytorch33961_missing_quote.json": "2:1: expected a key in double quotes",
    "reported-broken/pytorch95460_no_kineto_legacy.json": "nothing tells where a step begins",
    "reported-broken/truncated_real.json": "the trace is cut off (at byte 60000)",
    "reported-broken/truncated_real.json.gz": "the gzip data is cut off",
    "made-here/mlp2_torch1.7_autograd_no_marks/rank0.json": "nothing tells where a step begins",
}

ELSEWHERE = {"EXPECTED.csv", "param_dlrm_8ranks_V100_kineto.tar.gz"}


class Samples(unittest.TestCase):
    """One file after the other."""

    def check(self, profile, expected):
        """What is expected of a profile, and that its samples are as many as its steps."""
        subsystem, stages = profile["subsystem"], profile["stages"]
        sampled = expected.get("sampled", expected["n"])
        self.assertEqual((subsystem["n"], subsystem.get("sampled", subsystem["n"])), (expected["n"], sampled))
        self.assertEqual(stages["step_s"]["n"], expected["steps"] * sampled)
        self.assertEqual(profile["window"]["left_out"], expected.get("left_out", 0))
        self.assertEqual(set(profile.get("unknown", {})), expected["unknown"])
        self.assertEqual(profile.get("loader_workers"), expected.get("loader_workers"))
        for key in ("device", "backend"):
            if key in expected:
                self.assertEqual(profile[key], expected[key])
        if "buckets" in expected:
            self.assertEqual([bucket["bytes"] for bucket in profile.get("buckets", [])], expected["buckets"])
        found = {(each["op"], each["place"], each["bytes"]) for each in profile.get("collectives", [])}
        self.assertTrue(expected.get("collectives", set()) <= found)

    def check_sums(self, profile):
        """Stages fill the step: what is left is the rest."""
        stages = profile["stages"]
        parts = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")
        for k, step in enumerate(stages["step_s"]["samples"]):
            total = sum(stages[part]["samples"][k] for part in parts if part in stages)
            self.assertGreaterEqual(total, step * (1 - 1e-6))

    def test_reads_what_each_trace_holds(self):
        for name, expected in READ.items():
            with self.subTest(name):
                profile = import_profile([name])
                self.check(profile, expected)
                self.check_sums(profile)

    def test_refuses_with_the_reason(self):
        for name, message in REFUSED.items():
            with self.subTest(name):
                done = run("import", f"{KINETO}/{name}", "--device", "x")
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertIn(name.rsplit("/", maxsplit=1)[-1], done.stderr.splitlines()[0])
                self.assertEqual(done.stdout, "")

    def test_leaves_no_sample_out(self):
        paths = glob.glob(f"{KINETO}/*") + glob.glob(f"{KINETO}/reported-broken/*")
        there = {os.path.relpath(path, KINETO) for path in paths if os.path.isfile(path)}
        self.assertEqual(there - set(READ) - set(REFUSED) - ELSEWHERE, set())

    def test_truncated_traces_without_a_whole_step_give_no_profile(self):
        for name, n in (("truncated_real.json", 1), ("truncated_real.json.gz", 2)):
            done = run("import", f"{KINETO}/reported-broken/{name}", "--device", "x", "--partial")
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"none of its {n} steps (by ProfilerStep) counts", done.stderr)
            self.assertIn("where the trace is cut off", done.stderr)

    def test_a_rank_can_be_said(self):
        path = f"{KINETO}/hta_err_no_distributedInfo.json.gz"
        done = run("import", path, "--device", "x", "--rank", f"{path}=0")
        self.assertIn("communication time not in this trace", done.stderr)


class AllRanks(unittest.TestCase):
    """Traces of all ranks of one training."""

    def test_transfer_is_the_least_over_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = import_profile(reversed(traces.unpack(f"{KINETO}/{traces.EIGHT_RANKS}", folder)))
        self.assertEqual(profile["subsystem"]["n"], 8)
        self.assertEqual(profile["all_reduce"]["gradient_bytes"], 2485252)
        rank5 = [bucket["span_s"]["samples"][5] for bucket in profile["buckets"]]
        self.assertEqual([round(span * 1e6) for span in rank5], [96, 20, 79])  # it came last
        self.assertEqual([round(bucket["transfer_s"]["mean"] * 1e6) for bucket in profile["buckets"]], [86, 20, 69])
        waiting = profile["buckets"][0]["span_s"]["mean"] - profile["buckets"][0]["transfer_s"]["mean"]
        self.assertGreater(waiting, profile["buckets"][0]["transfer_s"]["mean"])
        self.assertTrue(any(each["op"] == "all_to_all" and "transfer_s" in each for each in profile["collectives"]))

    def test_a_lost_all_reduce_leaves_its_step_out_in_all_ranks(self):
        files = [f"made-here/het_torch1.13_legacy/full_A2B2/rank{rank}.pt.trace.json" for rank in range(4)]
        profile = import_profile(files, "--grad-bytes", "4000000 B,12001088 B")
        self.assertEqual((profile["stages"]["step_s"]["n"], profile["window"]["left_out"]), (8, 1))
        self.assertTrue(any("rank1.pt.trace.json: 1 of 3 steps left out" in note for note in profile["notes"]))
        self.assertEqual(profile["all_reduce"]["gradient_bytes"], 16001088)

    def test_bytes_that_one_step_lacks_come_from_the_others(self):
        files = [f"made-here/het_torch2.6_kineto/sub_B2_500m_200m/rank{rank}.pt.trace.json.gz" for rank in range(2)]
        profile = import_profile(files)
        self.assertEqual([bucket["bytes"] for bucket in profile["buckets"]], [16001088])
        self.assertEqual(profile["buckets"][0]["done_s"]["n"], 6)

    def test_two_of_one_rank_are_refused(self):
        trace = f"{KINETO}/made-here/het_torch2.6_kineto/sub_A2_1g/rank0.pt.trace.json.gz"
        other = f"{KINETO}/made-here/het_torch2.6_kineto/sub_B2_500m_200m/rank0.pt.trace.json.gz"
        done = run("import", trace, other, "--device", "x")
        self.assertEqual(done.returncode, 3)
        self.assertIn("are both of rank 0", done.stderr)
        self.assertTrue(trace in done.stderr and other in done.stderr)


if __name__ == "__main__":
    skip_unless_there()
    unittest.main()
