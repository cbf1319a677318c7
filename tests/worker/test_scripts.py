"""Public kinds of training scripts under measurement, unchanged."""

import os
import subprocess
import sys
import tempfile
import unittest

import torch

from launching import WORKER, Launch, free_port, mean, script

FIRST, LAST = 4, 12


def run(*command, n=2, one_process=False, **spec):
    """The record of rank 0 of a training that must come to its end."""
    with Launch(list(command), n=n, one_process=one_process, **spec) as launch:
        statuses = launch.wait()
        if any(statuses):
            raise AssertionError("statuses %s\n%s" % (statuses, launch.output()))
        records = [launch.record(rank) for rank in range(n)]
        leftovers = [name for name in launch.files() if name.startswith(".") or name.endswith(".part")]
        if leftovers:
            raise AssertionError("left behind: %s" % leftovers)
    return records


class ScriptTest(unittest.TestCase):
    def check_window(self, record, n_profiled=0):
        """What is true of every complete record."""
        self.assertEqual(record.lines[0]["kind"], "header")
        self.assertEqual(record.lines[-1], {"kind": "end", "iterations": LAST + n_profiled, "reason": "window complete"})
        self.assertEqual([line["i"] for line in record.iterations], list(range(1, LAST + n_profiled + 1)))
        for line in record.iterations:
            parts = ("wait_s", "copy_s", "forward_s", "backward_s", "optimizer_s", "rest_s")
            self.assertAlmostEqual(sum(line[part] for part in parts), line["step_s"], delta=1e-6)
            self.assertTrue(all(line[part] >= -1e-9 for part in parts), line)

    def check_bytes(self, record, n=2):
        """Measured bytes against 2(n-1)/n of what the buckets hand to the wire, within 2 %."""
        self.assertEqual(record.one("network")["basis"], "tcp_info")
        for line in record.iterations[1:]:
            handed = sum(bucket["wire_bytes"] for bucket in line["buckets"])
            expected = 2 * (n - 1) / n * handed
            self.assertGreater(handed, 0)
            self.assertAlmostEqual(line["bytes_sent"] / expected, 1, delta=0.02)

    def check_buckets(self, line):
        readys = [bucket["ready_s"] for bucket in line["buckets"]]
        self.assertEqual(readys, sorted(readys))
        for bucket in line["buckets"]:
            self.assertLess(bucket["ready_s"], bucket["done_s"])
            self.assertLessEqual(bucket["done_s"], line["backward_s"] + 1e-6)
        self.assertEqual(line["backward_compute_s"], readys[-1])
        self.assertLess(0, line["first_backward_s"])
        self.assertLess(line["first_backward_s"], line["backward_compute_s"])


