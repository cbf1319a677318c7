"""Sub-systems that start and end as one: recording starts when all are ready, training ends when all are complete."""

import collections
import contextlib
import multiprocessing
import os
import time
import unittest

from launching import Launch, free_port, mean, script

from foretrain_worker.together import Gate, connect

FIRST, LAST = 6, 10

Told = collections.namedtuple("Told", "rank count notes complete_at_s over_at_s left_at_s")


class Together(unittest.TestCase):
    def test_a_slow_sub_system_delays_the_others_first_counted_iteration(self):
        place = {"host": "127.0.0.1", "port": free_port(), "n_ranks": 4}
        arguments = ["--width", 4, "--no-eval", "--samples", 6400, "--batch-size", 8]
        slow = script("cifar_torchrun.py", *arguments, "--delay", 0.06)
        fast = script("cifar_torchrun.py", *arguments)
        spec = {"first": FIRST, "last": LAST}
        with Launch(slow, device_type="slow", together=dict(place, server=True), **spec) as slow_launch:
            with Launch(fast, device_type="fast", together=dict(place, server=False), **spec) as fast_launch:
                self.assertEqual(fast_launch.wait(), [0, 0], fast_launch.output())
                self.assertEqual(slow_launch.wait(), [0, 0], slow_launch.output())
                fast_ends = [fast_launch.record(rank).one("end") for rank in range(2)]
                fast_ones = [fast_launch.record(rank).iterations for rank in range(2)]
                slow_ones = [slow_launch.record(rank).iterations for rank in range(2)]
        for ranks in (fast_ones, slow_ones):
            self.assertEqual(*([line["i"] for line in lines] for lines in ranks))
            numbers = [line["i"] for line in ranks[0]]
            self.assertEqual(numbers[-5:], [6, 7, 8, 9, 10])
            self.assertEqual(set(numbers[4:-5]), {FIRST - 1})
            for line in ranks[0] + ranks[1]:
                self.assertEqual(line["counted"], line["i"] >= FIRST)
        held = [line for line in fast_ones[0] if line["i"] == FIRST - 1]
        self.assertGreater(len(held), 5)
        slow_until_ready_s = sum(line["step_s"] for line in slow_ones[0][: FIRST - 1])
        fast_until_counted_s = sum(line["step_s"] for line in fast_ones[0] if line["i"] < FIRST)
        self.assertGreater(fast_until_counted_s, 0.25 * slow_until_ready_s)
        self.assert_trained_on(fast_ends, fast_ones, slow_ones)

    def assert_trained_on(self, fast_ends, fast_ones, slow_ones):
        """The fast ones have no lines of it, but it took them as long as the slow ones' window took longer."""
        self.assertEqual(fast_ends[0]["iterations"], fast_ends[1]["iterations"])
        fast_s, slow_s = ([line["step_s"] for line in lines[0][-5:]] for lines in (fast_ones, slow_ones))
        n_beyond = fast_ends[0]["iterations"] - len(fast_ones[0])
        self.assertGreater(n_beyond * mean(fast_s), 0.4 * (sum(slow_s) - sum(fast_s)))

    def test_a_lost_meeting_place_ends_with_its_reason(self):
        place = {"host": "127.0.0.1", "port": free_port(), "n_ranks": 4, "server": True, "timeout_s": 6}
        command = script("cifar_torchrun.py", "--width", 4, "--no-eval", "--batch-size", 8)
        with Launch(command, together=place) as launch:
            self.assertIn(97, launch.wait())
            errors = [launch.partial_record(rank).lines[-1]["text"] for rank in range(2)]
        self.assertTrue(
            any("2 of 4 ranks of all sub-systems are ready, and the others have not moved for 6 s" in text for text in errors),
            errors,
        )


