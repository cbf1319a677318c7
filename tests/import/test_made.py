#!/usr/bin/python3
"""What traces made by hand become, and why they are refused: one test for each thing that once went wrong in silence."""

import json
import os
import tempfile
import unittest

from made import BUCKETS, Trace
from samples import run

YEAR_2024_US = 1704067200 * 1000000


class Made(unittest.TestCase):
    """Traces in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def profile(self, *words):
        done = run("import", *words, "--device", "x", "--batch", "8", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, message, *words):
        done = run("import", *words, "--device", "x", "--batch", "8")
        self.assertEqual(done.returncode, 3, done.stderr or done.stdout)
        for part in (message,) if isinstance(message, str) else message:
            self.assertIn(part, done.stderr)


class Ranks(Made):
    """Files that do or do not belong together."""

    def pair(self, second_at):
        first = Trace(0).steps(at=YEAR_2024_US).write(self.path("a.json"))
        return first, Trace(1).steps(at=second_at).write(self.path("b.json"))

    def test_ranks_of_different_jobs_are_refused(self):
        self.refused(("a.json", "b.json", "not of one training", "80 s"), *self.pair(YEAR_2024_US + 80 * 1000000))

    def test_clocks_of_hosts_may_differ_a_little(self):
        self.assertEqual(self.profile(*self.pair(YEAR_2024_US + 4 * 1000000))["subsystem"]["n"], 2)

    def test_times_that_count_from_some_start_are_not_compared(self):
        first = Trace(0).steps(at=1000000).write(self.path("a.json"))
        second = Trace(1).steps(at=900000000).write(self.path("b.json"))
        self.assertEqual(self.profile(first, second)["subsystem"]["n"], 2)

    def test_a_world_taken_from_the_ranks_is_said(self):
        names = [Trace(rank, backend="gloo", device=False, identity=False).steps(library="gloo", size=0).write(
            self.path(f"rank{rank}.json")) for rank in (0, 2)]
        said = "world size taken as 3, the highest rank given plus one: --world-size says otherwise"
        done = run("import", *names, "--device", "x", "--batch", "8", "--json")
        self.assertIn(f"warning: {said}", done.stderr)
        self.assertIn(said, json.loads(done.stdout)["notes"])
        done = run("import", *names, "--device", "x", "--batch", "8", "--world-size", "4")
        self.assertNotIn("world size taken", done.stdout + done.stderr)

    def test_gradients_of_smaller_groups_than_the_world_send_an_unknown_number_of_bytes(self):
        profile = self.profile(Trace(world=8).steps(size=4).write(self.path("rank0.json")))
        self.assertEqual(profile["unknown"]["all_reduce"],
                         "gradients are all-reduced in groups of 4 ranks, but the world has 8")
        self.assertNotIn("sent_bytes", profile.get("all_reduce", {}))
        whole = self.profile(Trace(world=8).steps(size=8).write(self.path("rank0.json")))
        self.assertEqual(whole["all_reduce"]["sent_bytes"], 2 * 7 / 8 * 16000000)


class Options(Made):
    """What is asked for, and what contradicts the trace."""

    def test_no_comm_leaves_communications_time_out_of_all(self):
        path = Trace().steps().write(self.path("rank0.json"))
        with_it, without = self.profile(path), self.profile(path, "--no-comm")
        self.assertIn("done_s", without["unknown"])
        for bucket in without["buckets"]:
            self.assertFalse({"done_s", "span_s", "transfer_s"} & {key for key in bucket if bucket[key]})
        self.assertGreater(with_it["stages"]["backward_s"]["mean"], with_it["stages"]["backward_compute_s"]["mean"])
        self.assertEqual(without["stages"]["backward_s"]["mean"], without["stages"]["backward_compute_s"]["mean"])

    def test_what_contradicts_the_trace_is_refused(self):
        path = Trace().steps().write(self.path("rank0.json"))
        self.refused("--world-size says 8, but its distributedInfo.world_size is 2", path, "--world-size", "8")
        self.refused("--rank says 1, but its distributedInfo.rank is 0", path, "--rank", f"{path}=1")
        silent = Trace(identity=False).steps(size=4).write(self.path("rank2.json"))
        self.refused("--world-size says 2, but its largest process group is 4", silent, "--world-size", "2")
        self.profile(path, "--world-size", "2", "--rank", f"{path}=0")

    def test_one_file_has_one_rank(self):
        path = Trace(identity=False).steps().write(self.path("a.json"))
        done = run("import", path, "--device", "x", "--rank", f"{path}=0", "--rank", f"{path}=1")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"--rank gives {path} two ranks: 0 and 1", done.stderr)

    def test_gradients_bytes_need_gradients(self):
        path = Trace(world=1).steps(buckets=()).write(self.path("a.json"))
        self.refused(("--grad-bytes is given, but", "a.json all-reduces no gradients"), path, "--grad-bytes", "5 MB")

    def test_the_world_of_traces_without_collectives_can_be_said(self):
        names = [Trace(identity=False).steps(buckets=()).write(self.path(f"rank{rank}.json")) for rank in range(2)]
        self.assertEqual(self.profile(*names, "--world-size", "2")["subsystem"]["n"], 2)


class Steps(Made):
    """Marks of steps that are not as they should be."""

    def longer(self, more_us):
        trace = Trace().steps()
        for event in trace.events:
            if event["name"].startswith("ProfilerStep"):
                event["dur"] += more_us
        return self.profile(trace.write(self.path("rank0.json")))

    def test_marks_that_overlap_a_little_are_all_steps(self):
        for more_us in (0.25, 1, 90):
            profile = self.longer(more_us)
            self.assertEqual(profile["stages"]["step_s"]["n"], 6)
            self.assertFalse(any("passed over" in note for note in profile["notes"]))

    def test_marks_that_overlap_much_are_passed_over_with_a_note(self):
        profile = self.longer(1000)
        self.assertEqual(profile["stages"]["step_s"]["samples"], [0.0112] * 3)
        self.assertTrue(any("3 step marks are passed over" in note for note in profile["notes"]), profile["notes"])

    def numbered(self, name, numbers, rank=0):
        trace = Trace(rank)
        for k, number in enumerate(numbers):
            trace.step(number, 1000000 + 10000 * k, [(3000, 3500 + 300 * k, 1000, 1000000)])
        return trace.write(self.path(name))

    def test_each_step_has_its_own_data_whatever_its_number(self):
        done_s = [round(0.0020 + 0.0003 * k, 4) for k in range(6)]
        for numbers, noted in ((range(3, 9), False), (range(3000000000, 3000000006), False), ([1] * 6, True),
                               ([10**30] * 6, True), ([1, 2, 3, 1, 2, 3], True)):
            profile = self.profile(self.numbered("rank0.json", numbers))
            self.assertEqual([round(each, 4) for each in profile["buckets"][0]["done_s"]["samples"]], done_s)
            self.assertEqual(any("do not increase" in note for note in profile["notes"]), noted)

    def test_ranks_meet_at_numbers_of_any_length(self):
        first = self.numbered("a.json", range(3000000000, 3000000006))
        second = self.numbered("b.json", range(3000000002, 3000000008), rank=1)
        self.assertEqual(self.profile(first, second)["window"]["last"], 4)
        other = self.numbered("c.json", range(2, 8), rank=1)
        self.refused(("(steps 3000000000 to 3000000005)", "(steps 2 to 7): no step is in all"), first, other)

    def test_two_processes_in_one_trace_are_refused(self):
        trace, other = Trace().steps(), Trace().steps(at=1000137)
        for event in other.events:
            event["pid"] = "host:2"
        trace.events += other.events
        self.refused(("two processes in one trace: both 1 and host:2 mark steps", "give one trace a rank"),
                     trace.write(self.path("rank0.json")))

    def test_steps_that_all_reduce_in_several_passes_are_refused_with_that_reason(self):
        for synced in (1, 2):
            trace = Trace()
            for k in range(6):
                at = 1000000 + 20000 * k
                trace.mark(f"ProfilerStep#{k}", at, 20000)
                trace.training_pass(at, BUCKETS[:synced - 1])
                trace.training_pass(at + 8000)
                trace.optimizer(at + 17000)
            path = trace.write(self.path("rank0.json"))
            if synced == 1:
                self.assertEqual(self.profile(path)["stages"]["step_s"]["n"], 6)
                continue
            for options in ((), ("--no-comm",)):
                self.refused("6: gradients are all-reduced in several passes of a step, which is not understood", path, *options)


class TwoLibraries(Made):
    """gloo for a metric beside NCCL for gradients."""

    def trace(self, called, ran, kernel=True):
        trace = Trace(device=kernel).steps()
        for k in range(6):
            at = 1000000 + 10000 * k
            trace.all_reduce(at + called, at + ran, 900, 1, 1, "gloo", group="1")
        return trace.write(self.path("rank0.json"))

    def test_each_collective_has_its_own_time(self):
        alone = self.profile(Trace().steps().write(self.path("rank0.json")))
        for called, ran in ((8000, 8100), (350, 400), (350, 8100)):
            profile = self.profile(self.trace(called, ran))
            self.assertEqual(profile["backend"], "nccl")
            self.assertEqual(profile["stages"], alone["stages"])
            self.assertEqual(profile["buckets"], alone["buckets"])
            self.assertAlmostEqual(profile["collectives"][0]["span_s"], 900e-6)

    def test_gloos_time_is_not_that_of_gradients(self):
        self.refused("communication time not in this trace", self.trace(8000, 8100, kernel=False))

    def test_nothing_ran_before_it_was_called(self):
        trace = Trace(backend="gloo", device=False).steps(library="gloo")
        early = [event for event in trace.events if event["name"] == "gloo:all_reduce"][4]
        early["ts"] -= 2000
        profile = self.profile(trace.write(self.path("rank0.json")))
        self.assertTrue(any("not telling when all of their all-reduces ran: 3" in note for note in profile["notes"]))


class TwoGroups(Made):
    """A second process group's all-reduces wait for gloo while the gradients' run."""

    STEPS = 6

    def alone(self, **options):
        return self.profile(Trace(backend="gloo", device=False).steps(library="gloo", **options).write(self.path("rank0.json")))

    def beside(self, name, also_first, **options):
        """Two in each step, one behind the other, called before the gradients'; in the first step one, unless `also_first`."""
        trace = Trace(backend="gloo", device=False).steps(library="gloo", group=options.pop("gradients", "0"), **options)
        for k in range(self.STEPS):
            at = 1000000 + 10000 * k
            trace.all_reduce(at + 2050, at + 2100, 3100, 5000, 1, "gloo", group=name, runner=97, **options)
            if k > 0 or also_first:
                trace.all_reduce(at + 2150, at + 5600, 900, 6000, 1, "gloo", group=name, runner=97, **options)
        trace.mark("gloo:barrier", 500, 10, 96)
        return self.profile(trace.write(self.path("rank0.json")))

    def assert_told(self, profile, alone):
        self.assertEqual(profile["buckets"], alone["buckets"])
        self.assertEqual(sorted({round(other["span_s"] * 1e6) for other in profile["collectives"]}), [900, 3100])
        self.assertFalse(any("another process group's" in note for note in profile["notes"]), profile["notes"])

    def test_a_thread_that_once_ran_alone_tells_its_group(self):
        self.assert_told(self.beside("1", also_first=False), self.alone())

    def test_numbers_of_elements_tell_the_call(self):
        self.assert_told(self.beside("1", also_first=True, shapes=True), self.alone(shapes=True))
        alone = self.alone(group=None, shapes=True)
        self.assert_told(self.beside(None, also_first=True, gradients=None, shapes=True), alone)

    def test_what_nothing_tells_is_said(self):
        for name, gradients in (("1", "0"), (None, None)):
            profile = self.beside(name, also_first=True, gradients=gradients)
            self.assertTrue(any("another process group's" in note for note in profile["notes"]), profile["notes"])