class Torchrun(ScriptTest):
    """argparse, torchrun's variables, DistributedSampler, an evaluation after every pass of 10 batches."""

    @classmethod
    def setUpClass(cls):
        cls.records = run(*script("cifar_torchrun.py"), n_profiled=3)
        cls.record = cls.records[0]

    def test_window_is_complete_on_both_ranks(self):
        for rank, record in enumerate(self.records):
            self.check_window(record, n_profiled=3)
            header = record.lines[0]
            self.assertEqual((header["rank"], header["world_size"], header["backend"]), (rank, 2, "gloo"))
            self.assertEqual((header["first"], header["last"], header["batch"]), (FIRST, LAST, 32))

    def test_stages_leave_little_rest(self):
        inner = self.record.inner(FIRST, LAST)
        self.assertLess(sum(line["rest_s"] for line in inner) / sum(line["step_s"] for line in inner), 0.05)

    def test_bytes_are_two_times_n_less_1_over_n(self):
        self.check_bytes(self.record)
        gradient_bytes = self.record.one("model")["modules"][0]["gradient_bytes"]["float32"]
        for line in self.record.iterations:
            self.assertEqual(sum(bucket["bytes"] for bucket in line["buckets"]), gradient_bytes)

    def test_buckets_come_one_after_the_other(self):
        for line in self.record.iterations:
            self.check_buckets(line)

    def test_edges_are_where_passes_begin_and_end(self):
        self.assertEqual([line["i"] for line in self.record.iterations if line["edge"]], [1, 10, 11])

    def test_other_collectives_are_named(self):
        inner = self.record.inner(FIRST, LAST)[0]
        (broadcast,) = inner["collectives"]
        self.assertEqual((broadcast["op"], broadcast["place"]), ("broadcast_coalesced", "forward"))
        self.assertEqual(broadcast["bytes"], 2 * 32 * 4 + 8)
        edge = self.record.iterations[9]["collectives"]
        self.assertIn(("all_reduce", 16, "rest"), [(each["op"], each["bytes"], each["place"]) for each in edge])

    def test_rounds_are_measured_idle_and_beside_computing(self):
        for record in self.records:
            line = record.one("rounds")
            self.assertEqual((line["message_bytes"], line["large_message_bytes"]), (4096, 1048576))
            self.assertTrue(0 < line["idle_s"] < 1 and 0 < line["busy_s"] < 1, line)
            self.assertTrue(line["idle_s"] < line["large_idle_s"] <= line["large_busy_s"] < 10, line)
            self.assertTrue(line["computes_s"] > 0 and line["sleeps_s"] >= 0, line)
            self.assertTrue(0 <= line["lost_s"] <= line["busy_s"] and 0 <= line["large_lost_s"] < 1, line)

    def test_model_loss_and_optimizer_are_described(self):
        model = self.record.one("model")
        (module,) = model["modules"]
        self.assertEqual(module["name"], "Net")
        layers = {layer["name"]: layer for layer in module["layers"]}
        self.assertEqual(list(layers), ["conv1", "bn1", "pool", "conv2", "fc1", "fc2"])
        self.assertEqual(layers["conv1"]["parameters"], 3 * 32 * 9 + 32)
        self.assertEqual(layers["conv2"]["input_shapes"], [[32, 32, 16, 16]])
        self.assertEqual(layers["conv2"]["output_shapes"], [[32, 64, 16, 16]])
        self.assertEqual([layers[name]["activation"] for name in ("conv1", "conv2", "fc1", "fc2")], ["relu"] * 3 + [None])
        self.assertEqual(layers["pool"]["calls"], 2)
        self.assertEqual(model["loss"], "cross_entropy")
        (optimizer,) = model["optimizers"]
        self.assertEqual(optimizer["kind"], "SGD")
        self.assertEqual(optimizer["settings"]["momentum"], 0.9)

    def test_operators_are_the_models_own(self):
        operators = self.record.one("operators")
        forward = [each["name"] for each in operators["forward"] if not each["name"].startswith("c10d")]
        for name in ("aten::conv2d", "aten::batch_norm", "aten::relu", "aten::max_pool2d", "aten::linear"):
            self.assertIn(name, forward)
        self.assertEqual(forward.count("aten::conv2d"), 2)
        self.assertEqual(forward[-1], "aten::cross_entropy_loss")
        self.assertEqual(operators["backward"][0]["name"], "NllLossBackward0")
        self.assertEqual(len([each for each in operators["backward"] if each["name"] == "ConvolutionBackward0"]), 2)
        self.assertEqual(operators["n_iterations"], len(operators["step_s"]))
        seconds = sum(each["mean_s"] for each in operators["forward"])
        forward_s = mean(line["forward_s"] for line in self.record.iterations[-3:])
        self.assertTrue(0.5 * forward_s < seconds <= 1.01 * forward_s, (seconds, forward_s))

    def test_loader_and_interface_are_recorded(self):
        loader = self.record.one("loader")
        self.assertEqual((loader["workers"], loader["batch_size"], loader["samples_fetched"]), (0, 32, 9 * 32))
        network = self.record.one("network")
        self.assertEqual((network["interface"], network["n_iterations"]), ("lo", 9))
        both = sum(line["bytes_sent"] for record in self.records for line in record.iterations[FIRST - 1 : LAST])
        self.assertGreater(network["interface_sent_bytes"], 0.9 * both)