class Other:
    """What stands for the other sub-system, of one rank: it holds the meeting place, and is ready at once."""

    def __init__(self):
        self.port = free_port()
        self.store = store_at(self.port, is_master=True)
        self.store.add("ready", 1)

    def place(self, n_ranks, **more):
        return dict({"host": "127.0.0.1", "port": self.port, "n_ranks": n_ranks + 1, "server": False}, **more)

    def is_complete(self):
        self.store.add("complete", 1)

    def wait_until_complete(self, launch, n_ranks, timeout_s=180):
        """Until so many have told; AssertionError where the training ended before, or took too long."""
        deadline_s = time.monotonic() + timeout_s
        while self.store.add("complete", 0) < n_ranks:
            ended = [process.poll() for process in launch.processes]
            if time.monotonic() > deadline_s or ended != [None] * len(ended):
                raise AssertionError(f"{self.store.add('complete', 0)} complete, exit statuses {ended}:\n"
                                     f"{launch.output(0)}\n{launch.output(1)}")
            time.sleep(0.02)

    def go_away(self):
        self.store = None


def store_at(port, is_master):
    return connect("127.0.0.1", port, is_master, 20)


class CompleteBeforeTheOthers(unittest.TestCase):
    """Two ranks through the worker, complete long before the other sub-system is."""

    @contextlib.contextmanager
    def training(self, *arguments, **place):
        other = Other()
        command = script("cifar_torchrun.py", "--width", 4, "--batch-size", 8, *arguments)
        with Launch(command, together=other.place(2, **place), first=3, last=6, n_profiled=2) as launch:
            yield other, launch
            self.assertEqual(launch.wait(), [0, 0], launch.output())
            for rank in range(2):
                self.assert_whole(launch.record(rank))
            self.assertEqual([name for name in launch.files() if name.startswith(".")], [])

    def assert_whole(self, record):
        numbers = [line["i"] for line in record.iterations if line["i"] >= 3]
        self.assertEqual(numbers, [3, 4, 5, 6, 7, 8])
        self.assertEqual(record.one("network")["n_iterations"], 4)
        self.assertLessEqual(len(record.one("loader")["fetch_s"]), 8)
        self.assertEqual(record.one("operators")["n_iterations"], 2)
        self.assertGreater(record.one("end")["iterations"], len(record.iterations))

    def test_it_trains_on_unrecorded_until_they_are(self):
        with self.training("--workers", 1) as (other, launch):
            other.wait_until_complete(launch, 2)
            recorded = os.path.getsize(os.path.join(launch.record_dir, "rank0.jsonl.part"))
            time.sleep(1.5)
            self.assertEqual([process.poll() for process in launch.processes], [None, None])
            self.assertEqual(os.path.getsize(os.path.join(launch.record_dir, "rank0.jsonl.part")), recorded)
            other.is_complete()

    def test_it_ends_when_the_meeting_place_is_gone(self):
        with self.training() as (other, launch):
            other.wait_until_complete(launch, 2)
            other.go_away()
            statuses = launch.wait()
            told = f"{statuses}: {launch.record().notes}\n{launch.output(0)}\n{launch.output(1)}"
            self.assertIn("could not be reached", told)

    def test_it_ends_when_they_do_not_move_any_more(self):
        with self.training(timeout_s=2) as (other, launch):
            launch.wait()
            other.wait_until_complete(launch, 2)
            self.assertIn(
                "2 of 3 ranks of all sub-systems were complete, and the others had not moved for 2 s: this one did not "
                "wait for their end", launch.record().notes,
            )

    def test_a_script_that_ends_meanwhile_is_complete(self):
        with self.training("--epochs", 2, "--samples", 320) as (_, launch):
            self.assertEqual(launch.wait(), [0, 0], launch.output())
            self.assertEqual(launch.record().one("end")["iterations"], 40)


class Numbers(unittest.TestCase):
    """The gate's numbers, with a dictionary for a meeting place."""

    class Store:
        def __init__(self):
            self.counts = {}

        def add(self, key, amount):
            self.counts[key] = self.counts.get(key, 0) + amount
            return self.counts[key]

    class Spec:
        first = 3
        device_type = "fast"
        together = {"host": "", "port": 0, "n_ranks": 2, "server": False}

    def gate(self, store, rank, device_type="fast"):
        spec = self.Spec()
        spec.device_type = device_type
        return Gate(spec, rank, store=store, own_store=store)

    def test_hold_at_first_less_one_and_start_together(self):
        store = self.Store()
        gates = [self.gate(store, rank) for rank in range(2)]
        alone = [gates[0].label_after(count) for count in range(5)]
        self.assertEqual(alone, [1, 2, 2, 2, 2])
        self.assertEqual([gates[1].label_after(count) for count in range(3)], [1, 2, 2])
        self.assertEqual([gates[0].label_after(count) for count in range(5, 9)], [2, 3, 4, 5])
        self.assertEqual([gates[1].label_after(count) for count in range(5, 9)], [2, 3, 4, 5])
        self.assertFalse(gates[0].is_counted(2))
        self.assertTrue(gates[0].is_counted(3))