class CutOff(Made):
    """Traces without their end, with --partial."""

    KERNELS = 6  # of a step

    def cut(self, n_kernels, *options):
        return [Trace().steps().write_cut(self.path("rank0.json"), n_kernels), "--partial", *options]

    def test_steps_that_lack_kernels_do_not_count(self):
        for lacking in range(1, self.KERNELS):
            profile = self.profile(*self.cut(4 * self.KERNELS - lacking))
            self.assertEqual(profile["stages"]["step_s"]["samples"], [0.01, 0.01])
            self.assertEqual(profile["stages"]["optimizer_s"]["samples"], [0.0004, 0.0004])
            self.assertTrue(any("4 of 6 steps left out" in note for note in profile["notes"]), profile["notes"])

    def test_without_two_whole_steps_there_is_no_profile(self):
        for n_kernels in (self.KERNELS, self.KERNELS + 3, 2 * self.KERNELS - 1):
            self.refused("where the trace is cut off", *self.cut(n_kernels))

    def test_steps_whose_launches_are_cut_off_do_not_count(self):
        trace = Trace().steps()
        trace.events.sort(key=lambda event: event["cat"] == "cuda_runtime")
        trace.events = [event for event in trace.events if event["cat"] != "cuda_runtime" or event["ts"] < 1034000]
        profile = self.profile(trace.write_cut(self.path("rank0.json"), 6 * self.KERNELS), "--partial")
        self.assertEqual(profile["stages"]["step_s"]["n"], 2)

    def test_on_the_cpu_all_steps_but_the_last_count(self):
        trace = Trace(backend="gloo", device=False).steps(library="gloo")
        profile = self.profile(trace.write_cut(self.path("rank0.json"), 0), "--partial")
        self.assertEqual(profile["stages"]["step_s"]["n"], 5)


if __name__ == "__main__":
    unittest.main()