class Watching(unittest.TestCase):
    """The watch itself."""

    def test_changes_no_bit_of_the_training(self):
        arguments = ["--epochs", 1, "--samples", 192, "--width", 8, "--no-eval", "--save"]
        with tempfile.TemporaryDirectory() as folder:
            saved = [os.path.join(folder, name) for name in ("watched.pt", "plain.pt")]
            with Launch(script("cifar_torchrun.py", *arguments, saved[0]), n=3, first=1, last=50) as launch:
                self.assertEqual(launch.wait(), [97] * 3)
                self.assertEqual(len(launch.partial_record().iterations), 2 - 1)
            with Launch(
                script("cifar_torchrun.py", *arguments, saved[1]), n=3, environment={"FORETRAIN_SPEC": ""}
            ) as launch:
                self.assertEqual(launch.wait(), [0] * 3)
                self.assertEqual(launch.files(), ["spec.json"])
            watched, plain = map(torch.load, saved)
        for name, value in plain.items():
            self.assertTrue(torch.equal(value, watched[name]), name)

    def test_costs_nothing_without_torch_and_runs_the_sitecustomize_it_hides(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
                file.write("import builtins\nbuiltins.own_was_run = True\n")
            variables = dict(os.environ, PYTHONPATH=os.path.join(WORKER, "hook") + ":" + folder)
            variables.pop("FORETRAIN_SPEC", None)
            check = "import sys; print(own_was_run, 'foretrain_worker.install' in sys.modules, 'torch' in sys.modules)"
            output = subprocess.run([sys.executable, "-c", check], env=variables, stdout=subprocess.PIPE, check=True)
        self.assertEqual(output.stdout.decode().split(), ["True", "False", "False"])


class SpawnedRanks(ScriptTest):
    def test_started_once_it_spawns_all_its_ranks(self):
        records = run(*script("spawn_ranks.py", "--port", free_port()), one_process=True)
        for record in records:
            self.check_window(record)
        self.check_bytes(records[0])

    def test_started_for_each_rank_it_spawns_that_one(self):
        records = run(*script("spawn_ranks.py", "--port", free_port()))
        for record in records:
            self.check_window(record)
        self.assertNotEqual(records[0].lines[0]["pid"], records[1].lines[0]["pid"])
        self.assertEqual(records[0].one("model")["loss"], "mse")


class ForkedRanks(ScriptTest):
    def test_forked_after_torch_was_imported(self):
        records = run(*script("forked.py", free_port()), one_process=True)
        for record in records:
            self.check_window(record)
        self.check_bytes(records[0])

    def test_a_crash_in_a_child_is_named(self):
        with Launch(script("forked.py", free_port(), "crash"), one_process=True) as launch:
            self.assertEqual(launch.wait(), [1])
            self.assertEqual(
                launch.partial_record().lines[-1]["text"],
                "the script failed: ValueError: bad batch; 6 iterations were done, the window needs 12 (4 to 12 are counted)",
            )


class OtherLoops(ScriptTest):
    def test_a_gpt_without_a_loader(self):
        with Launch(script("gpt.py"), last=16) as launch:
            self.assertEqual(launch.wait(), [0, 0], launch.output())
            record, output = launch.record(), launch.output()
        self.check_bytes(record)
        self.assertEqual([line["i"] for line in record.iterations if line["edge"]], [7, 14])
        own_s = [float(line.split("time ")[1][:-2]) / 1e3 for line in output.splitlines() if line.startswith("iter")]
        inner = record.inner(3, 16)
        for line in inner:
            self.assertEqual((line["micro_batches"], line["samples"]), (3, None))
            self.assertTrue(0 < line["backward_unsynced_s"] < line["backward_s"])
        self.assertAlmostEqual(sum(line["step_s"] for line in record.iterations[2:]) / sum(own_s[2:16]), 1, delta=0.1)
        self.assertLess(sum(line["rest_s"] for line in inner) / sum(line["step_s"] for line in inner), 0.1)

    def test_a_trainer_with_lists_of_samples_a_teacher_and_two_backwards(self):
        record = run(*script("trainer.py"))[0]
        self.check_window(record)
        self.check_bytes(record)
        self.assertEqual([line["i"] for line in record.iterations if line["edge"]], [])
        (detector,) = record.one("model")["modules"]
        for line in record.iterations[1:]:
            self.assertEqual((line["micro_batches"], line["samples"]), (1, 8))
            reduced = sum(bucket["bytes"] for bucket in line["buckets"])
            self.assertEqual(reduced, detector["gradient_bytes"]["float32"])
            self.assertEqual([each["op"] for each in line["collectives"]], ["all_gather"] * 2)
        self.assertEqual(record.one("loader")["samples_fetched"], 9 * 8)

    def test_a_loader_that_a_thread_reads_ahead(self):
        with tempfile.TemporaryDirectory() as folder:
            record = run(*script("prefetched.py", os.path.join(folder, "store")), n=1)[0]
        self.check_window(record)
        loader = record.one("loader")
        self.assertEqual((loader["workers"], loader["batch_size"]), (0, 20))
        self.assertTrue(0.02 <= mean(loader["fetch_s"]) < 0.06, loader["fetch_s"])
        self.assertTrue(any("read by a thread of its own" in note for note in record.notes), record.notes)
        for line in record.iterations:
            self.assertEqual((line["micro_batches"], line["edge"]), (1, False))

    def test_an_iterable_dataset_with_a_worker_on_one_device(self):
        record = run(*script("iterable.py"), n=1)[0]
        self.check_window(record)
        self.assertEqual([line["i"] for line in record.iterations if line["edge"]], [1])
        self.assertEqual({line["samples"] for line in record.iterations}, {16})
        self.assertEqual(record.of_kind("rounds"), [])
        for line in record.iterations:
            self.assertEqual({bucket["done_s"] for bucket in line["buckets"]}, {None})
            self.assertEqual(line["bytes_sent"], 0)
        loader = record.one("loader")
        self.assertEqual((loader["workers"], loader["batch_size"]), (1, 16))
        self.assertGreaterEqual(len(loader["fetch_s"]), 5)
        self.assertEqual(record.one("model")["loss"], "cross_entropy")

    def test_accumulation_and_mixed_precision_count_four_batches_as_one_iteration(self):
        record = run(*script("accumulate.py", "--amp"))[0]
        self.check_window(record)
        self.check_bytes(record)
        for line in record.inner(FIRST, LAST):
            self.assertEqual((line["micro_batches"], line["samples"]), (4, 64))
            self.assertTrue(0 < line["backward_unsynced_s"] < line["backward_s"])
            self.assertGreater(line["optimizer_s"], 0)
            self.assertEqual(sum(bucket["bytes"] for bucket in line["buckets"]), (513 * 1024 + 1025 * 10) * 4)

    def test_two_networks_and_two_optimizers_are_one_iteration(self):
        record = run(*script("gan.py"))[0]
        self.check_window(record)
        self.check_bytes(record)
        model = record.one("model")
        self.assertEqual({module["name"] for module in model["modules"]}, {"Generator", "Discriminator"})
        self.assertEqual([optimizer["kind"] for optimizer in model["optimizers"]], ["Adam", "Adam"])
        self.assertEqual(model["loss"], "bce_with_logits")
        gradient_bytes = {module["name"]: module["gradient_bytes"]["float32"] for module in model["modules"]}
        for line in record.iterations:
            self.assertEqual(line["samples"], 32)
            for name, n_backwards in (("Discriminator", 3), ("Generator", 1)):
                reduced = sum(bucket["bytes"] for bucket in line["buckets"] if bucket["module"] == name)
                self.assertEqual(reduced, n_backwards * gradient_bytes[name])

    def test_a_hook_of_its_own_halves_the_wire(self):
        for hook, n in (("fp16", 2), ("builtin", 1)):
            with self.subTest(hook=hook):
                record = run(*script("own_hook.py", "--hook", hook), n=n)[0]
                self.check_window(record)
                if n > 1:
                    self.check_bytes(record)
                for line in record.iterations:
                    for bucket in line["buckets"]:
                        self.assertEqual(bucket["wire_bytes"] * 2, bucket["bytes"])
                    self.assertEqual(line["collectives"], [])

    def test_a_hook_that_goes_on_in_callbacks(self):
        record = run(*script("own_hook.py", "--hook", "powersgd"))[0]
        self.check_window(record)
        for line in record.iterations[3:]:
            self.assertLess(line["buckets"][0]["wire_bytes"], line["buckets"][0]["bytes"] / 20)
            self.assertAlmostEqual(line["bytes_sent"] / line["buckets"][0]["wire_bytes"], 1, delta=0.2)

    def test_one_batch_again_and_again(self):
        record = run(*script("cached_batch.py"), n=1)[0]
        self.check_window(record)
        self.assertIn("no DataLoader was used: data processing was not seen", record.notes)
        record = run(*script("cached_batch.py", "--loader"), n=1)[0]
        self.check_window(record)
        self.assertTrue(any("iterations are cut where forward begins" in note for note in record.notes))


@unittest.skipUnless(hasattr(torch, "compile"), "torch.compile came with torch 2.0")
class Compiled(ScriptTest):
    def test_the_compiler_does_not_see_the_watch(self):
        with Launch(script("compiled.py"), n=1) as launch:
            self.assertEqual(launch.wait(), [0], launch.output())
            record, output = launch.record(), launch.output()
        self.check_window(record)
        self.assertNotIn("Graph break", output)


class Loader(ScriptTest):
    """A loader that takes 2 ms a sample, 32 ms a batch of 16."""

    FETCH_S = 0.032

    def measure(self, workers):
        command = script(
            "cifar_torchrun.py", "--delay", 0.002, "--batch-size", 16, "--workers", workers, "--samples", 1280,
            "--width", 4, "--no-eval",
        )
        record = run(*command, n=1)[0]
        self.check_window(record)
        loader = record.one("loader")
        self.assertEqual(loader["workers"], workers)
        self.assertGreaterEqual(len(loader["fetch_s"]), 5)
        self.assertTrue(self.FETCH_S <= mean(loader["fetch_s"]) < 2 * self.FETCH_S, mean(loader["fetch_s"]))
        return mean(line["wait_s"] for line in record.inner(FIRST, LAST)), record

    def test_without_workers_all_of_it_is_waited_for(self):
        wait_s, _ = self.measure(0)
        self.assertGreater(wait_s, self.FETCH_S)

    def test_one_worker_hides_the_step_behind_it(self):
        wait_s, record = self.measure(1)
        steps = record.inner(FIRST, LAST)
        computing_s = mean(line["step_s"] - line["wait_s"] for line in steps)
        self.assertLess(abs(wait_s - max(self.FETCH_S - computing_s, 0)), 0.6 * self.FETCH_S)

    def test_four_workers_deliver_four_times_as_fast(self):
        wait_s, _ = self.measure(4)
        self.assertLess(wait_s, 0.5 * self.FETCH_S)


if __name__ == "__main__":
    unittest.main()