class SubSystem:
    """Ranks of a gate each, in processes that train as one: a barrier is their all-reduce."""

    def __init__(self, name, place, step_s, n_window=5, stops_at=None):
        self.name, self.place, self.step_s, self.n_window, self.stops_at = name, place, step_s, n_window, stops_at
        self.own_port = free_port()
        self.barrier = multiprocessing.Barrier(2, timeout=20)
        self.told = multiprocessing.SimpleQueue()
        self.processes = [multiprocessing.Process(target=self.train, args=(rank,)) for rank in range(2)]
        for process in self.processes:
            process.start()

    def train(self, rank):
        spec = type("Spec", (), {"first": 2, "device_type": self.name, "together": self.place})
        gate = Gate(spec, rank, own_store=store_at(self.own_port, is_master=rank == 0))
        notes, count = [], 0
        while gate.label_after(count) < spec.first + self.n_window:
            if count == self.stops_at:
                time.sleep(6)
                return
            count = self.iterate(count)
        complete_at_s = time.monotonic()
        gate.tell_complete()
        while not gate.is_over(count, notes.append):
            count = self.iterate(count)
        over_at_s = time.monotonic()
        gate.leave(20)
        self.told.put(Told(rank, count, notes, complete_at_s, over_at_s, time.monotonic()))

    def iterate(self, count):
        time.sleep(self.step_s)
        self.barrier.wait()
        return count + 1

    def wait(self):
        """What the ranks tell that came to their end, rank 0 first."""
        for process in self.processes:
            process.join(40)
            process.kill()
        told = []
        while not self.told.empty():
            told.append(self.told.get())
        return sorted(told)


class Ends(unittest.TestCase):
    """The end of gates alone, by real stores."""

    def run_both(self, server, timeout_s=20, **slow):
        """What the ranks of a fast sub-system tell, and those of a slow one."""
        place = {"host": "127.0.0.1", "port": free_port(), "n_ranks": 4, "timeout_s": timeout_s}
        both = [
            SubSystem("fast", dict(place, server=server == "fast"), 0.01),
            SubSystem("slow", dict(place, server=server == "slow"), 0.2, **slow),
        ]
        fast, slow = [each.wait() for each in both]
        self.assertEqual([each.rank for each in fast], [0, 1])
        self.assertEqual(fast[0].count, fast[1].count)
        return fast, slow

    def test_the_fast_one_trains_until_the_slow_one_is_complete_and_the_server_leaves_last(self):
        for server in ("fast", "slow"):
            fast, slow = self.run_both(server)
            self.assertEqual([each.notes for each in fast + slow], [[]] * 4)
            self.assertGreater(min(each.over_at_s for each in fast), max(each.complete_at_s for each in slow))
            self.assertGreater(fast[0].count, slow[0].count)
            self.assertEqual(slow[0].count, slow[1].count)
            served_until_s = (fast if server == "fast" else slow)[0].left_at_s
            self.assertGreater(served_until_s, max(each.over_at_s for each in fast + slow))

    def test_the_fast_one_ends_with_a_note_when_the_slow_one_stops(self):
        fast, slow = self.run_both("slow", timeout_s=2, stops_at=4)
        self.assertEqual([len(each.notes) for each in fast], [1, 0])
        self.assertIn("2 of 4 ranks of all sub-systems were complete", fast[0].notes[0])
        self.assertEqual(slow, [])

    def test_a_slow_window_may_take_longer_than_the_timeout(self):
        fast, _ = self.run_both("fast", timeout_s=2, n_window=18)
        self.assertEqual([each.notes for each in fast], [[], []])


if __name__ == "__main__":
    unittest.main()
