"""Sub-systems that start as one: recording starts when all have done the preset iterations."""

import unittest

from launching import Launch, free_port, script

from foretrain_worker.together import Gate

FIRST, LAST = 6, 10


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
        return Gate(spec, rank, store=store)

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


if __name__ == "__main__":
    unittest.main()
