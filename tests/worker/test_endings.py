"""How a measured training ends: early, in a crash, refused, or against the script's will."""

import glob
import os
import tempfile
import time
import unittest

from launching import WORKER, Launch, script


def alive(launch):
    """Processes of the ranks' sessions that are still there: the loader's workers, or ranks that the script spawned."""
    sessions = {process.pid for process in launch.processes}
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) in sessions and fields[0] != "Z":
            found.append(path)
    return found


class Endings(unittest.TestCase):
    def end(self, trouble, statuses, error=None, **spec):
        """Run troubled.py: check the ranks' exit statuses, the error in their records, and that nothing is left."""
        with Launch(script("troubled.py", trouble), n=len(statuses), **spec) as launch:
            self.assertEqual(launch.wait(), statuses, launch.output())
            time.sleep(0.2)
            self.assertEqual(alive(launch), [])
            if error is None:
                return launch.record(), launch.output()
            for rank in range(len(statuses)):
                last = launch.partial_record(rank).lines[-1]
                self.assertEqual((last["kind"], last["text"]), ("error", error))
            self.assertEqual([name for name in launch.files() if name.startswith(".")], [])
            return launch.partial_record(), launch.output()

    def test_a_script_that_ends_early_says_how_far_it_came(self):
        record, _ = self.end(
            "early", [97, 97],
            "the script ended; 16 iterations were done, the window needs 40 (4 to 40 are counted)", last=40,
        )
        self.assertEqual(len(record.iterations), 15)

    def test_a_script_that_ends_with_the_window_is_complete(self):
        record, _ = self.end("early", [0], last=16, n_profiled=4)
        self.assertEqual(record.lines[-1]["iterations"], 16)
        self.assertEqual(record.iterations[-1]["i"], 16)
        self.assertTrue(record.iterations[-1]["edge"])
        self.assertIn("the script ended after 0 of 4 profiled iterations", record.notes)

    def test_a_script_that_ends_while_profiled_is_complete(self):
        record, _ = self.end("early", [0], last=12, n_profiled=10)
        self.assertIn("the script ended after 4 of 10 profiled iterations", record.notes)
        self.assertEqual(record.one("operators")["n_iterations"], 3)
        self.assertEqual(record.lines[-1]["iterations"], 16)

    def test_a_crash_keeps_its_traceback_and_status(self):
        _, output = self.end(
            "crash", [1, 1],
            "the script failed: RuntimeError: loss is NaN at step 6; 5 iterations were done, the window needs 12 "
            "(4 to 12 are counted)",
        )
        self.assertIn("Traceback (most recent call last)", output)
        self.assertIn('raise RuntimeError("loss is NaN at step 6")', output)

    def test_a_status_of_its_own_is_kept(self):
        self.end(
            "status", [3],
            "the script exited with status 3; 5 iterations were done, the window needs 12 (4 to 12 are counted)",
        )

    def test_except_exception_does_not_catch_the_end_and_a_lot_of_output_does_not_hinder(self):
        _, output = self.end("except-exception", [0])
        self.assertNotIn("ignored", output)
        self.assertGreater(len(output), 12 * 10000)

    def test_a_bare_except_does_not_keep_it_alive(self):
        began = time.monotonic()
        _, output = self.end("bare-except", [0])
        self.assertIn("ignored everything", output)
        self.assertLess(time.monotonic() - began, 60)

    def test_a_record_that_cannot_be_written(self):
        with Launch(script("troubled.py", "early"), n=1, record_dir="/proc/none") as launch:
            self.assertEqual(launch.wait(), [97])
            self.assertIn("foretrain: the watcher failed: FileNotFoundError", launch.output())

    def test_a_specification_that_cannot_be_read(self):
        with Launch(script("troubled.py", "early"), n=1, first="soon") as launch:
            self.assertEqual(launch.wait(), [97])
            self.assertIn("foretrain: the specification cannot be read: ", launch.output())

    def test_no_process_group(self):
        self.end("no-group", [97], "the script ended; it never initialised torch.distributed")

    def test_no_optimizer_step(self):
        self.end("no-step", [97], "the script ended; no optimizer step was seen")


class Refusals(unittest.TestCase):
    def refuse(self, trouble, error, n=1, **spec):
        """A rank refuses; the others do too, or fail because the first is gone."""
        with Launch(script("troubled.py", trouble), n=n, **spec) as launch:
            statuses = launch.wait()
            self.assertEqual(alive(launch), [])
            refused = [rank for rank in range(n) if statuses[rank] == 97]
            self.assertTrue(refused, launch.output())
            for rank in refused:
                self.assertEqual(launch.partial_record(rank).lines[-1], {"kind": "error", "text": error})
                self.assertIn("foretrain: " + error, launch.output(rank))

    def test_no_ddp(self):
        self.refuse("no-ddp", "13 optimizer steps and no DistributedDataParallel was used")

    def test_a_forward_past_ddp(self):
        self.refuse(
            "bypass",
            "13 optimizer steps and DistributedDataParallel's forward was never called in training mode (the module inside "
            "it is called, or it is in eval mode)",
        )

    def test_data_parallel_by_name(self):
        self.refuse(
            "data-parallel", "torch.nn.DataParallel cannot be watched: foretrain measures DistributedDataParallel"
        )

    def test_another_engine_by_name(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "deepspeed.py"), "w", encoding="utf-8") as file:
                file.write("def initialize(model):\n    return model, None, None, None\n")
            self.refuse(
                "deepspeed", "DeepSpeed cannot be watched: foretrain measures DistributedDataParallel",
                environment={"PYTHONPATH": os.path.join(WORKER, "hook") + ":" + folder},
            )

    def test_a_ddp_over_part_of_the_ranks(self):
        self.refuse(
            "subgroup",
            "DistributedDataParallel over a process group of 1 of the 2 ranks (hybrid parallelism) cannot be watched",
            n=2,
        )

    def test_another_number_of_ranks_than_devices(self):
        self.refuse("early", "the script trains on 1 ranks, the sub-system has 4 devices", n_devices=4)

    def test_a_broken_watch_with_its_reason(self):
        self.refuse(
            "early", "the watcher failed: TypeError: unsupported type for timedelta seconds component: str",
            end_timeout_s="soon",
        )


if __name__ == "__main__":
    unittest.main()
